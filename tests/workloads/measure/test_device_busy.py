"""Seconds of work in a step: the union of kernel times, and no error where no profiler works."""

import random
from types import SimpleNamespace

import pytest
import torch

from planner.workloads.measure import device_busy
from planner.workloads.measure.device_busy import STEPS, busy_seconds, union


@pytest.mark.parametrize(
    ("intervals", "covered"),
    [
        pytest.param([], 0.0, id="nothing"),
        pytest.param([(0, 2), (5, 6)], 3.0, id="one after the other"),
        pytest.param([(0, 4), (2, 6)], 6.0, id="two streams at once count once"),
        pytest.param([(0, 9), (1, 2), (3, 4), (8, 10)], 10.0, id="one within another"),
        pytest.param([(5, 6), (0, 2)], 3.0, id="out of order"),
    ],
)
def test_time_that_is_covered(intervals, covered):
    assert union(intervals) == covered


def test_the_union_is_what_counting_microseconds_gives():
    draw = random.Random(0)
    for _ in range(100):
        starts = [(draw.randrange(50), draw.randrange(10)) for _ in range(draw.randrange(12))]
        intervals = [(start, start + length) for start, length in starts]
        counted = len({moment for start, end in intervals for moment in range(start, end)})
        assert union(intervals) == counted


def event(device, start_us, end_us, name="ampere_bf16_gemm", **more):
    return SimpleNamespace(
        name=name,
        device_type=SimpleNamespace(name=device),
        time_range=SimpleNamespace(start=start_us, end=end_us),
        **more,
    )


def test_kernels_count_and_launches_annotations_and_waiting_for_peers_do_not():
    events = [
        event("CUDA", 0, 1000),
        event("CUDA", 500, 3000, is_user_annotation=False),
        event("CPU", 0, 9000),
        event("CUDA", 0, 9000, is_user_annotation=True),
        event("CUDA", 0, 9000, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    ]
    profiler = SimpleNamespace(stop=lambda: None, events=lambda: events)
    assert union(device_busy._device_intervals(profiler)) == 3000


def test_on_a_cpu_no_step_is_run():
    assert busy_seconds(lambda: pytest.fail("a step"), torch.device("cpu")) is None


@pytest.mark.parametrize(
    "profiler",
    [
        pytest.param(None, id="it does not start"),
        pytest.param(SimpleNamespace(stop=lambda: 1 / 0), id="it does not stop"),
        pytest.param(SimpleNamespace(stop=lambda: None, events=list), id="it saw nothing"),
    ],
)
def test_every_rank_runs_the_same_steps_whatever_the_profiler_does(monkeypatch, profiler):
    monkeypatch.setattr(device_busy, "_started", lambda: profiler)
    monkeypatch.setattr(device_busy, "synchronise", lambda _: None)
    steps = []
    assert busy_seconds(lambda: steps.append(1), torch.device("cuda")) is None
    assert len(steps) == STEPS


def test_a_rank_that_does_not_profile_runs_the_same_steps(monkeypatch):
    monkeypatch.setattr(device_busy, "_started", lambda: pytest.fail("a profiler"))
    monkeypatch.setattr(device_busy, "synchronise", lambda _: None)
    steps = []
    assert busy_seconds(lambda: steps.append(1), torch.device("cuda"), profiles=False) is None
    assert len(steps) == STEPS


def test_seconds_of_one_of_the_two_steps(monkeypatch):
    profiler = SimpleNamespace(
        stop=lambda: None, events=lambda: [event("CUDA", 0, 40_000), event("CUDA", 50_000, 55_000)]
    )
    monkeypatch.setattr(device_busy, "_started", lambda: profiler)
    monkeypatch.setattr(device_busy, "synchronise", lambda _: None)
    assert busy_seconds(lambda: None, torch.device("cuda")) == pytest.approx(0.0225)


def test_a_build_without_cuda_has_no_profiler_and_no_error():
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    profiler = device_busy._started()
    assert profiler is None or device_busy._device_intervals(profiler) == []
