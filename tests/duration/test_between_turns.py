"""Ends of equal runs between the turns of others: compared with lists of all ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.duration.between_turns import hours_between, longest_run
from planner.model.answer.campaign import BetweenTurns, FreeSets
from planner.model.quantity import Basis, Quantity, Unit

GAPS = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30), st.integers(1, 3)), min_size=0, max_size=4)


def between(runs: int, *free: tuple[float, float | None, int]) -> BetweenTurns:
    hours = Quantity(value=1.0, low=1.0, high=1.0, unit=Unit.HOURS, basis=Basis.ASSUMED, source="test")
    spans = tuple(FreeSets(opens=opens, closes=closes, sets=sets) for opens, closes, sets in free)
    return BetweenTurns(runs=runs, run_hours=hours, opens=0.0, free=spans)


@given(runs=st.integers(1, 8), hours=st.floats(0.5, 25.0), gaps=GAPS, last=st.integers(0, 60))
def test_runs_end_as_in_a_list_of_all_ends(runs, hours, gaps, last):
    """Set by set and gap by gap, every end that a gap holds; the last of the first `runs` ends counts."""
    free = [(float(opens), float(opens + length), sets) for opens, length, sets in gaps] + [(float(last), None, 1)]
    ends = sorted(
        opens + number * hours
        for opens, closes, sets in free
        for number in range(1, runs + 1)
        for _ in range(sets)
        if number * hours <= (math.inf if closes is None else closes) - opens + 1e-9
    )
    found = hours_between(between(runs, *free), np.array([hours]))[0]
    assert found == pytest.approx(ends[runs - 1], abs=1e-6)


EVENINGS = ((0.0, 18.0, 1), (25.0, 42.0, 1), (49.0, 66.0, 1), (73.0, None, 1))


@pytest.mark.parametrize(("end", "hours"), [(34.0, 9.0), (40.0, 9.0), (66.0, 17.0), (108.0, 17.5), (1.0, 1 / 3)])
def test_the_longest_run_of_which_three_end_in_time(end, hours):
    """Ends by 40 h: two of at most 9 h in the first gap, and a third; one in the first gap leaves two for 15 h."""
    assert longest_run(between(3, *EVENINGS), end) == pytest.approx(hours, abs=1e-6)


@pytest.mark.parametrize(("hours", "end"), [(9.0, 34.0), (17.0, 66.0), (17.5, 108.0), (18.5, 128.5)])
def test_three_runs_beside_three_evenings(hours, end):
    """Gaps of 18, 17 and 17 h, and all hours from 73 h on; runs of 9 h: two in the first gap, one in the second."""
    assert hours_between(between(3, *EVENINGS), np.array([hours]))[0] == pytest.approx(end, abs=1e-6)
