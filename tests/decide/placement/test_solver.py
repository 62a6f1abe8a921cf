"""Programs that the solver once got wrong."""

from __future__ import annotations

import pytest

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, SoldBlock, Way
from planner.decide.placement.solve import solve


def test_the_fastest_of_three_machines_that_share_a_pool():
    """Runs of 2, 1 and 3.5 h: one on the first and three on the second end at 3 h; with presolve 3.5 h was returned."""
    bins = (
        Bin(1, pool="site", usd_per_hour=3.0, least_hours=10.0),
        Bin(1, pool="site"),
        Bin(
            2,
            pool="site",
            usd_per_hour=3.0,
            blocks=tuple(SoldBlock(hours, hours - 0.5) for hours in (4.0, 8.0, 12.0, 24.0)),
        ),
    )
    ways = (
        Way(0, 0, 0, 2.0, 0.0, billed_hours=2.0), Way(0, 1, 1, 1.0, 4.0, billed_hours=1.0),
        Way(0, 2, 2, 3.5, 0.0, billed_hours=3.5),
    )  # fmt: skip
    options = (Option(fixed_usd=6.0), Option(fixed_usd=6.0), Option())
    asked = Instance((Group(4),), options, bins, ways, {"site": 3}, deadline=10.0)
    found = solve(asked, Objective.TIME, Effort(30))
    assert found is not None
    assert found.hours == pytest.approx(3.0)


def test_the_cheaper_of_equally_fast_plans_is_taken():
    """A run takes 2 h on either machine. A slower machine is no choice if time counts, even if it is free."""
    bins, options = (Bin(1), Bin(1), Bin(1)), (Option(), Option(), Option())
    ways = (Way(0, 0, 0, 2.0, 9.0), Way(0, 1, 1, 2.0, 4.0), Way(0, 2, 2, 3.0, 0.0))
    found = solve(Instance((Group(1),), options, bins, ways, {}), Objective.TIME, Effort(30))
    assert found is not None
    assert (found.hours, found.to_pay) == pytest.approx((2.0, 4.0))
    cheapest = solve(Instance((Group(1),), options, bins, ways, {}), Objective.COST, Effort(30))
    assert cheapest is not None
    assert (cheapest.hours, cheapest.to_pay) == pytest.approx((3.0, 0.0))


def test_the_faster_of_equally_cheap_plans_is_taken():
    ways = (Way(0, 0, 0, 5.0, 4.0), Way(0, 1, 1, 2.0, 4.0), Way(0, 2, 2, 1.0, 9.0))
    asked = Instance((Group(1),), (Option(), Option(), Option()), (Bin(1), Bin(1), Bin(1)), ways, {})
    found = solve(asked, Objective.COST, Effort(30))
    assert found is not None
    assert (found.hours, found.to_pay) == pytest.approx((2.0, 4.0))


def test_a_run_that_need_not_hurry_goes_where_it_is_cheap():
    """One run takes 10 h anyway. Three others take 2 h at 9 USD, or 5 h at 1 USD: two fit the cheap machine."""
    bins, options = (Bin(1), Bin(1), Bin(3)), (Option(), Option(), Option())
    ways = (Way(0, 0, 0, 10.0, 7.0), Way(1, 1, 1, 5.0, 1.0), Way(1, 2, 2, 2.0, 9.0))
    found = solve(Instance((Group(1), Group(3)), options, bins, ways, {}), Objective.TIME, Effort(30))
    assert found is not None
    assert (found.hours, found.to_pay) == pytest.approx((10.0, 7 + 2 * 1 + 9))
