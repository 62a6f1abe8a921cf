"""The source of an option's speed: a stated step, a measurement, the estimator, or none with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from planner.decide.options.estimate_plan import estimate_plan
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis
from tests.bundled import bundled_catalog, owned_catalog


@pytest.fixture
def catalog() -> Catalog:
    """Return a catalog in which the user owns the machines of the documents."""
    return owned_catalog()


def estimates(catalog: Catalog, *options: dict[str, Any], **changes: Any) -> list[OptionEstimate]:
    plan = {
        "schema_version": 1,
        "name": "test",
        "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"tokens": 512.0 * 274_000},
        "training": {"strategy": "ddp", "micro_batch": "auto"},
        "options": list(options),
    } | changes
    return list(estimate_plan(Plan.model_validate(plan), catalog).options)


@pytest.mark.parametrize(
    ("option", "strategy", "hours"),
    [
        pytest.param({"accelerators": 1}, "ddp", 274_000 / 27.4 / 3600, id="one card, DDP 27.4"),
        pytest.param({"accelerators": 10}, "ddp", 274_000 / 47.9 / 3600, id="ten cards, DDP 47.9"),
        pytest.param({"accelerators": 8}, "zero2", 274_000 / 59.4 / 3600, id="eight cards, ZeRO-2 59.4"),
        pytest.param({"nodes": 2}, "zero2", 274_000 / 82.8 / 3600, id="two nodes, ZeRO-2 82.8"),
        pytest.param({"accelerators": 10}, "zero2", 274_000 / 52.1 / 3600, id="two runs, 52.6 and 51.6: their median"),
    ],
)
def test_a_measured_machine_is_answered_by_arithmetic(
    catalog: Catalog, option: dict[str, Any], strategy: str, hours: float
) -> None:
    (got,) = estimates(catalog, {"site": "rtx3090-x10", "strategy": strategy} | option)
    assert got.training_hours is not None
    assert got.training_hours.value == pytest.approx(hours)
    assert got.training_hours.basis is Basis.MEASURED


def test_the_range_holds_both_runs(catalog: Catalog) -> None:
    (got,) = estimates(catalog, {"site": "rtx3090-x10", "strategy": "zero2"})
    assert got.throughput is not None
    assert got.throughput.low <= 51.6
    assert got.throughput.high >= 52.6
    assert len(got.runs) == 2


def test_unmeasured_hardware_is_modelled_and_names_the_run() -> None:
    (got,) = estimates(bundled_catalog(), {"site": "pc-rtx4090"}, training={"strategy": "ddp", "micro_batch": 4})
    assert got.throughput is not None
    assert got.throughput.basis is Basis.MODELLED
    assert "seed-003-rtx3090-ddp-x1" in got.runs
    assert "2 bundled runs on RTX 3090" in got.throughput.source
    # 1.583 is the geometric mean of the data sheets' ratios of peak and bandwidth: either alone is a bound
    assert 27.4 * 1008 / 936 < got.throughput.value < 27.4 * 165.2 / 71
    assert got.throughput.low <= 27.4 * 1.583 <= got.throughput.high


def test_a_stated_step_wins_over_everything(catalog: Catalog) -> None:
    (got,) = estimates(
        catalog, {"site": "rtx3090-x10", "accelerators": 1, "step": {"batch": 64, "seconds": 0.8, "basis": "assumed"}}
    )
    assert got.throughput is not None
    assert got.throughput.value == 80
    assert got.throughput.basis is Basis.ASSUMED


def test_other_samples_are_another_workload(catalog: Catalog) -> None:
    (got,) = estimates(
        catalog, {"site": "rtx3090-x10", "accelerators": 1}, workload={"ref": "gpt-305m", "seq_len": 256}
    )
    assert got.throughput is not None
    assert got.throughput.basis is Basis.MODELLED


def test_a_bare_step_is_wider_than_a_known_network(catalog: Catalog) -> None:
    (bare,) = estimates(
        catalog,
        {"site": "h200-x1"},
        workload={"measured": "seed-000-dgx-station-v100"},
        work={"epochs": 1, "samples_per_epoch": 2_464_256},
        training={"precision": "fp16"},
    )
    (known,) = estimates(catalog, {"site": "h200-x1"})
    assert bare.throughput is not None
    assert known.throughput is not None
    assert bare.throughput.high / bare.throughput.low > known.throughput.high / known.throughput.low


def test_a_training_that_does_not_fit_states_the_missing_memory(catalog: Catalog) -> None:
    """Llama 3 8B under DDP needs 16 bytes per parameter: 119.7 GiB of states on a card of 40 GiB."""
    (got,) = estimates(
        catalog, {"offer": "aws/p4d.24xlarge", "region": "us-east-1"}, workload={"ref": "llama3-8b", "seq_len": 4096}
    )
    assert got.fits is False
    assert got.training_hours is None
    assert got.why_not is not None
    assert "states 119.7" in got.why_not
    assert "GiB too little" in got.why_not
    assert "fsdp2 it would need" in got.why_not


def test_a_tiny_network_is_refused_rather_than_guessed(catalog: Catalog) -> None:
    (got,) = estimates(catalog, {"site": "h200-x1"}, workload={"ref": "cpu-smoke"}, work={"tokens": 1e9})
    assert got.throughput is None
    assert got.why_not is not None
    assert "measure it there" in got.why_not


def test_no_price_is_never_zero(catalog: Catalog) -> None:
    (got,) = estimates(catalog, {"offer": "aws/p5e.48xlarge", "region": "us-east-2", "price": "on_demand"})
    assert got.usd_total is None
    assert got.training_hours is not None
    assert got.why_not is not None
    assert "no price" in got.why_not
    assert "Capacity Block" in got.why_not


def test_no_price_of_one_kind_says_which_kinds_there_are(catalog: Catalog) -> None:
    (got,) = estimates(catalog, {"offer": "aws/p4d.24xlarge", "region": "ap-northeast-2", "price": "capacity_block"})
    assert "capacity_block in us-east-2, us-west-2, us-east-1" in (got.why_not or "")
    assert got.why_not_codes == (ReasonCode.NO_PRICE,)


def test_that_owning_is_not_known_is_a_reason_but_no_obstacle(catalog: Catalog) -> None:
    bare = catalog.sites["rtx3090-x10"].model_copy(update={"already_owned": None})
    sites = catalog.sites | {bare.id: bare}
    (got,) = estimates(catalog.model_copy(update={"sites": sites}), {"site": bare.id})
    assert "neither purchase, lease nor already_owned" in (got.why_not or "")
    assert got.usd_total is None
    assert got.usd_marginal is not None
    assert got.why_not_codes == (ReasonCode.OWNING_NOT_KNOWN,)
    assert got.blocking_reasons == ()


def test_accelerators_that_cannot_train_do_not_fit(catalog: Catalog) -> None:
    (got,) = estimates(catalog, {"offer": "aws/inf2.48xlarge", "usd_per_hour": 12.98})
    assert got.fits is False
    assert [reason.code for reason in got.blocking_reasons] == [ReasonCode.CANNOT_TRAIN]


def test_an_own_price_counts_to_the_cent(catalog: Catalog) -> None:
    (got,) = estimates(
        catalog,
        {
            "offer": "aws/p5e.48xlarge",
            "usd_per_hour": 36.0,
            "nodes": 2,
            "step": {"batch": 100, "seconds": 1.0, "basis": "measured"},
        },
    )
    assert got.bill is not None
    assert got.bill.lines[0].what == "compute"
    assert got.bill.lines[0].usd.value == pytest.approx(274_000 / 100 / 3600 * 2 * 36.0)  # 54.80


def test_bf16_on_volta_falls_back_to_fp32_and_says_so(catalog: Catalog) -> None:
    (got,) = estimates(
        catalog, {"offer": "aws/p3.2xlarge", "region": "us-east-1"}, training={"precision": "bf16", "strategy": "ddp"}
    )
    assert any("no bf16 matrix hardware" in note for note in got.notes)


def test_assumed_mfu_by_hand(catalog: Catalog) -> None:
    """At 8 x 312e12 x 0.5 FLOP/s and 51.470 GFLOP per token, 100B tokens take 47.7 days."""
    (got,) = estimates(
        catalog,
        {"offer": "aws/p4de.24xlarge", "region": "us-east-1"},
        workload={"ref": "llama3-8b", "seq_len": 4096},
        work={"tokens": 1e11},
        training={"precision": "bf16", "strategy": "fsdp2"},
        assumptions={"mfu": 0.5},
    )
    assert got.training_hours is not None
    assert got.training_hours.value / 24 == pytest.approx(47.73, abs=0.01)
    assert got.training_hours.basis is Basis.ASSUMED


def test_idle_cards_are_not_billed_as_working_ones(catalog: Catalog) -> None:
    single, ten = estimates(catalog, {"site": "rtx3090-x10", "accelerators": [1, 10]})
    assert single.power_kw is not None
    assert ten.power_kw is not None
    # 1 of 10 at work: 0.1 + 0.9 x 0.25 / 0.76 of the power of ten
    assert single.power_kw.value / ten.power_kw.value == pytest.approx(0.1 + 0.9 * 0.25 / 0.76)


def judged(catalog: Catalog, *, impossible: tuple[str, ...] = (), doubtful: tuple[str, ...] = ()) -> Catalog:
    return catalog.model_copy(update={"impossible_runs": impossible, "doubtful_runs": doubtful})


def test_of_two_runs_the_one_that_can_be_true_answers(catalog: Catalog) -> None:
    told = {"site": "rtx3090-x10", "strategy": "zero2"}
    (got,) = estimates(judged(catalog, impossible=("seed-003-rtx3090-zero2-x10",)), told)
    assert got.runs == ("seed-003-rtx3090-zero2-x10-b",)  # 51.6 samples/s
    assert got.training_hours is not None
    assert got.training_hours.value == pytest.approx(274_000 / 51.6 / 3600)
    assert got.doubts == ()
    assert (
        "run seed-003-rtx3090-zero2-x10 decides nothing: the audit finds it impossible: planner audit "
        "seed-003-rtx3090-zero2-x10"
    ) not in got.notes, "another run answers"


@pytest.mark.parametrize("verdict", ["impossible", "doubtful"])
def test_a_run_that_is_not_believed_decides_nothing_and_is_named(catalog: Catalog, verdict: str) -> None:
    run, told = "seed-003-rtx3090-ddp-x1", {"site": "rtx3090-x10", "accelerators": 1}
    (got,) = estimates(judged(catalog, **{verdict: (run,)}), told)
    assert got.throughput is not None
    assert got.throughput.basis is Basis.MODELLED
    assert run not in got.runs
    assert f"run {run} decides nothing: the audit finds it {verdict}: planner audit {run}" in got.notes


def test_a_run_of_another_owner_is_evidence_and_no_measurement(catalog: Catalog) -> None:
    run, told = "seed-003-rtx3090-ddp-x1", {"site": "rtx3090-x10", "accelerators": 1}
    (got,) = estimates(catalog.model_copy(update={"bundled_runs": frozenset({run})}), told)
    assert got.throughput is not None
    assert got.throughput.basis is Basis.MODELLED
    assert run in got.runs, "it corrects the estimate"
    assert f"run {run} was measured on another owner's machine: it is not a measurement of yours" in got.notes


def test_equal_machines_have_equal_speeds(catalog: Catalog) -> None:
    """The machines p5e and p5en have the same H200s; the bundled run was made on p5e."""
    base = bundled_catalog()
    sound = base.runs["seed-004-p5e-h200"].model_copy(update={"verdict": ()})
    known = base.model_copy(update={"runs": base.runs | {sound.id: sound}})
    options = [{"offer": f"aws/{name}.48xlarge", "nodes": 4, "network_gbit_per_s": 3200} for name in ("p5e", "p5en")]
    plan = {"workload": {"measured": sound.id}, "training": {"strategy": "zero2", "micro_batch": 4}}
    first, other = estimates(known, *options, work={"epochs": 1, "samples_per_epoch": 1e6}, **plan)
    assert first.throughput is not None
    assert other.throughput is not None
    assert first.throughput.value == other.throughput.value
    assert sound.id in first.runs
    assert first.runs == other.runs


def test_a_run_that_cannot_be_true_corrects_no_estimate(catalog: Catalog) -> None:
    run, told = "seed-003-rtx3090-ddp-x1", {"strategy": "ddp", "micro_batch": 4}
    (before,) = estimates(catalog, {"site": "pc-rtx4090"}, training=told)
    (after,) = estimates(
        judged(catalog, impossible=(run,), doubtful=before.runs), {"site": "pc-rtx4090"}, training=told
    )
    assert run in before.runs
    assert run not in after.runs
    assert after.doubts == ()  # runs that only correct an estimate add no doubts
