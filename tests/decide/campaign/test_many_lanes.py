"""Runs on very many lanes: equal lanes are counted together, and some of them are simulated for all."""

from __future__ import annotations

import pytest

from planner.decide.campaign.run_groups import Runs, longest_lane
from planner.decide.outcomes.play import MOST_LANES, side_by_side


def one_by_one(groups: list[Runs], lanes: int) -> float:
    """Return the load of the lane that ends last: of each group all lanes have as many, the freest ones one more."""
    loads = [0.0] * min(lanes, sum(group.runs for group in groups))
    for group in groups:
        each, more = divmod(group.runs, len(loads))
        loads = [load + (each + (place < more)) * group.work for place, load in enumerate(sorted(loads))]
    return max(loads)


@pytest.mark.parametrize("lanes", [1, 2, 3, 7, 20, 50])
@pytest.mark.parametrize("runs", [(1,), (7, 3), (5, 11, 2), (1, 1, 30)])
def test_lanes_that_are_alike_are_as_lanes_one_by_one(lanes, runs):
    groups = [Runs(str(place), many, 4.0 / 2**place) for place, many in enumerate(runs)]

    work, _ = longest_lane(groups, lanes, hours=1.0, startup=0.0)

    assert work == one_by_one(groups, lanes)


def test_every_lane_that_a_plan_may_state_is_counted():
    groups = [Runs("long", 10**15, 2.0), Runs("short", 10**15 - 1, 1.0)]

    assert longest_lane(groups, 10**15, hours=1.0, startup=0.5) == (3.0, 2)


def test_the_lanes_with_the_most_runs_are_simulated_if_there_are_very_many():
    played = side_by_side(10**15 + 10, 10**15, steps_hours=1.0)

    assert len(played) == MOST_LANES
    assert [lane.batches[0].runs for lane in played[:11]] == [2] * 10 + [1]
