"""Cost a year of the plan's trainings on the machine in question, and on everything else that the plan names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.ownership.owed_anyway import is_owed
from planner.cost.ownership.owned_cost import annual_cost, busy_gpu_hours_per_year
from planner.cost.ownership.owned_money import full_price
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.cost.power.circuit import overloads
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.machine_choices import OwnedOption, upfront_usd
from planner.decide.owning.rented_row import rented_row
from planner.decide.owning.verdict import recommended
from planner.decide.owning.year_option import by_cost, cheapest, committed_to, pay_as_you_go, with_chances, year_option
from planner.decide.owning.yearly_cost import RentedWork, break_even, break_even_by_hours, owning_a_year
from planner.decide.owning.yearly_work import YearlyWork, busy_fraction, gpu_hours_available, wanted_work, yearly_work
from planner.model.answer.own_or_rent import RentalOption
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.time_units import HOURS_PER_YEAR


@dataclass(frozen=True)
class YearAsked:
    """A plan with the machine in question, its other owned machines, and its options to rent."""

    plan: Plan
    today: date
    owned: OwnedOption
    others: Sequence[OwnedOption]
    rented: Sequence[EstimatedOption]
    rentals: tuple[RentalOption, ...]
    """Comparison of the machine with each rented option by the hour."""
    mean_work: float = 1.0
    """Mean work of a run of the campaign, as a share of the plan's `work`."""

    @property
    def at_once(self) -> int:
        """Return how many trainings run side by side: as many as on the machine, so that rented ones keep its pace."""
        nodes = self.owned.option.nodes or 1
        return max(1, min(self.plan.campaign.side_by_side, self.owned.resolved.site.nodes // nodes))


def planned_year(question: YearAsked) -> PlannedYear:
    """Compare owning with everything else over the hours that the year's trainings take.

    If the time of a training is unknown, compare it with the rents at the site's own busy share:
    USD of the hour x speed x busy hours of a year.
    """
    owned = question.owned
    resolved, nodes = owned.resolved, owned.resolved.site.nodes
    wanted = wanted_work(question.plan.campaign, today=question.today, mean_work=question.mean_work)
    work = yearly_work(wanted, owned.option, resolved, other_use=owned.other_use)
    if work is None:
        year = _at_its_busy_share(resolved)
        as_bought = None if owned.as_bought is None else _at_its_busy_share(owned.as_bought)
        share, per_hour = resolved.quantities["busy_fraction"], full_price(resolved)
        counted_from, counted = CountedFrom.SITE, "the site's own busy share: the time of a training is not known"
        by_id = {rental.id: rental for rental in question.rentals}
        rents = [
            _rented_by_hour(question, each, by_id[each.option.id], year)
            for each in question.rented
            if each.option.id in by_id
        ]
        others: list[YearOption] = []
    else:
        year = owning_a_year(resolved, work, nodes=nodes)
        as_bought = None if owned.as_bought is None else owning_a_year(owned.as_bought, work, nodes=nodes)
        share, per_hour = busy_fraction(work, resolved), _per_busy_hour(year, work)
        counted_from, counted = work.wanted.counted_from, work.wanted.text
        rents = [_rented(question, each, work, year) for each in question.rented]
        others = _one_of_each_site(question, [_other_machine(question, other, work, year) for other in question.others])
    blocking = owned.option.blocking_reasons if owned.option.fits is False else ()
    reasons = (*blocking, *owned.option.not_allowed_reasons)
    own = _owned(question, owned, year, nodes=nodes, reasons=reasons, own=None, as_bought=as_bought)
    options = sorted([own, *others, *rents], key=by_cost)
    best = recommended(options, confidence=question.plan.campaign.confidence)
    return PlannedYear(
        counted_from=counted_from,
        counted=counted,
        trainings_wanted=work.wanted.trainings if work else None,
        trainings=work.trainings if work else None,
        hours_per_training=work.hours if work else None,
        most_trainings=work.most if work else None,
        busy_hours=share.value * HOURS_PER_YEAR * resolved.inputs.availability,
        busy_fraction=share,
        site_busy_fraction=resolved.inputs.busy_fraction,
        usd_per_busy_gpu_hour=per_hour,
        owning=own.id,
        recommended=best.id if best else None,
        cheapest_firm=cheapest([rent for rent in rents if rent.firm]),
        pay_as_you_go=pay_as_you_go(rents),
        cheapest_rent=cheapest(rents),
        options=with_chances(options, own.id),
    )


def _at_its_busy_share(resolved: ResolvedSite) -> Quantity:
    """Return the yearly cost of the whole site at its own busy share."""
    nodes = resolved.site.nodes
    in_full = resolved.range_of(lambda inputs: nodes * annual_cost(inputs).total)
    return to_quantity(in_full, Unit.USD_PER_YEAR, resolved.basis, f"{nodes} node(s), in full", resolved.as_of)


def _one_of_each_site(question: YearAsked, rows: Sequence[YearOption]) -> list[YearOption]:
    """Return the cheapest row of each other site. Options of one site are uses of the same machine."""
    best: dict[str, YearOption] = {}
    sites = {other.option.id: other.resolved.site.id for other in question.others}
    for row in sorted(rows, key=by_cost):
        best.setdefault(sites[row.id], row)
    best.pop(question.owned.resolved.site.id, None)
    return list(best.values())


def _other_machine(question: YearAsked, other: OwnedOption, work: YearlyWork, own: Quantity) -> YearOption:
    """Return another owned machine that does the same trainings, with as many nodes as they need if not yet bought."""
    same = replace(work.wanted, trainings=work.trainings)
    other_work = yearly_work(same, other.option, other.resolved, other_use=other.other_use)
    if other_work is None:
        return year_option(question.plan.currency, other.option, other.option.blocking_reasons)
    nodes, reasons = other.resolved.site.nodes, list(other.option.not_allowed_reasons)
    if other.option.hold is not Hold.HAVE:
        inputs = other.resolved.inputs
        available = gpu_hours_available(inputs, nodes=1) / inputs.gpus * (1 - other.other_use)
        sets = math.ceil(same.trainings * other_work.hours.value / available - 1e-9)
        nodes = max(1, sets) * (other.option.nodes or 1)
        other_work = replace(other_work, most=math.inf)
    elif other_work.most < same.trainings:
        text = f"it does at most {other_work.most:,.4g} of {same.trainings:,.4g} trainings a year"
        reasons.append(Reason(code=ReasonCode.TOO_SLOW_FOR_A_YEAR, text=text))
    reasons += overloads(other.resolved.site, other.node, nodes=nodes)
    year = owning_a_year(other.resolved, other_work, nodes=nodes)
    as_bought = owning_a_year(other.as_bought, other_work, nodes=nodes) if other.as_bought is not None else None
    return _owned(question, other, year, nodes=nodes, reasons=reasons, own=own, as_bought=as_bought)


def _owned(
    question: YearAsked, owned: OwnedOption, year: Quantity, *, nodes: int, reasons: Sequence[Reason],
    own: Quantity | None, as_bought: Quantity | None,
) -> YearOption:  # fmt: skip
    """Return the row of an owned machine, with how its capital counts and what it takes at once."""
    option, resolved = owned.option, owned.resolved
    is_owned, resale = option.hold is Hold.HAVE, resolved.quantities.get("resale_usd")
    at_once = upfront_usd(resolved.inputs, nodes) if option.hold is Hold.BUY else None
    shares_a_node = option.accelerators != owned.node.accelerators * (option.nodes or 1)
    sets = 1 if is_owned and shares_a_node else nodes // (option.nodes or 1)
    return year_option(question.plan.currency, option, reasons, year=year, own=own, sets=sets).model_copy(
        update={
            "nodes": nodes,
            "usd_per_year_as_if_bought": as_bought,
            "resale_not_counted": is_owned and resale is not None and resale.high == 0,
            "lease_owed": is_owed(resolved, option.hold),
        }
        | committed_to(question.plan, at_once=at_once)
    )


def _rented(question: YearAsked, estimated: EstimatedOption, work: YearlyWork, own: Quantity) -> YearOption:
    """Return the row of a rented option at the bill of the year's trainings."""
    confidence = question.plan.campaign.confidence
    rented = RentedWork(work.trainings, question.at_once, confidence, mean_work=work.wanted.mean_work)
    row = rented_row(question.plan, estimated, rented, today=question.today, own=own)
    if row.usd_per_year is None or row.why_not is not None:
        return row
    return row.model_copy(update={"break_even": break_even(work, question.owned.resolved, estimated, rented)})


def _rented_by_hour(question: YearAsked, estimated: EstimatedOption, rental: RentalOption, own: Quantity) -> YearOption:
    """Return the row of a rented option at the price of the owned machine's busy hours."""
    resolved, rent, option = question.owned.resolved, rental.usd_per_owned_gpu_hour, estimated.option
    if rent is None:
        unknown = year_option(question.plan.currency, option, option.blocking_reasons)
        why, codes = unknown.why_not or rental.why_not, rental.why_not_codes
        return unknown.model_copy(update={"why_not": why, "why_not_codes": codes})
    hours = resolved.site.nodes * busy_gpu_hours_per_year(resolved.inputs)
    source = f"{hours:,.0f} busy accelerator-hours a year x {rent.value:.4g} USD; {rent.source}"
    value = interval(rent, Unit.USD_PER_GPU_HOUR).scaled(hours)
    year = derived(value, Unit.USD_PER_YEAR, rent, source=source)
    row = year_option(question.plan.currency, option, estimated.limit_reasons, year=year, own=own)
    return row.model_copy(update={"break_even": break_even_by_hours(rental, resolved)})


def _per_busy_hour(year: Quantity, work: YearlyWork) -> Quantity:
    hours = work.gpu_hours()
    value = interval(year, Unit.USD_PER_YEAR).scaled(1 / hours)
    source = f"{year.value:,.0f} USD a year / {hours:,.0f} accelerator-hours at work; {year.source}"
    return derived(value, Unit.USD_PER_GPU_HOUR, year, source=source)
