"""Cost of an option's part of a plan: its likely value, its range, and how it grows with the hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.cost_by_hours import price_range, rent_of_sets
from planner.decide.campaign.bills_by_hours import cost_by_hours
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.campaign.campaign_plan import Lane
from planner.decide.placement.candidate import PlacementCandidate
from planner.model.answer.campaign import CostByHours
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.interval import Interval


@dataclass(frozen=True)
class PlacedCost:
    """Cost of the runs that an option does."""

    usd: Quantity
    hourly_share: float
    """Share of `usd` that grows with the hours."""
    rent: CostByHours | None
    """Rent of each lane by its billed hours; None if the share grows with the hours of all lanes."""


def placed_cost(candidate: PlacementCandidate, lanes: Sequence[Lane], usd: float, *, confidence: float) -> PlacedCost:
    """Return the cost of an option's lanes, given the solver's cost.

    Its range is that of the rent of each lane, else of the bill of all runs, or of an owned machine's row.
    """
    option, estimated = candidate.alone, candidate.estimated
    runs = sum(lane.count for lane in lanes)
    work = sum(each.runs * each.work for lane in lanes for each in lane.runs) / runs
    together = BilledTrainings(runs, len(lanes), candidate.longer(1.0, confidence))
    billed = campaign_bill(estimated, together, (), share=work)
    bill = billed.usd if billed is not None else None
    rent = cost_by_hours(estimated, together, share=work, usd=bill, credits=())
    counted = bill if estimated.resolved is None else option.owed_usd  # what is kept is not on the bill of runs
    band, basis = Interval.exact(usd), Basis.MODELLED
    if counted is not None and counted.value > 0:
        band = Interval(usd, *(usd * end / counted.value for end in (counted.low, counted.high)))
        basis = counted.basis
    share = _share_by_launch(candidate, lanes, usd)
    if rent is not None and bill is not None:
        of_lanes = _rent_of_lanes(rent, lanes)
        if estimated.price_changes:  # the solver counts the mean price of all runs
            even = rent_of_sets(rent, {each * rent.run_hours: sets for each, sets in together.by_set.items()})
            usd = bill.value - even + of_lanes.value
        rest = usd - of_lanes.value
        band, share = Interval(usd, rest + of_lanes.low, rest + of_lanes.high), min(1.0, of_lanes.value / usd)
    source = f"{runs} runs on {len(lanes)} sets of machines of {option.id}"
    cost = Quantity(
        value=band.value, low=max(0.0, min(band)), high=max(band), unit=Unit.USD, basis=basis, source=source
    )  # fmt: skip
    return PlacedCost(cost, share, rent)


def _rent_of_lanes(rent: CostByHours, lanes: Sequence[Lane]) -> Interval:
    """Return the rent of all lanes, each for its own hours; its range is that of hours and prices."""
    hours = (Counter(lane.billed_hours[end] for lane in lanes) for end in range(3))
    return Interval(*(rent_of_sets(rent, each) for each in hours)).times(price_range(rent))


def _share_by_launch(candidate: PlacementCandidate, lanes: Sequence[Lane], usd: float) -> float:
    """Return the share of a cost that grows with the hours of all its runs: 0 of a block, a window or a service."""
    machine, costs = candidate.estimated.candidate, next(iter(candidate.costs.values()))
    if machine is None or machine.option.window is not None or costs.terms.blocks or usd <= 0:
        return 0.0
    added = sum(candidate.costs[each.work].run_usd * each.runs for lane in lanes for each in lane.runs)
    return min(1.0, added / usd)
