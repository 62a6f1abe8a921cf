"""Ratios of two accelerators by hand, and the doubts about a ratio."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchMode
from planner.speed.throughput.scaling_table import hardware_ratio
from tests.bundled import bundled_catalog

TUNED = BenchMode.TUNED
TEMPLATE = bundled_catalog().runs["seed-003-rtx3090-ddp-x1"]


def run(run_id: str, rate: float, *, devices: int = 1, spread: float = 0.0, **changes: Any) -> RunRecord:
    """Return a tuned run at micro-batch 16 with `rate` samples/s."""
    throughput = {"value": rate, "low": rate * (1 - spread), "high": rate * (1 + spread)}
    hardware = TEMPLATE.hardware.model_copy(update={"accelerators_per_node": devices})
    made = {"id": run_id, "hardware": hardware, "mode": TUNED, "micro_batch": 16, "global_batch": 128, "verdict": ()}
    made |= {"step_seconds": None, "throughput": TEMPLATE.throughput.model_copy(update=throughput)}
    return TEMPLATE.model_copy(update=made | changes)


def test_the_ratio_is_that_of_one_accelerator_and_its_range_that_of_the_starts() -> None:
    """(440 +- 5 %) / 4 over (200 +- 5 %) / 4 is 2.2, with a range of 0.95 / 1.05 to 1.05 / 0.95 of it."""
    found = hardware_ratio(run("a", 440, devices=4, spread=0.05), run("b", 200, devices=4, spread=0.05))
    assert found.ratio.value == pytest.approx(2.2)
    assert (found.ratio.low, found.ratio.high) == pytest.approx((2.2 * 0.95 / 1.05, 2.2 * 1.05 / 0.95))
    assert (found.mode, found.doubts) == (TUNED, ())


def test_the_other_way_round_is_one_over_it() -> None:
    fast, slow = run("a", 300), run("b", 120)
    assert hardware_ratio(fast, slow).ratio.value * hardware_ratio(slow, fast).ratio.value == pytest.approx(1)


@pytest.mark.parametrize(
    ("changes", "doubt"),
    [
        pytest.param({"mode": BenchMode.MATCHED}, "comes from two tuned runs, and these are tuned, matched", id="mode"),
        pytest.param({"mode": None}, "these are tuned, not stated", id="a document's run"),
        pytest.param({"global_batch": 64}, "global_batch is 128, 64", id="global batch"),
        pytest.param({"data": "shards"}, "data is None|data is not stated, shards", id="data"),
        pytest.param({"verdict": ("throttled",)}, "b: throttled", id="a doubt of its own"),
    ],
)
def test_differences_that_make_a_ratio_doubtful(changes: dict[str, Any], doubt: str) -> None:
    doubts = hardware_ratio(run("a", 300), run("b", 100, **changes)).doubts
    assert any(part in doubts[0] for part in doubt.split("|")), doubts


def test_another_micro_batch_of_tuned_runs_is_no_doubt() -> None:
    assert hardware_ratio(run("a", 300), run("b", 100, micro_batch=4)).doubts == ()


def test_counts_and_small_differences_are_doubts() -> None:
    two_on_one = hardware_ratio(run("a", 204, devices=2), run("b", 100))
    assert ["2 accelerators against 1" in two_on_one.doubts[0], "under 3% is no" in two_on_one.doubts[1]] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (run("a", 1), run("a", 2), "with itself"),
        (run("a", 1), run("b", 1, workload="other"), "different networks"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(first: RunRecord, second: RunRecord, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hardware_ratio(first, second)
