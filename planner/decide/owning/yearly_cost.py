"""Cost a year of trainings on an owned or a rented machine, and find how many of them make owning pay."""

from __future__ import annotations

import math
from dataclasses import replace

from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.yearly_work import YearlyWork, gpu_hours_available
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import BreakEven
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import formula, smallest
from planner.quantity.recorded_number import unrecorded
from planner.quantity.spread import Swing, combined
from planner.quantity.time_units import HOURS_PER_YEAR


@formula("USD/year")
def owning_usd(inputs: OwnedInputs, *, nodes: int, gpu_hours: float, other_use: float = 0.0) -> float:
    """Return the USD a year of a site whose accelerators work `gpu_hours` for us.

    USD  = nodes x annual cost at the busy share x (1 - other use): others bear the share of the hours that they use
    busy = accelerator-hours / (1 - other use) / (nodes x GPUs x 8,766), at most the availability: only hours at work
           draw the power of a training
    """
    ours = 1 - other_use
    busy = smallest(inputs.availability, gpu_hours / ours / (nodes * inputs.gpus * HOURS_PER_YEAR))
    return nodes * annual_cost(replace(inputs, busy_fraction=busy)).total * ours


def owning_a_year(resolved: ResolvedSite, work: YearlyWork, *, nodes: int) -> Quantity:
    """Return the full yearly cost of the site with the year's trainings on it, with its range."""

    def usd(inputs: OwnedInputs, hours: float | None = None) -> float:
        return owning_usd(inputs, nodes=nodes, gpu_hours=work.gpu_hours(hours), other_use=work.other_use)

    others = {name: quantity for name, quantity in resolved.quantities.items() if name != "busy_fraction"}
    moves = replace(resolved, quantities=others).swings(usd)
    moves.append(Swing("hours", usd(resolved.inputs, work.hours.low), usd(resolved.inputs, work.hours.high)))
    value = combined(usd(resolved.inputs), moves)
    source = (
        f"{nodes} node(s), in full, {work.trainings:.4g} trainings x {work.hours.value:.4g} h a year; site "
        f"{resolved.site.id}: {resolved.site.source}"
    )
    return to_quantity(value, Unit.USD_PER_YEAR, resolved.basis, source, resolved.as_of)


def rented_a_year(
    estimated: EstimatedOption, *, trainings: float, at_once: int, confidence: float
) -> tuple[Quantity, Billed] | None:
    """Return the yearly bill of trainings on a rented option, and the bill behind it; None if unknown.

    USD = bill of all trainings in the years of its term (1 without a longer term) / those years

    The bill is that of a campaign. A number of trainings that is not whole is rounded, and its bill scaled. Blocks are
    long enough for the trainings with the confidence.
    """
    terms = estimated.rates.terms if estimated.rates is not None else None
    years = max(1, round(terms.minimum_hours / HOURS_PER_YEAR)) if terms is not None and terms.once else 1
    runs = max(1, round(trainings * years))
    longer = 1.0
    if estimated.rates is not None and estimated.rates.terms.blocks:
        from planner.decide.outcomes.option_outcomes import TimedOption  # with numpy: few options are blocks

        longer = TimedOption.of(estimated.option).longer(confidence, runs=runs, at_once=at_once)
    billed = campaign_bill(estimated, BilledTrainings(trainings=runs, at_once=at_once, longer=longer), ())
    if billed is None:
        return None
    usd = billed.usd
    value = interval(usd, Unit.USD).scaled(trainings / runs)
    term = f" in {years} years, / {years}" if years > 1 else ""
    source = f"{usd.value:,.2f} USD of {runs} trainings{term}; {usd.source}"
    return derived(value, Unit.USD_PER_YEAR, usd, source=source), billed


def break_even(
    work: YearlyWork, resolved: ResolvedSite, estimated: EstimatedOption, *, at_once: int, confidence: float
) -> BreakEven | None:
    """Return the fewest trainings a year at which owning costs no more than their bill; None if it always costs more.

    Found by bisection up to the most trainings that the machine can do. Each number is billed as a campaign, because
    hours that are bought by the day or kept by the month cost less per training if there are more trainings.
    """

    def owning_is_cheaper(trainings: int) -> bool:
        hours = trainings * work.hours.value * work.accelerators
        rented = rented_a_year(estimated, trainings=trainings, at_once=at_once, confidence=confidence)
        own = owning_usd(resolved.inputs, nodes=resolved.site.nodes, gpu_hours=hours, other_use=work.other_use)
        return rented is not None and own <= rented[0].value

    too_few, enough = 0, math.floor(work.most)
    with unrecorded():
        if enough < 1 or not owning_is_cheaper(enough):
            return None
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            too_few, enough = (too_few, middle) if owning_is_cheaper(middle) else (middle, enough)
    hours = enough * work.hours.value * work.accelerators
    share = hours / gpu_hours_available(resolved.inputs, nodes=resolved.site.nodes)
    return _at_share(share, resolved, trainings=enough)


def break_even_by_hours(rental: RentalOption, resolved: ResolvedSite) -> BreakEven | None:
    """Return the break-even by the price of the hour alone, if the time of a training is unknown."""
    share = rental.break_even_utilisation
    return None if share is None else _at_share(share.value, resolved, trainings=None)


def _at_share(share: float, resolved: ResolvedSite, *, trainings: int | None) -> BreakEven:
    hours = share * gpu_hours_available(resolved.inputs, nodes=1) / resolved.inputs.gpus
    return BreakEven(trainings_per_year=trainings, busy_fraction=share, busy_hours_per_year=hours)
