"""Steps that grow longer over a log, and steps that merely scatter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.adapters.trainer_logs.steady_steps import steady
from planner.adapters.trainer_logs.trainer_log import LogSpan
from tests.adapters.trainer_logs.conftest import part, timed_steps


def spans(seconds: list[float]) -> list[LogSpan]:
    return [LogSpan(step, step + 1, second) for step, second in enumerate(seconds)]


@pytest.mark.parametrize(
    ("seconds", "drift"),
    [
        pytest.param([1.0] * 10 + [1.1] * 10 + [1.2] * 10, 1.2, id="throttling: 1.0 to 1.2 s"),
        pytest.param([1.25] * 10 + [1.1] * 10 + [1.0] * 10, 0.8, id="other load at the beginning"),
        pytest.param([1.0] * 30, None, id="even"),
        pytest.param([1.0, 1.4] * 15, None, id="scatter: unlike lengths"),
        pytest.param([1.0] * 5 + [1.2] * 5, None, id="ten steps tell no trend"),
    ],
)
def test_the_last_third_is_held_against_the_first(seconds, drift):
    assert steady(spans(seconds)).drift == (None if drift is None else pytest.approx(drift))


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=40), st.floats(0.01, 100))
def test_the_unit_of_time_changes_no_drift(seconds, scale):
    first, other = steady(spans(seconds)), steady(spans([second * scale for second in seconds]))
    assert (first.drift is None) == (other.drift is None)


def test_the_loop_that_really_slowed_down_is_told_by_its_log(read, logs):
    seconds = list(timed_steps("loop").values())[1:]  # without the first
    third = len(seconds) // 3
    really = sum(seconds[-third:]) / sum(seconds[:third])
    assert part(read(next((logs / "nanogpt").iterdir()))).drift == pytest.approx(really, rel=0.04)
