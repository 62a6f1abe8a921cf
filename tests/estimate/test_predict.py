"""Laws of the first model, and how it does on rows of the RTX 3090 report that it was not shown."""

from __future__ import annotations

from typing import Any

import pytest

from planner.estimate.candidate import expand
from planner.estimate.job import resolve_job
from planner.estimate.predict import predict
from planner.estimate.prediction import NoPrediction, Prediction
from planner.model.catalog import Catalog
from planner.model.hardware import Link
from planner.model.plan import Plan

GPT = {"ref": "gpt-305m", "seq_len": 512}


def predicted(catalog: Catalog, option: dict[str, Any], **changes: Any) -> Prediction | NoPrediction:
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "test",
            "workload": GPT,
            "work": {"epochs": 1, "samples_per_epoch": 1000},
            "options": [option],
        }
        | changes
    )
    (candidate,) = expand(plan, catalog)
    return predict(resolve_job(plan, catalog), candidate, catalog)


def rate(catalog: Catalog, option: dict[str, Any], **changes: Any) -> float:
    found = predicted(catalog, option, **changes)
    assert isinstance(found, Prediction), found.reason
    return found.samples_per_s.value


def without(catalog: Catalog, *names: str) -> Catalog:
    left = {run_id: run for run_id, run in catalog.runs.items() if run_id not in names}
    assert len(left) == len(catalog.runs) - len(names)
    return catalog.model_copy(update={"runs": left})


@pytest.mark.parametrize(
    "node",
    ["aws/p4d.24xlarge", "aws/p5.48xlarge", "dgx-station-v100", "lambda/gpu_8x_b200_sxm6"],
)
def test_more_accelerators_over_nvlink_are_never_slower(catalog: Catalog, node: str) -> None:
    assert catalog.nodes[node].link in (Link.NVLINK, Link.NVSWITCH)
    place = {"offer": node, "usd_per_hour": 1.0} if "/" in node else {"site": node}
    rates = [rate(catalog, place | {"accelerators": count}) for count in range(1, catalog.nodes[node].accelerators + 1)]
    assert rates == sorted(rates)


def test_eight_cards_behind_an_nvswitch_are_eight_times_one_less_a_little(catalog: Catalog) -> None:
    one, eight = (rate(catalog, {"offer": "aws/p4d.24xlarge", "usd_per_hour": 1.0, "accelerators": n}) for n in (1, 8))
    assert eight == pytest.approx(8 * one / 1.06)


def test_another_accelerator_is_judged_by_one_card_not_by_its_links(catalog: Catalog) -> None:
    """The ten 3090s without peer-to-peer say little of eight A100s behind an NVSwitch."""
    found = predicted(catalog, {"offer": "aws/p4d.24xlarge", "usd_per_hour": 1.0})
    assert isinstance(found, Prediction)
    assert [run.id for run in found.runs] == ["seed-003-rtx3090-ddp-x1"]


@pytest.mark.parametrize("count", [3, 5, 6, 7, 9])
def test_between_two_measured_counts_lies_between_their_speeds(catalog: Catalog, count: int) -> None:
    measured = {1: 27.4, 2: 29.3, 4: 28.6, 8: 39.6, 10: 47.9}
    below = measured[max(known for known in measured if known < count)]
    above = measured[min(known for known in measured if known > count)]
    got = rate(catalog, {"site": "rtx3090-x10", "accelerators": count})
    assert min(below, above) <= got <= max(below, above)


@pytest.mark.parametrize(
    ("hidden", "count", "actual", "strategy"),
    [
        pytest.param("seed-003-rtx3090-ddp-x4", 4, 28.6, "ddp", id="DDP, 4 from 2 and 8"),
        pytest.param("seed-003-rtx3090-ddp-x8", 8, 39.6, "ddp", id="DDP, 8 from 4 and 10"),
        pytest.param("seed-003-rtx3090-zero2-x2", 2, 31.4, "zero2", id="ZeRO-2, 2 from 1 and 4"),
        pytest.param("seed-003-rtx3090-zero2-x4", 4, 36.3, "zero2", id="ZeRO-2, 4 from 2 and 8"),
        pytest.param("seed-003-rtx3090-ddp-x10", 10, 47.9, "ddp", id="DDP, 10 from 8"),
        pytest.param("seed-003-rtx3090-ddp-x1", 1, 27.4, "ddp", id="DDP, 1 from the others"),
    ],
)
def test_a_hidden_measurement_lies_in_the_range(
    catalog: Catalog, hidden: str, count: int, actual: float, strategy: str
) -> None:
    found = predicted(without(catalog, hidden), {"site": "rtx3090-x10", "accelerators": count, "strategy": strategy})
    assert isinstance(found, Prediction)
    assert found.samples_per_s.low <= actual <= found.samples_per_s.high


def test_the_source_can_be_recomputed(catalog: Catalog) -> None:
    found = predicted(catalog, {"offer": "aws/p5.48xlarge", "usd_per_hour": 1.0}, training={"precision": "bf16"})
    assert isinstance(found, Prediction)
    assert "27.4 samples/s on 1x RTX-3090" in found.source
    assert "sqrt(989.4/71 TFLOP/s x 3350/936 GB/s) = 7.0622" in found.source
    assert "8/1 accelerators x 0.9434/1 of linear scaling" in found.source
    assert found.samples_per_s.value == pytest.approx(27.4 * 7.0622 * 8 * 0.9434, rel=1e-4)


def test_a_tiny_network_says_nothing_of_a_large_one_on_an_accelerator(catalog: Catalog) -> None:
    """A run of cpu-smoke on an H200 is bound by kernel launches; a network of 600M parameters is not."""
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


def test_a_large_network_on_the_same_machine_is_better_than_a_share_of_the_peak(catalog: Catalog) -> None:
    found = predicted(
        catalog,
        {"site": "rtx3090-x10", "accelerators": 1},
        workload={"ref": "gpt-305m", "seq_len": 256},
    )
    assert isinstance(found, Prediction)
    assert found.runs[0].architecture == catalog.presets["gpt-305m"].architecture
    # The same FLOP rate on samples of 256 tokens: 27.4 x (512 x 1.61740e9) / (256 x 1.56707e9)
    assert found.samples_per_s.value == pytest.approx(27.4 * 512 * 1.6174 / (256 * 1.56707), rel=1e-3)
