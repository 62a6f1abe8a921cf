"""Cost a year of trainings on an owned or a rented machine, and find how many of them make owning pay."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.yearly_work import YearlyWork, gpu_hours_available
from planner.model.answer.bill import Bill
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import BreakEven
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import formula, smallest
from planner.quantity.recorded_number import unrecorded
from planner.quantity.spread import Swing, combined
from planner.quantity.time_units import HOURS_PER_YEAR


@formula("USD/year")
def owning_usd(inputs: OwnedInputs, *, nodes: int, gpu_hours: float, other_use: float = 0.0) -> float:
    """Return the yearly cost of a site whose accelerators work a number of hours for us.

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


@dataclass(frozen=True)
class RentedWork:
    """A year's runs to be rented, as those of a campaign."""

    trainings: float
    """Trainings of the plan's whole work."""
    at_once: int
    """Smallest number of runs side by side. More run so if the year would not hold them otherwise."""
    confidence: float
    """Chance with which prepaid hours hold the runs."""
    mean_work: float = 1.0
    """Mean work of a run, as a share of the plan's whole work."""


@dataclass(frozen=True)
class RentedYear:
    """Cost and hours of a year's runs on a rented option."""

    usd_per_year: Quantity
    bill: Bill
    committed_usd: float | None
    """Amount that is paid even if the hours are not used; None if they are paid as they are used."""
    longer: float
    """Factor on the likely hours that the runs keep with the confidence, if the hours are limited."""
    hours: float
    """Hours until the last run ends, with that factor."""
    sets: int
    """Sets of machines that work at the same time."""


def rented_a_year(estimated: EstimatedOption, work: RentedWork) -> RentedYear | None:
    """Return the yearly bill of a year's runs on a rented option; None if unknown.

    USD = bill of all runs in the years of its term (1 without a longer term) / those years

    The bill is that of a campaign. A number of runs that is not whole is rounded, and its bill scaled; for prepaid
    hours it is rounded up, and not scaled. Blocks are long enough for the runs with the confidence.
    """
    rates, time = estimated.rates, estimated.option.time
    prepaid = rates is not None and rates.terms.once and not rates.committed
    years = max(1, round(rates.terms.minimum_hours / HOURS_PER_YEAR)) if rates is not None and rates.terms.once else 1
    wanted = work.trainings / work.mean_work * years
    runs = max(1, math.ceil(wanted - 1e-9) if prepaid else round(wanted))
    launch = time.launch_hours.value if time is not None and time.launch_hours is not None else 0.0
    each = time.wall_hours.value * work.mean_work + launch if time is not None else 0.0
    at_once = max(work.at_once, math.ceil(runs * each / (years * HOURS_PER_YEAR) - 1e-9))
    longer = 1.0
    if _is_limited(estimated):
        from planner.decide.outcomes.option_outcomes import TimedOption  # with numpy: few options are limited

        timed = TimedOption.of(estimated.option)
        longer = timed.longer(work.confidence, runs=runs, at_once=at_once, share=work.mean_work)
    billed_work = BilledTrainings(trainings=runs, at_once=at_once, longer=longer)
    billed = campaign_bill(estimated, billed_work, (), share=work.mean_work)
    if billed is None:
        return None
    usd = billed.usd
    value = interval(usd, Unit.USD).scaled(1 / years if prepaid else wanted / years / runs)
    term = f" in {years} years, / {years}" if years > 1 else ""
    source = f"{usd.value:,.2f} USD of {runs} trainings{term}; {usd.source}"
    return RentedYear(
        derived(value, Unit.USD_PER_YEAR, usd, source=source),
        billed.bill,
        _committed_usd(rates, billed, billed_work.sets) if rates is not None and prepaid else None,
        longer,
        longer * each * billed_work.waves,
        billed_work.sets,
    )


def _is_limited(estimated: EstimatedOption) -> bool:
    """Return whether the machine is gone after the hours that are bought or granted."""
    rates, price = estimated.rates, estimated.price
    granted = price is not None and (price.node_hours_limit is not None or price.price_kind is PriceKind.GRANT)
    return granted or (rates is not None and rates.terms.ends)


def _committed_usd(rates: BillRates, billed: Billed, sets: int) -> float:
    """Return what is paid for the term itself, or for the blocks that hold the work.

    USD of a term = sets of machines x nodes x hours of the term x price
    """
    if rates.terms.ends:
        return billed.bought.value if billed.bought is not None else billed.usd.value
    return sets * rates.nodes * rates.terms.minimum_hours * rates.price.value


def break_even(
    work: YearlyWork, resolved: ResolvedSite, estimated: EstimatedOption, rented: RentedWork
) -> BreakEven | None:
    """Return the fewest trainings a year at which owning costs no more than their bill; None if it always costs more.

    Found by bisection up to the most trainings that the machine can do. Each number is billed as a campaign, because
    hours that are bought by the day or kept by the month cost less per training if there are more trainings.
    """

    def owning_is_cheaper(trainings: int) -> bool:
        hours = trainings * work.hours.value * work.accelerators
        year = rented_a_year(estimated, replace(rented, trainings=trainings))
        own = owning_usd(resolved.inputs, nodes=resolved.site.nodes, gpu_hours=hours, other_use=work.other_use)
        return year is not None and own <= year.usd_per_year.value

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
