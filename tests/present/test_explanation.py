"""The text of an explanation, word by word."""

from __future__ import annotations

from datetime import date
from typing import Any

from planner.model.answer.bill import Uncounted
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.explanation import (
    ConstantUsed,
    EstimatedConfiguration,
    ExplainDocument,
    ExtrapolatedStep,
    LabelEffect,
    NearRow,
    NextRun,
    OptionExplanation,
    RatioUsed,
    RunEffect,
    StepCorrection,
    StepPart,
)
from planner.model.answer.training_time import TimeLine, TrainingTime
from planner.model.currency import Currency
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.plan.convergence import Convergence
from planner.model.quantity import Basis, Unit
from planner.present.explanation import as_text
from planner.present.page.answer import AnswerPage
from planner.present.page.words import Words
from tests.present.conftest import bill_of_ten, option, quantity

HOURS = Unit.HOURS
EMPTY: dict[str, Any] = {
    "id": "a", "name": "a", "throughput": None, "physics": None, "step_seconds": None, "step_size": None,
    "step_unit": None, "parts": (), "constants": (), "effects": (), "runs": (), "nearest": (), "notes": (),
    "why_not": "measure it once",
}  # fmt: skip


def training_time() -> TrainingTime:
    steps = quantity(10, HOURS, Basis.MODELLED, "72,000 samples / 2 samples/s / 3600", low=8, high=12)
    lost = quantity(1, HOURS, Basis.ASSUMED, "one every 1 h, of 36 GB, stops the training for 360 s", low=0.5, high=2)
    return TrainingTime(
        lines=(TimeLine(what="steps", hours=steps), TimeLine(what="checkpoints", hours=lost)),
        wall_hours=quantity(11, HOURS, Basis.ASSUMED, "steps 10 + checkpoints 1 h", low=9, high=13),
        goodput=quantity(0.909, Unit.RATIO, Basis.ASSUMED, "steps / wall", low=0.8, high=0.95),
        lost_hours=lost,
        launch_hours=quantity(0.25, HOURS, Basis.ASSUMED, "0.25 h of set-up", low=0.1, high=1),
        optimizer_steps=7200.0,
        interruptions=quantity(0.11, Unit.RATIO, Basis.QUOTED, "11 h x 0.01 an hour", low=0.05, high=0.4),
        checkpoint_interval_hours=quantity(1, HOURS, Basis.ASSUMED, "the plan"),
        optimal_interval_hours=quantity(4.41, HOURS, Basis.MODELLED, "Daly's optimum", low=2, high=9),
        limited_by=("storage limits the speed: samples need 2.3 GB/s and <slow> reads 1.05",),
        uncounted=(Uncounted(what="input stalls", reason="give data.dataset_gb"),),
        convergence=Convergence(
            like="mlperf-bert",
            fraction=quantity(0.112, Unit.RATIO, Basis.MODELLED, "1.645 x 0.21 / 3.078"),
            training_hours=quantity(10, HOURS, Basis.MODELLED, "by seed alone", low=8.88, high=11.12),
        ),
    )


def test_the_text(golden) -> None:
    speed = quantity(
        2, Unit.SAMPLES_PER_S, Basis.MODELLED, "estimator: a step of 4,096 tokens takes 2 s", low=1.5, high=3
    )
    slower = speed.model_copy(update={"value": 1.9})
    whole = OptionExplanation(
        id="cloud/8x:any:on_demand",
        name="Cloud 8x (8x H100-SXM)",
        throughput=speed,
        physics=speed.model_copy(update={"value": 2.1}),
        throughput_from="mfu",
        configuration=EstimatedConfiguration(
            accelerators=8,
            strategy=Strategy.FSDP2,
            split="tensor 2",
            micro_batch=2.0,
            accumulation=4.0,
            checkpointing=Checkpointing.SELECTIVE,
            recomputed=0.3,
            precision=Precision.BF16,
        ),
        correction=StepCorrection(factor=1.1, by_labels=1.031, by_runs=1.067, runs=2),
        step_seconds=2.0,
        step_size=4096.0,
        step_unit="tokens",
        parts=(
            StepPart(
                name="products",
                seconds=1.5,
                share=0.75,
                times=0.975,
                formula="2 x tokens x weights / peak",
                where="compute.py: layer_parts",
            ),
            StepPart(
                name="gradients",
                seconds=0.5,
                share=0.25,
                formula="bytes / link",
                where="communication.py: gradient_seconds",
            ),
        ),
        constants=(
            ConstantUsed(
                name="gemm_hopper",
                value=0.7,
                prior=0.75,
                spread=0.1,
                low=0.3,
                high=1.0,
                meaning="share of peak",
                percent_per_percent=-0.75,
            ),
        ),
        effects=(
            LabelEffect(level="accelerator", label="H100-SXM", step_factor=1.031),
            LabelEffect(level="framework", label="training-planner", step_factor=None),
        ),
        runs=(
            RunEffect(id="r1", weight=0.41, without=slower, change_fraction=2 / 1.9 - 1),
            RunEffect(id="r2", weight=None, without=None, change_fraction=None),
        ),
        next_runs=(
            NextRun(nodes=1, accelerators=1, strategy=Strategy.DDP, half_width=0.181),
            NextRun(nodes=1, accelerators=8, strategy=Strategy.ZERO1, half_width=0.124),
        ),
        nearest=(
            NearRow(
                id="m1",
                source="a table",
                accelerator="H100-SXM",
                workload="llama",
                accelerators=8,
                measured_per_s=12_345.0,
                modelled_per_s=12_000.0,
                distance=0.5,
            ),
        ),
        time=training_time(),
        notes=(),
        why_not=None,
    )
    carried = whole.model_copy(
        update={
            "id": "carried",
            "physics": None,
            "throughput_from": "extrapolation",
            "step_seconds": None,
            "correction": None,
            "parts": (),
            "constants": (),
            "effects": (),
            "runs": (),
            "next_runs": (),
            "nearest": (),
            "time": None,
            "extrapolation": ExtrapolatedStep(
                runs=("r1",),
                batch=128,
                seconds=64.0,
                ratios=(RatioUsed(what="accelerators", value=2.0, formula="8/4 accelerators"),),
            ),
        }
    )
    nothing = whole.model_copy(
        update={
            "id": "not-known",
            "throughput": None,
            "physics": None,
            "configuration": None,
            "throughput_from": None,
            "step_seconds": None,
            "parts": (),
            "constants": (),
            "effects": (),
            "runs": (),
            "nearest": (),
            "time": None,
            "why_not": "measure it once",
        }
    )
    golden.check("explain.txt", as_text(ExplainDocument(plan="Which machine?", options=(whole, carried, nothing))))


