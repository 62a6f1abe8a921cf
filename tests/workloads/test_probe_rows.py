"""Rows of a probe: what fails, or comes too late, is named, and the others go on."""

import pytest

from planner.workloads.probe.rows import Rows, TimedCalls


def fails() -> TimedCalls:
    raise RuntimeError("no kernel image is available\nfor this device")


def test_a_kernel_that_fails_is_named_by_the_first_line_and_the_next_is_measured() -> None:
    rows = Rows(max_seconds=60.0)

    rows.add("attention", {"batch": 1}, fails, precision="bf16", kernel="cudnn")
    rows.add("copy", {"bytes": 8}, lambda: TimedCalls(0.5, 3))

    assert rows.left_out == ["attention bf16 cudnn: no kernel image is available"]
    assert [(row["kind"], row["seconds"], row["rounds"]) for row in rows.kernels] == [("copy", 0.5, 3)]


def test_once_the_time_is_over_only_what_every_rank_must_do_is_measured() -> None:
    rows = Rows(max_seconds=-1.0)

    for _ in range(2):
        rows.add("products", {"tokens": 1}, lambda: TimedCalls(0.5, 3), precision="bf16")
    rows.add("all_reduce", {"bytes": 8}, lambda: TimedCalls(0.5, 3), devices=2, needed=True)

    assert rows.left_out == ["products bf16: the time was over"]
    assert [row["devices"] for row in rows.kernels] == [2]


def test_a_mistake_of_ours_is_not_taken_for_a_kernel_that_cannot_run() -> None:
    with pytest.raises(KeyError):
        Rows(max_seconds=60.0).add("copy", {}, lambda: {}["seconds"])
