"""What a year of trainings costs on an owned machine in full, and what it is billed where it is rented."""

from __future__ import annotations

from dataclasses import replace

from planner.cost.cloud.bill import Billed, BilledTrainings
from planner.cost.ownership.owned_cost import OwnedInputs, annual_cost
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.campaign.campaign_bill import campaign_bill
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.yearly_work import YearlyWork
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


def rented_a_year(
    estimated: EstimatedOption, *, trainings: float, at_once: int, confidence: float
) -> tuple[Quantity, Billed] | None:
    """Return what a year's trainings are billed, as a campaign of them would be, and that bill; None: not known.

    USD = bill of all trainings in the years of its term (1 without a longer one) / those years

    Of a number of trainings that is not whole, the next whole one is billed and its bill scaled. Blocks hold the
    trainings with the confidence.
    """
    years = _term_years(estimated)
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


def _term_years(estimated: EstimatedOption) -> int:
    """Return over how many years a term is spread, which is paid once."""
    terms = estimated.rates.terms if estimated.rates is not None else None
    if terms is None or not terms.once:
        return 1
    return max(1, round(terms.minimum_hours / HOURS_PER_YEAR))