def test_the_page_shows_the_same_and_escapes_it(comparison: ComparisonDocument) -> None:
    timed = option(id="a", name="a", time=training_time())
    text = AnswerPage(comparison.model_copy(update={"options": (timed,)}), Words(), date(2026, 7, 1)).rows_html()
    for expected in ("Where the hours", "90.9 %", "4.410 h", "8.880-11.12", "+-11 %", "give data.dataset_gb", "7,200"):
        assert expected in text
    assert "&lt;slow&gt;" in text


def test_no_line_is_longer_than_the_screen_and_none_loses_a_word() -> None:
    """Doubts and sources have any length. The rest of a broken line is indented further."""
    answer = option(
        id="a", name="a", display_name="PC, 1x RTX 4090", doubts=(" ".join(["twenty words"] * 10),),
        done_by=date(2027, 1, 4), done_by_confident=date(2027, 1, 16), chance_deadline=0.97, chance_budget=None,
        campaign_usd=quantity(500, Unit.USD, Basis.ASSUMED, "a tariff", low=400, high=700), usd_confident=580.0,
        bill=bill_of_ten(), why_not="late", campaign_hours=quantity(100, Unit.HOURS, Basis.ASSUMED, "stated", low=80),
        hours_confident=150.0,
    )  # fmt: skip
    explained = OptionExplanation(**EMPTY, answer=answer, time=training_time())
    document = ExplainDocument(plan="Which machine?", options=(explained,), recommended="b", confidence=0.8)
    whole, narrow = as_text(document), as_text(document, width=60)
    assert narrow.split() == whole.split()
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, whole.splitlines()))
    assert whole.splitlines()[2:12] == [
        "== a: PC, 1x RTX 4090",
        "Not recommended: late.",
        "  done by   likely 2027-01-04; 2027-01-16, 4 in 5 sure",
        "  hours     100.0 h (80.00-100.0, assumed); "
        "80 % of the simulated campaigns end within 150.0 h, waiting included",
        "  chance    97 % in time (of the simulated campaigns)",
        "  cost      500.00 USD (400.00-700.00, assumed)",
        "  at most   580 USD, 4 in 5 sure: by this it is ranked",
        "  bill      1,966 USD: compute 1,946, provisioning and set-up 20.00; not in it: egress",
        "What was found wrong with its evidence:",
        f"  - {answer.doubts[0]}",
    ]
    doubt = narrow.splitlines().index("What was found wrong with its evidence:") + 1
    assert narrow.splitlines()[doubt].startswith("  - twenty")
    assert narrow.splitlines()[doubt + 1].startswith("      twenty")


def test_a_purchase_says_what_is_paid_when_in_the_plan_s_currency() -> None:
    """At 1,400 won: 6,500 USD are 9,100,000, 100 are 140,000; credits pay nothing, so nothing is said of them."""
    cash = quantity(6600, Unit.USD, Basis.QUOTED, "both")
    answer = option(
        id="a", name="a", pay_now_usd=quantity(6500, Unit.USD, Basis.QUOTED, "a shop"), cash_usd=cash, to_pay_usd=cash,
        campaign_usd=quantity(100, Unit.USD, Basis.ASSUMED, "a tariff"),
        left_usd=quantity(4000, Unit.USD, Basis.ASSUMED, "a market"),
    )  # fmt: skip
    won = Currency(code="KRW", per_usd=1400.0, as_of=date(2026, 11, 1), source="test")
    explained = OptionExplanation(**EMPTY, answer=answer, time=None)
    text = as_text(ExplainDocument(plan="p", options=(explained,), recommended="a", currency=won))
    assert text.splitlines()[3:8] == [
        "Recommended.",
        "  running   100.00 USD (assumed) = 140,000 KRW",
        "  pay now   6,500 USD (quoted) = 9,100,000 KRW",
        "  cash out  6,600 USD (quoted) = 9,240,000 KRW by the end",
        "  left      4,000 USD (assumed) = 5,600,000 KRW by the end, if it is sold",
    ]
