"""Runs on very many lanes: equal lanes are counted together, and some of them are simulated for all."""

from __future__ import annotations

import heapq

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.campaign.run_groups import Runs, longest_lane
from planner.decide.outcomes.play import MOST_LANES, side_by_side


def one_by_one(groups: list[Runs], lanes: int, startup: float) -> float:
    """Return the hours of the lane that ends last, with a queue of lanes: the longest run goes to the freest one."""
    free = [0.0] * min(lanes, sum(group.runs for group in groups))
    for group in sorted(groups, key=lambda group: -group.work):
        for _ in range(group.runs):
            heapq.heapreplace(free, free[0] + group.work + startup)
    return max(free)


def test_long_and_short_runs_on_two_lanes():
    """Three runs of 2 h and six of 1 h: 4 h and 2 h, then two short ones fill up to 4 h, and four more end at 6 h."""
    groups = [Runs("long", 3, 2.0), Runs("short", 6, 1.0)]
    assert longest_lane(groups, 2, hours=1.0, startup=0.0)[0] == 6.0


@given(
    runs=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    works=st.lists(st.integers(1, 30), min_size=4, max_size=4),
    lanes=st.integers(1, 60),
    startup=st.sampled_from([0.0, 0.5]),
)
def test_equal_lanes_are_as_lanes_one_by_one(runs, works, lanes, startup):
    groups = [Runs(str(place), many, float(works[place])) for place, many in enumerate(runs)]
    work, starts = longest_lane(groups, lanes, hours=1.0, startup=startup)
    assert work + starts * startup == pytest.approx(one_by_one(groups, lanes, startup))


def test_every_lane_that_a_plan_may_state_is_counted():
    groups = [Runs("long", 10**15, 2.0), Runs("short", 10**15 - 1, 1.0)]

    assert longest_lane(groups, 10**15, hours=1.0, startup=0.5) == (3.0, 2)


def test_the_lanes_with_the_most_runs_are_simulated_if_there_are_very_many():
    played = side_by_side(10**15 + 10, 10**15, steps_hours=1.0)

    assert len(played) == MOST_LANES
    assert [lane.batches[0].runs for lane in played[:11]] == [2] * 10 + [1]
