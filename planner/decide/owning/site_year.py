"""A year of work where the time of a training is not known: the site's own busy share, priced by the hour alone."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.ownership.owned_cost import annual_cost, busy_gpu_hours_per_year
from planner.cost.ownership.owned_money import full_price
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.machine_choices import upfront_usd
from planner.decide.owning.planned_year import YearAsked
from planner.decide.owning.verdict import recommended
from planner.decide.owning.year_option import (
    by_cost,
    cheapest,
    committed_to,
    counted_as,
    pay_as_you_go,
    reasons_against,
    with_chances,
    year_option,
)
from planner.decide.owning.yearly_break_even import break_even_by_hours
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.owning.hold import Hold
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.time_units import HOURS_PER_YEAR


def site_year(asked: YearAsked, rentals: Sequence[RentalOption]) -> PlannedYear:
    """Hold owning against the rents at the site's own busy share: USD of the hour x speed x busy hours of a year."""
    owned = asked.owned
    resolved, nodes, option = owned.resolved, owned.resolved.site.nodes, owned.option
    year = _in_full(resolved)
    own = year_option(asked.plan.currency, option, reasons_against(option), year=year)
    at_once = upfront_usd(resolved.inputs, nodes) if option.hold is Hold.BUY else None
    counted = {"nodes": nodes} | counted_as(option, resolved) | committed_to(asked.plan, at_once=at_once)
    if owned.as_bought is not None:
        counted |= {"usd_per_year_as_if_bought": _in_full(owned.as_bought)}
    own = own.model_copy(update=counted)
    by_id = {rental.id: rental for rental in rentals}
    rents = [_rented(asked, each, by_id[each.option.id], year) for each in asked.rented if each.option.id in by_id]
    options = sorted([own, *rents], key=by_cost)
    best = recommended(options, confidence=asked.plan.campaign.confidence)
    share = resolved.inputs.busy_fraction
    basis = resolved.quantities["busy_fraction"]
    return PlannedYear(
        counted_from=CountedFrom.SITE,
        counted="the site's own busy share: the time of a training is not known",
        trainings_wanted=None,
        trainings=None,
        hours_per_training=None,
        most_trainings=None,
        busy_hours=share * HOURS_PER_YEAR * resolved.inputs.availability,
        busy_fraction=basis,
        site_busy_fraction=share,
        usd_per_busy_gpu_hour=full_price(resolved),
        owning=own.id,
        recommended=best.id if best else None,
        cheapest_firm=cheapest([one for one in rents if one.firm]),
        pay_as_you_go=pay_as_you_go(rents),
        cheapest_rent=cheapest(rents),
        options=with_chances(options, own.id),
    )


def _in_full(resolved: ResolvedSite) -> Quantity:
    """Return what the whole site costs a year at its own busy share."""
    nodes = resolved.site.nodes
    value = resolved.range_of(lambda inputs: nodes * annual_cost(inputs).total)
    return to_quantity(value, Unit.USD_PER_YEAR, resolved.basis, f"{nodes} node(s), in full", resolved.as_of)


def _rented(asked: YearAsked, estimated: EstimatedOption, rental: RentalOption, own: Quantity) -> YearOption:
    resolved, rent = asked.owned.resolved, rental.usd_per_owned_gpu_hour
    option = estimated.option
    if rent is None:
        missing = year_option(asked.plan.currency, option, option.blocking_reasons)
        why, codes = rental.why_not, rental.why_not_codes
        return missing.model_copy(update={"why_not": missing.why_not or why, "why_not_codes": codes})
    hours = resolved.site.nodes * busy_gpu_hours_per_year(resolved.inputs)
    value = interval(rent, Unit.USD_PER_GPU_HOUR).scaled(hours)
    source = f"{hours:,.0f} busy accelerator-hours a year x {rent.value:.4g} USD; {rent.source}"
    year = derived(value, Unit.USD_PER_YEAR, rent, source=source)
    row = year_option(asked.plan.currency, option, estimated.limit_reasons, year=year, own=own)
    return row.model_copy(update={"break_even": break_even_by_hours(rental, resolved)})
