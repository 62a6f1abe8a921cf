"""What a year of trainings costs on an owned machine in full, and what it is billed where it is rented."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.campaign.campaign_hours import campaign_hours, confident_hours
from planner.decide.campaign.run_groups import ALL_RUNS, Runs
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.yearly_work import YearlyWork
from planner.model.answer.bill import Bill
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import formula, smallest
from planner.quantity.spread import Swing, combined
from planner.quantity.time_units import HOURS_PER_YEAR


@formula("USD/year")
def owning_usd(inputs: OwnedInputs, *, nodes: int, gpu_hours: float, other_use: float = 0.0) -> float:
    """USD a year of a site whose accelerators work so many hours for us.

    USD  = nodes x annual cost at the busy share x (1 - other use): others bear the share of the hours that they use
    busy = accelerator-hours / (1 - other use) / (nodes x GPUs x 8,766), at most the availability: hours at work draw
           the power of a training, and no others do
    """
    ours = 1 - other_use
    busy = smallest(inputs.availability, gpu_hours / ours / (nodes * inputs.gpus * HOURS_PER_YEAR))
    return nodes * annual_cost(replace(inputs, busy_fraction=busy)).total * ours


def owning_a_year(resolved: ResolvedSite, work: YearlyWork, *, nodes: int) -> Quantity:
    """Return what the site costs a year in full with the year's trainings on it, with its range."""

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
    """A year's runs, as a campaign of them would be rented."""

    trainings: float
    """In the plan's whole work."""
    at_once: int
    """Runs side by side at least; more where a year has fewer hours than they take."""
    confidence: float
    """With which what is paid ahead holds the runs."""
    mean_work: float = 1.0
    """Of a run, as a share of the plan's work."""


@dataclass(frozen=True)
class RentedCost:
    """What a year's runs cost where they are rented."""

    usd_per_year: Quantity
    bill: Bill
    committed_usd: float | None
    """What is paid whether it is used or not: all of a term or of blocks. None: the hours are paid as they are used."""
    longer: float
    """Factor on the likely hours that the runs may take with the confidence, where these are bought ahead."""
    hours: float
    """Of all runs with that factor."""


def rented_a_year(estimated: EstimatedOption, work: RentedWork) -> RentedCost | None:
    """Return what a year's runs are billed, as a campaign of them would be; None: not known.

    USD = bill of all runs in the years of its term (1 without a longer one) / those years

    Of a number of runs that is not whole, the next whole one is billed and its bill scaled, but for what is paid ahead.
    Blocks hold the runs with the confidence, as those of a campaign do.
    """
    years, rates = _term_years(estimated), estimated.rates
    wanted = work.trainings / work.mean_work * years
    ahead = rates is not None and rates.terms.once and not rates.committed
    runs = max(1, math.ceil(wanted - 1e-9) if ahead else round(wanted))
    billed_work, hours = _billed_work(estimated, work, runs, years)
    billed = campaign_bill(estimated, billed_work, (), share=work.mean_work)
    if billed is None:
        return None
    usd = billed.usd
    value = interval(usd, Unit.USD).scaled(1 / years if ahead else wanted / years / runs)
    term = f" in {years} years, / {years}" if years > 1 else ""
    source = f"{usd.value:,.2f} USD of {runs} trainings{term}; {usd.source}"
    return RentedCost(
        derived(value, Unit.USD_PER_YEAR, usd, source=source),
        billed.bill,
        _committed_usd(rates, billed, billed_work.sets) if rates is not None and ahead else None,
        billed_work.longer,
        hours,
    )


def _billed_work(estimated: EstimatedOption, work: RentedWork, runs: int, years: int) -> tuple[BilledTrainings, float]:
    """Return the runs as they are billed, and the hours in which they are done."""
    groups = (Runs(ALL_RUNS, runs, work.mean_work),)
    alone = campaign_hours(estimated, groups, 1, runs)
    if alone is None:
        return BilledTrainings(trainings=runs, at_once=work.at_once), 0.0
    at_once = max(work.at_once, math.ceil(alone.value / (years * HOURS_PER_YEAR)))
    hours = campaign_hours(estimated, groups, at_once, runs)
    assert hours is not None, "those of one after another are known"
    surely = hours.value
    if _is_limited(estimated):
        surely = confident_hours(estimated.option, hours, work.confidence, runs=runs, at_once=at_once)
    longer = surely / hours.value if surely > 0 else 1.0
    return BilledTrainings(trainings=runs, at_once=at_once, longer=longer), surely


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


def _term_years(estimated: EstimatedOption) -> int:
    """Return over how many years a term is spread, which is paid once."""
    terms = estimated.rates.terms if estimated.rates is not None else None
    if terms is None or not terms.once:
        return 1
    return max(1, round(terms.minimum_hours / HOURS_PER_YEAR))
