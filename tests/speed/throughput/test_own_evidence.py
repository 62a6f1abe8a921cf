"""Steps that a plan states for its machines, as evidence for its other options, together with runs."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Strategy
from planner.model.plan.plan import Plan
from planner.scenario.candidate import expand
from planner.scenario.job import resolve_job
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction
from planner.speed.throughput.speed import Speed, speed

GPT = {"workload": {"ref": "gpt-305m", "seq_len": 512}, "training": {"precision": "bf16", "strategy": "ddp"}}
CARD = {"site": "pc-rtx4090"}
OTHERS = (
    {"offer": "lambda/gpu_1x_h100_sxm5"},
    {"site": "pc-rtx3080"},
    {"offer": "aws/p4d.24xlarge", "usd_per_hour": 1.0},
)
BATCH = 16


def answers(catalog: Catalog, *options: dict[str, Any], **changes: Any) -> list[Speed]:
    plan = Plan.model_validate(
        {"schema_version": 1, "name": "test", "work": {"samples": 1000.0}, "options": list(options)} | GPT | changes
    )
    job = resolve_job(plan, catalog)
    return [speed(job, candidate, catalog) for candidate in expand(plan, catalog)]


def stepped(samples_per_s: float, **changes: Any) -> dict[str, Any]:
    """Return the card as an option with a measured step of `samples_per_s`."""
    return {"step": {"batch": BATCH, "seconds": BATCH / samples_per_s, "basis": "measured"}} | CARD | changes


def rates(found: list[Speed]) -> list[float]:
    assert all(answer.samples_per_s is not None for answer in found)
    return [answer.samples_per_s.value for answer in found if answer.samples_per_s is not None]


@pytest.fixture
def blind(catalog: Catalog) -> Catalog:
    """Return a catalog without runs, so that the step is the only measurement."""
    return catalog.model_copy(update={"runs": {}})


@pytest.fixture
def estimated(blind: Catalog) -> float:
    """Return the samples/s of the card with a step of 16, by the estimator only."""
    (card,) = answers(blind, CARD, training=GPT["training"] | {"global_batch": BATCH})
    return rates([card])[0]


@pytest.mark.parametrize("times", [0.5, 0.8, 1.25, 2.0])
def test_a_step_so_much_faster_moves_others_towards_it_and_no_further(
    blind: Catalog, estimated: float, times: float
) -> None:
    before = rates(answers(blind, *OTHERS))
    _, *after = rates(answers(blind, stepped(times * estimated), *OTHERS))
    for old, new in zip(before, after, strict=True):
        assert min(1.0, times) <= new / old <= max(1.0, times)
        assert abs(new / old - 1) > 0.02


def test_the_further_the_step_is_off_the_further_it_moves(blind: Catalog, estimated: float) -> None:
    moved = [
        rates(answers(blind, stepped(times * estimated), OTHERS[0]))[1] for times in (0.25, 0.5, 0.8, 1.0, 1.25, 2.0)
    ]
    assert moved == sorted(moved)


def test_a_step_as_estimated_moves_nothing_and_narrows_the_range(blind: Catalog, estimated: float) -> None:
    before = answers(blind, *OTHERS)
    _, *after = answers(blind, stepped(estimated), *OTHERS)
    assert rates(after) == pytest.approx(rates(before), rel=1e-9)
    for old, new in zip(before, after, strict=True):
        assert old.samples_per_s is not None
        assert new.samples_per_s is not None
        assert new.samples_per_s.high / new.samples_per_s.low < old.samples_per_s.high / old.samples_per_s.low


def run_like(catalog: Catalog, samples_per_s: float) -> RunRecord:
    """Return a run of the benchmark that timed the same step."""
    return RunRecord.model_validate(
        {
            "schema_version": 1,
            "id": "mine",
            "workload": "gpt-305m",
            "architecture": catalog.presets["gpt-305m"].architecture.model_dump(),
            "seq_len": 512,
            "hardware": {"accelerator": "RTX-4090", "accelerators_per_node": 1, "nodes": 1, "node": "pc-rtx4090"},
            "strategy": "ddp",
            "precision": "bf16",
            "checkpointing": "none",
            "micro_batch": BATCH,
            "global_batch": BATCH,
            "throughput": {
                "value": samples_per_s, "low": samples_per_s, "high": samples_per_s, "unit": "samples/s",
                "basis": "measured", "source": "timed here", "as_of": "2026-11-01",
            },
        }
    )  # fmt: skip


def test_a_step_weighs_as_much_as_a_run_of_the_same_training(blind: Catalog, estimated: float) -> None:
    """A step of 16 on one card of 24 GiB has one micro-batch of 16 without recomputation, as in the run."""
    slow = 0.6 * estimated
    seeing = blind.model_copy(update={"runs": {"mine": run_like(blind, slow)}})
    _, *by_step = rates(answers(blind, stepped(slow), *OTHERS))
    assert by_step == pytest.approx(rates(answers(seeing, *OTHERS)), rel=1e-9)


def test_the_answer_names_the_step_among_its_evidence(catalog: Catalog, estimated: float) -> None:
    own, other = answers(catalog, stepped(estimated), OTHERS[0])
    assert own.known_from == "measured by you (step)"
    assert other.known_from is not None
    assert other.known_from.endswith("published runs and your step")
    assert "of them on H100 SXM, your step on RTX 4090, and 2 bundled runs on RTX 3090" in other.source
    assert [step.id for step in other.steps] == ["pc-rtx4090"]
    assert not any("not corrected" in note for note in other.notes)


NOT_MEASURED = {"step": {"batch": BATCH, "seconds": 4.0, "basis": "assumed"}} | CARD
FOUR_CARDS = {"site": "rtx3090-x10", "accelerators": 4, "step": {"batch": BATCH, "seconds": 4.0, "basis": "measured"}}


@pytest.mark.parametrize(
    ("option", "why"),
    [
        pytest.param(NOT_MEASURED, "assumed, and only a measured step corrects other machines", id="assumed"),
        pytest.param(
            stepped(4.0, power_cap_w=200.0, power_kw=0.4), "measured under a power limit", id="under a power limit"
        ),
        pytest.param(FOUR_CARDS, "its links may have bound it, so it says little of other accelerators", id="links"),
    ],
)  # fmt: skip
def test_a_step_that_does_not_inform_others_moves_none_and_a_note_says_why(
    blind: Catalog, option: dict[str, Any], why: str
) -> None:
    """Each step is ten times slower than the card, so that an effect would be visible."""
    (before,) = answers(blind, OTHERS[0])
    _, after = answers(blind, option, OTHERS[0])
    assert rates([after]) == rates([before])
    notes = [note for note in after.notes if note.startswith("not corrected")]
    assert notes == [f"not corrected by the step of {_id(option)}: {why}"]


def _id(option: dict[str, Any]) -> str:
    return {"pc-rtx4090": "pc-rtx4090", "rtx3090-x10": "rtx3090-x10:x4"}[option["site"]] + (
        ":cap200w" if "power_cap_w" in option else ""
    )


def test_what_does_not_fit_is_no_known_training(blind: Catalog) -> None:
    """Llama 3 8B with all weights trained needs 16 bytes for each, 120 GiB; a card has 24."""
    llama = {"workload": {"ref": "llama3-8b"}, "training": {"precision": "bf16", "strategy": "fsdp2"}}
    p5 = {"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0}
    _, after = answers(blind, stepped(4.0), p5, **llama)
    why = "by the memory estimate it does not fit there, so what ran is not known"
    assert f"not corrected by the step of pc-rtx4090: {why}" in after.notes
    assert rates([after]) == rates(answers(blind, p5, **llama))


def test_without_the_estimator_the_answer_says_that_steps_do_not_count(catalog: Catalog) -> None:
    bare = {"workload": {"measured": "seed-000-dgx-station-v100"}, "training": {"strategy": "ddp"}}
    _, after = answers(catalog, stepped(4.0), {"offer": "aws/p4d.24xlarge", "usd_per_hour": 1.0}, **bare)
    assert "not corrected by the step of pc-rtx4090: only the estimator learns from steps" in after.notes
    _, by_mfu = answers(catalog, stepped(4.0), OTHERS[0], assumptions={"mfu": 0.3})
    assert "not corrected by the step of pc-rtx4090: the plan's mfu comes first" in by_mfu.notes


def test_several_steps_with_one_reason_are_one_note(blind: Catalog) -> None:
    second = NOT_MEASURED | {"site": "pc-rtx3060"}
    *_, after = answers(blind, NOT_MEASURED, second, OTHERS[0])
    notes = [note for note in after.notes if note.startswith("not corrected")]
    assert len(notes) == 1
    assert "the step of pc-rtx4090, pc-rtx3060: assumed" in notes[0]


def test_images_are_corrected_alike(blind: Catalog) -> None:
    images = {"workload": {"ref": "resnet50"}, "training": {"precision": "fp16", "strategy": "ddp", "micro_batch": 64}}
    (before,) = rates(answers(blind, OTHERS[0], **images))
    (card,) = rates(answers(blind, CARD, **images))
    slow = CARD | {"step": {"batch": 64, "seconds": 64 / (card / 2), "basis": "measured"}}
    _, after = rates(answers(blind, slow, OTHERS[0], **images))
    assert 0.5 * before <= after < 0.98 * before


def test_the_plan_s_network_describes_runs_on_that_machine(catalog: Catalog) -> None:
    """A run over 10 Gbit/s at the predicted speed moves nothing; with an assumed InfiniBand it would."""
    node = "lambda/gpu_8x_h100_sxm5"
    llama = {"workload": {"ref": "llama3-8b"}, "training": {"precision": "bf16", "strategy": "fsdp2", "micro_batch": 1}}
    two = {"offer": node, "usd_per_hour": 1.0, "nodes": 2, "network_gbit_per_s": 10.0}
    four = two | {"nodes": 4}
    blind = catalog.model_copy(update={"runs": {}})
    expected = rates(answers(blind, two, **llama))[0]
    run = run_like(catalog, expected).model_copy(
        update={
            "architecture": catalog.presets["llama3-8b"].architecture,
            "seq_len": catalog.presets["llama3-8b"].seq_len,
            "workload": "llama3-8b",
            "hardware": run_like(catalog, 1.0).hardware.model_copy(
                update={"accelerator": "H100-SXM", "accelerators_per_node": 8, "nodes": 2, "node": node}
            ),
        }
    )
    run = run.model_copy(
        update={"micro_batch": 1, "global_batch": 16, "checkpointing": None, "strategy": Strategy.FSDP2}
    )
    seeing = catalog.model_copy(update={"runs": {"mine": run}})
    assert rates(answers(seeing, four, **llama)) == pytest.approx(rates(answers(blind, four, **llama)), rel=0.02)


def test_predictions_of_the_stepped_machine_see_its_own_step(blind: Catalog, estimated: float) -> None:
    """The command `explain` shows this prediction for a machine with a stated step, as it does for one with runs."""
    plan = Plan.model_validate(
        {"schema_version": 1, "name": "t", "work": {"samples": 1000.0}, "options": [stepped(estimated / 2)]} | GPT
    )
    job = resolve_job(plan, blind)
    (candidate,) = expand(plan, blind)
    found = predict(job, candidate, blind)
    assert isinstance(found, Prediction)
    assert [step.id for step in found.steps] == ["pc-rtx4090"]


H100_RECORD = "h100-sxm-qwen3-0.6b-compiled-b8"


def test_a_bundled_run_of_a_machine_that_no_plan_can_name_corrects_nothing(catalog: Catalog) -> None:
    record = catalog.runs[H100_RECORD]
    without = catalog.model_copy(update={"runs": {}})
    bundled = catalog.model_copy(update={"runs": {H100_RECORD: record}})
    own = bundled.model_copy(update={"bundled_runs": frozenset()})
    expected = rates(answers(without, *OTHERS))
    assert rates(answers(bundled, *OTHERS)) == expected
    assert all(abs(mine / other - 1) > 0.01 for mine, other in zip(rates(answers(own, *OTHERS)), expected, strict=True))
