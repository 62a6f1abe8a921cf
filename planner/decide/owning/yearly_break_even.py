"""From how many trainings a year on owning costs no more than renting them."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.yearly_cost import RentedWork, owning_usd, rented_a_year
from planner.decide.owning.yearly_work import YearlyWork, gpu_hours_available
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import BreakEven
from planner.quantity.recorded_number import unrecorded


def break_even(
    work: YearlyWork, resolved: ResolvedSite, estimated: EstimatedOption, rented: RentedWork
) -> BreakEven | None:
    """Return the fewest trainings a year at which owning costs no more than their bill; None: it never does.

    By bisection over whole numbers up to the most that the machine can do, each billed as the campaign's are: what
    is bought by the day or kept by the month costs less a training when there are more of them.
    """

    def owning_is_cheaper(trainings: int) -> bool:
        hours = trainings * work.hours.value * work.accelerators
        cost = rented_a_year(estimated, replace(rented, trainings=trainings))
        own = owning_usd(resolved.inputs, nodes=resolved.site.nodes, gpu_hours=hours, other_use=work.other_use)
        return cost is not None and own <= cost.usd_per_year.value

    too_few, enough = 0, math.floor(work.most)
    with unrecorded():
        if enough < 1 or not owning_is_cheaper(enough):
            return None
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            too_few, enough = (too_few, middle) if owning_is_cheaper(middle) else (middle, enough)
    hours = enough * work.hours.value * work.accelerators
    share = hours / gpu_hours_available(resolved.inputs, nodes=resolved.site.nodes)
    return _of_share(share, resolved, trainings=enough)


def break_even_by_hours(rental: RentalOption, resolved: ResolvedSite) -> BreakEven | None:
    """Return the break-even by the price of the hour alone: the time of a training is not known."""
    share = rental.break_even_utilisation
    return None if share is None else _of_share(share.value, resolved, trainings=None)


def _of_share(share: float, resolved: ResolvedSite, *, trainings: int | None) -> BreakEven:
    hours = share * gpu_hours_available(resolved.inputs, nodes=1) / resolved.inputs.gpus
    return BreakEven(trainings_per_year=trainings, busy_fraction=share, busy_hours_per_year=hours)
