"""Predictions for plans with own runs, and of the RTX 3090 report from its first rows."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.hardware.machines import Link
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction, Prediction
from tests.speed.throughput.asking import asked

GPT = {"ref": "gpt-305m", "seq_len": 512}


def predicted(catalog: Catalog, option: dict[str, Any], **changes: Any) -> Prediction | NoPrediction:
    job, candidate = asked(catalog, option, **{"workload": GPT} | changes)
    return predict(job, candidate, catalog)


def rate(catalog: Catalog, option: dict[str, Any], **changes: Any) -> float:
    found = predicted(catalog, option, **changes)
    assert isinstance(found, Prediction), found.reason
    return found.samples_per_s.value


def without(catalog: Catalog, *names: str) -> Catalog:
    remaining = {run_id: run for run_id, run in catalog.runs.items() if run_id not in names}
    assert len(remaining) == len(catalog.runs) - len(names)
    return catalog.model_copy(update={"runs": remaining})


@pytest.mark.parametrize(
    "node",
    ["aws/p4d.24xlarge", "aws/p5.48xlarge", "dgx-station-v100", "lambda/gpu_8x_b200_sxm6"],
)
def test_more_accelerators_over_nvlink_are_never_slower(catalog: Catalog, node: str) -> None:
    assert catalog.nodes[node].link in (Link.NVLINK, Link.NVSWITCH)
    place = {"offer": node, "usd_per_hour": 1.0} if "/" in node else {"site": node}
    rates = [rate(catalog, place | {"accelerators": count}) for count in range(1, catalog.nodes[node].accelerators + 1)]
    assert rates == sorted(rates)


def test_another_accelerator_is_judged_by_one_card_not_by_its_links(catalog: Catalog) -> None:
    """The ten 3090s without peer-to-peer say little of eight A100s behind an NVSwitch."""
    found = predicted(catalog, {"offer": "aws/p4d.24xlarge", "usd_per_hour": 1.0})
    assert isinstance(found, Prediction)
    assert {run.id for run in found.runs} == {"seed-003-rtx3090-ddp-x1", "seed-003-rtx3090-zero2-x1"}


REPORT = {
    "ddp": {4: 28.6, 8: 39.6, 10: 47.9},
    "zero2": {4: 36.3, 8: 59.4, 10: 52.6},
}
"""Samples/s that the report measured on cards behind two root ports."""


@pytest.mark.parametrize(
    ("strategy", "count", "actual"),
    [pytest.param(name, n, rate, id=f"{name} on {n}") for name, rates in REPORT.items() for n, rate in rates.items()],
)
def test_one_and_two_cards_predict_four_eight_and_ten(
    catalog: Catalog, strategy: str, count: int, actual: float
) -> None:
    known = [f"seed-003-rtx3090-{strategy}-x{n}" for n in (1, 2)]
    shown = catalog.model_copy(update={"runs": {name: catalog.runs[name] for name in known}})
    option = {"site": "rtx3090-x10", "accelerators": count, "strategy": strategy}
    found = predicted(shown, option, training={"micro_batch": 4})
    assert isinstance(found, Prediction)
    assert found.samples_per_s.low <= actual <= found.samples_per_s.high
    if (strategy, count) == ("ddp", 10):
        assert found.samples_per_s.value == pytest.approx(actual, rel=0.20)


@pytest.mark.parametrize("count", [3, 5, 6, 7, 9])
def test_between_measured_counts_no_count_is_far_from_its_neighbours(catalog: Catalog, count: int) -> None:
    measured = {1: 27.4, 2: 29.3, 4: 28.6, 8: 39.6, 10: 47.9}
    below = measured[max(known for known in measured if known < count)]
    above = measured[min(known for known in measured if known > count)]
    got = rate(catalog, {"site": "rtx3090-x10", "accelerators": count}, training={"micro_batch": 4})
    assert 0.8 * min(below, above) <= got <= 1.25 * max(below, above)


def test_the_source_states_the_parts_of_a_step(catalog: Catalog) -> None:
    found = predicted(catalog, {"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0}, training={"precision": "bf16"})
    assert isinstance(found, Prediction)
    assert catalog.calibration is not None
    on_h100 = catalog.calibration.seen["accelerator"]["H100-SXM"].rows
    evidence = f"estimated from {catalog.calibration.rows:,} published runs, {on_h100:,} of them on H100 SXM"
    assert found.source.startswith(f"{evidence}, and 2 bundled runs on RTX 3090 (")
    assert "exposed kernel launches" in found.source
    assert found.notes[0].startswith(evidence)
    assert found.known_from == f"estimated from {catalog.calibration.rows:,} published runs, {on_h100:,} on H100"


def test_an_own_run_moves_the_answer_towards_itself_and_narrows_it(catalog: Catalog) -> None:
    option = {"site": "rtx3090-x10", "accelerators": 1}
    settings = {"training": {"micro_batch": 4}}
    blind = predicted(catalog.model_copy(update={"runs": {}}), option, **settings)
    known = {"seed-003-rtx3090-ddp-x1": catalog.runs["seed-003-rtx3090-ddp-x1"]}
    seeing = predicted(catalog.model_copy(update={"runs": known}), option, **settings)
    assert isinstance(blind, Prediction)
    assert isinstance(seeing, Prediction)
    assert abs(seeing.samples_per_s.value / 27.4 - 1) < 0.05 < abs(blind.samples_per_s.value / 27.4 - 1)
    assert seeing.samples_per_s.high / seeing.samples_per_s.low < blind.samples_per_s.high / blind.samples_per_s.low


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"verdict": ("throttled",)}, id="found wrong"),
        pytest.param({"seq_len": None}, id="of samples of unknown length"),
        pytest.param({"micro_batch": None}, id="of an unknown micro-batch"),
    ],
)
def test_a_run_that_states_too_little_or_is_doubted_moves_nothing(catalog: Catalog, changes: dict[str, Any]) -> None:
    """The run has a tenth of the card's speed, so it would move the prediction if it counted."""
    run = catalog.runs["seed-003-rtx3090-ddp-x1"]
    slow = run.throughput.model_copy(update={"value": 2.7, "low": 2.7, "high": 2.7})
    mine = run.model_copy(update={"id": "mine", "throughput": slow, "workload": "another", "step_seconds": None})
    option, settings = {"site": "rtx3090-x10", "accelerators": 1}, {"training": {"micro_batch": 4}}
    blind = rate(catalog.model_copy(update={"runs": {}}), option, **settings)
    assert rate(catalog.model_copy(update={"runs": {"mine": mine}}), option, **settings) < 0.5 * blind
    poor = mine.model_copy(update=changes)
    assert rate(catalog.model_copy(update={"runs": {"mine": poor}}), option, **settings) == blind


def test_a_tiny_network_does_not_inform_about_a_large_one_on_an_accelerator(catalog: Catalog) -> None:
    """A run of cpu-smoke on an H200 is limited by kernel launches; a network of 8 billion parameters is not."""
    smoke, gpt = catalog.presets["cpu-smoke"], catalog.runs["seed-003-rtx3090-ddp-x1"]
    tiny = gpt.model_copy(
        update={
            "id": "tiny",
            "workload": "cpu-smoke",
            "architecture": smoke.architecture,
            "seq_len": 128,
            "hardware": gpt.hardware.model_copy(update={"accelerator": "H200-SXM", "node": "h200-x1"}),
        }
    )
    with_tiny = catalog.model_copy(update={"runs": catalog.runs | {"tiny": tiny}})
    changes = {"workload": {"ref": "llama3-8b", "seq_len": 4096}, "training": {"precision": "bf16"}}
    assert rate(with_tiny, {"site": "h200-x1"}, **changes) == rate(catalog, {"site": "h200-x1"}, **changes)
