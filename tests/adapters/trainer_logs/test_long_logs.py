"""Reading long logs in one pass gives the same as the plain method, which looks at every line for each step."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from planner.adapters.trainer_logs.hf_console import Console
from planner.adapters.trainer_logs.lightning import LAST_PASS, read_litgpt
from planner.adapters.trainer_logs.log_source import LogSource
from planner.adapters.trainer_logs.progress_bar import BarState
from planner.adapters.trainer_logs.trainer_log import LogSpan, OtherWork, TrainerLog, spans_between

STEPS = st.integers(0, 30)


@given(points=st.lists(STEPS, unique=True).map(sorted), marked=st.lists(st.tuples(STEPS, st.sampled_from(OtherWork))))
def test_what_ran_beside_a_span_is_the_first_that_the_log_names_there(points, marked):
    spans, _ = spans_between([(step, float(clock)) for clock, step in enumerate(points)], other_work=marked)
    plain = [next((what for step, what in marked if begin <= step < end), None) for begin, end in pairwise(points)]
    assert [span.other_work for span in spans] == plain


@given(lines=st.lists(STEPS).map(sorted), evaluated=st.lists(STEPS))
def test_an_evaluation_ended_before_the_next_state_of_the_bar(lines, evaluated):
    bar = [BarState(line, place, len(lines), float(place)) for place, line in enumerate(lines)]
    plain = {next((place for place, state in enumerate(bar) if state.line > line), None) for line in evaluated}
    assert Console(evaluation_lines=evaluated).evaluations_in(bar) == plain - {None, 0}


def passes_of_litgpt(numbers: Iterable[int], *, each: int, first: int = 0) -> TrainerLog:
    """Return what is read of passes that last as many milliseconds as their number."""
    lines = [
        f"iter {first + n} step {-(-n // each)}: loss 2.0, iter time: {n}.0ms{' (step)' if n % each == 0 else ''}"
        for n in numbers
    ]
    source = LogSource(Path("a.log"), Path(), ("a.log",), lone=True, _texts={"a.log": "\n".join(lines)})
    (log,) = read_litgpt(source)
    return log


@given(each=st.integers(2, 4), lost=st.sets(st.integers(1, 40), max_size=20))
def test_steps_of_litgpt_count_where_all_their_passes_are_timed(each, lost):
    numbers = [n for n in range(1, 41) if n not in lost]
    steps = [range(n - each + 1, n + 1) for n in range(each, 41, each)]
    whole = [
        LogSpan(own[-1] // each - 1, own[-1] // each, sum(n / 1e3 for n in own)) for own in steps if not lost & {*own}
    ]
    log = passes_of_litgpt(numbers, each=each)
    assert log.doubts == (() if whole else (LAST_PASS,) if any(n % each == 0 for n in numbers) else ())
    if whole:
        assert log.spans == tuple(whole)


def test_steps_of_litgpt_of_more_passes_than_the_log_holds_are_timed_by_their_last():
    log = passes_of_litgpt(range(1, 21), each=1, first=900_000_000)
    assert (log.doubts, len(log.spans)) == ((LAST_PASS,), 20)
