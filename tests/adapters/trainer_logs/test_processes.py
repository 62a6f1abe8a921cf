"""Steps of several processes in one log are told apart by their clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.adapters.trainer_logs.processes import Point, processes_of
from planner.adapters.trainer_logs.statements import Statements
from planner.adapters.trainer_logs.steady_steps import MOST_WARM_UP_S, steady
from planner.adapters.trainer_logs.trainer_log import Facts, LogSpan, OtherWork, spans_between


def points(*pairs: tuple[int, float]) -> list[Point]:
    """Write points whose next step begins at once."""
    return [Point(step, clock, clock) for step, clock in pairs]


STEPS = st.lists(st.integers(1, 500), min_size=2, max_size=40, unique=True).map(sorted)


@given(steps=STEPS, pace=st.floats(0.1, 100))
def test_one_process_stays_as_it_is(steps, pace):
    log = points(*((step, step * pace) for step in steps))
    (process,) = processes_of(log)
    assert process.points == log


@given(count=st.integers(12, 60), pace=st.integers(2, 200), apart=st.integers(1, 900))
def test_of_two_ranks_one_counts_and_has_the_pace_of_both(count, pace, apart):
    ranks = [[(step, step * pace + shift) for step in range(10, 10 * count, 10)] for shift in (0, apart)]
    log = points(*(point for pair in zip(*ranks, strict=True) for point in pair))
    found = [process for process in processes_of(log) if process.steps]
    assert sum(process.steps for process in found) >= 0.9 * (10 * count - 20)
    seconds = sum(process.points[-1].reached_s - process.points[0].reached_s for process in found)
    assert seconds / sum(process.steps for process in found) == pytest.approx(pace, rel=0.03)


@given(
    resumes=st.integers(4, 20), done=st.integers(6, 30), again=st.integers(1, 5), pace=st.integers(2, 200),
    waits=st.booleans(),
)  # fmt: skip
def test_many_resumes_that_repeat_steps_have_the_pace_of_their_steps(resumes, done, again, pace, waits):
    """Each process does `done` steps, of which the first ones were done before; its clock begins again, or goes on."""
    log = [
        (number * (done - again) + step, number * 50_000 * waits + step * pace)
        for number in range(resumes + 1)
        for step in range(1, done + 1)
    ]
    found = processes_of(points(*log))
    assert [len(process.points) for process in found] == [done] * (resumes + 1)
    spans, _ = spans_between(log)
    assert {span.seconds / span.steps for span in spans} == {pace}


@pytest.mark.parametrize(
    ("log", "spans"),
    [
        pytest.param([(10, 100), (20, 200), (15, 50), (25, 150)], [100, 100], id="a resume that repeats steps"),
        pytest.param([(10, 100), (20, 200), (30, 50), (40, 150)], [100, 100], id="a resume where the first ended"),
        pytest.param([(10, 100), (10, 100), (20, 200), (20, 200)], [100], id="each line twice"),
        pytest.param([(10, 100), (20, 200), (10, 100), (20, 200)], [100], id="the log twice"),
        pytest.param([(10, 100)], [], id="one point"),
        pytest.param([], [], id="none"),
    ],
)
def test_between_two_processes_is_no_span(log, spans):
    found, _ = spans_between(log)
    assert [span.seconds for span in found] == spans


def test_slow_first_steps_are_warm_up_for_half_an_hour_at_most():
    usual = [LogSpan(step, step + 1, 10.0) for step in range(5, 60)]
    short = steady([*(LogSpan(step, step + 1, 60.0) for step in range(5)), *usual])
    long = steady([*(LogSpan(step, step + 1, MOST_WARM_UP_S) for step in range(5)), *usual])
    assert short is not None
    assert long is not None
    assert short.dropped_seconds == {OtherWork.COMPILE.value: 300.0}
    assert long.dropped_seconds.get(OtherWork.COMPILE.value, 0.0) <= MOST_WARM_UP_S


def test_a_training_that_did_not_run_is_left_out_however_often():
    waits = [LogSpan(step, step + 1, 5_000.0 if step % 10 == 0 else 10.0) for step in range(1, 60)]
    part = steady(waits)
    assert part is not None
    assert (part.seconds, part.steps) == (540, 54)
    assert part.dropped_seconds == {OtherWork.OTHER.value: 25_000.0}
    assert part.stalled_share == pytest.approx(5 / 59)


def test_of_a_clock_of_whole_seconds_a_late_second_is_no_stall():
    late = [LogSpan(step, step + 1, 4.0 if step % 25 == 0 else 1.0) for step in range(1, 100)]
    part = steady(late, 1.0)
    assert part is not None
    assert (part.seconds, part.steps) == (96 + 3 * 4, 99)


def test_statements_agree_or_name_both_places():
    said = Statements().add(Facts(micro_batch=4, seq_len=2048), "train.log", {"micro_batch": 3})
    said.add(Facts(micro_batch=4, seq_len=1024, devices=8), "args.json")
    assert said.contradictions() == ()
    assert (said.facts().micro_batch, said.facts().seq_len, said.facts().devices) == (4, 2048, 8)  # the first counts
    said.add(Facts(micro_batch=2), "README.md")
    (contradiction,) = said.contradictions()
    assert contradiction.text == "the samples of one pass: train.log, line 3 says 4 and README.md says 2"
    assert said.facts().micro_batch is None
