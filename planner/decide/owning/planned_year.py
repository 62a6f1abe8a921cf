"""A year of the plan's own trainings on the machine that is asked about, and on everything that the plan names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.cost.power.circuit import overloads
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.machine_choices import OwnedOption, upfront_usd
from planner.decide.owning.rented_row import rented_row
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
from planner.decide.owning.yearly_break_even import break_even
from planner.decide.owning.yearly_cost import RentedWork, owning_a_year
from planner.decide.owning.yearly_work import (
    YearlyWork,
    busy_fraction,
    gpu_hours_available,
    wanted_work,
    yearly_work,
)
from planner.model.answer.planned_year import PlannedYear, YearOption
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.owning.hold import Hold
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.time_units import HOURS_PER_YEAR


@dataclass(frozen=True)
class YearAsked:
    """A plan and what stands in it: the machine that is asked about, the other owned ones, what can be rented."""

    plan: Plan
    today: date
    owned: OwnedOption
    others: Sequence[OwnedOption]
    rented: Sequence[EstimatedOption]
    mean_work: float = 1.0
    """Of a run of the campaign, as a share of the plan's `work`."""

    @property
    def at_once(self) -> int:
        """Trainings side by side, as many as the machine runs: what is rented keeps its pace."""
        nodes = self.owned.option.nodes or 1
        return max(1, min(self.plan.campaign.side_by_side, self.owned.resolved.site.nodes // nodes))


def planned_year(asked: YearAsked) -> PlannedYear | None:
    """Hold owning against everything else at the hours that the plan's trainings take; None: those are not known."""
    owned = asked.owned
    wanted = wanted_work(asked.plan.campaign, today=asked.today, mean_work=asked.mean_work)
    work = yearly_work(wanted, owned.option, owned.resolved, other_use=owned.other_use)
    if work is None:
        return None
    own = _machine(asked, work)
    assert own.usd_per_year is not None
    rents = [_rented(asked, each, work, own.usd_per_year) for each in asked.rented]
    others = [_other_machine(asked, each, work, own.usd_per_year) for each in asked.others]
    options = sorted([own, *_one_of_each_site(asked, others), *rents], key=by_cost)
    best = recommended(options, confidence=asked.plan.campaign.confidence)
    share = busy_fraction(work, owned.resolved)
    return PlannedYear(
        counted_from=work.wanted.counted_from,
        counted=work.wanted.text,
        trainings_wanted=work.wanted.trainings,
        trainings=work.trainings,
        hours_per_training=work.hours,
        most_trainings=work.most,
        busy_hours=share.value * HOURS_PER_YEAR * owned.resolved.inputs.availability,
        busy_fraction=share,
        site_busy_fraction=owned.resolved.inputs.busy_fraction,
        usd_per_busy_gpu_hour=_per_busy_hour(own.usd_per_year, work),
        owning=own.id,
        recommended=best.id if best else None,
        cheapest_firm=cheapest([one for one in rents if one.firm]),
        pay_as_you_go=pay_as_you_go(rents),
        cheapest_rent=cheapest(rents),
        options=with_chances(options, own.id),
    )


def _one_of_each_site(asked: YearAsked, others: Sequence[YearOption]) -> list[YearOption]:
    """Return the cheapest row of each other site: options of one site are uses of one machine."""
    best: dict[str, YearOption] = {}
    sites = {other.option.id: other.resolved.site.id for other in asked.others}
    for other in sorted(others, key=by_cost):
        best.setdefault(sites[other.id], other)
    best.pop(asked.owned.resolved.site.id, None)
    return list(best.values())


def _machine(asked: YearAsked, work: YearlyWork) -> YearOption:
    """Return the machine that is asked about: the whole site."""
    owned = asked.owned
    nodes = owned.resolved.site.nodes
    return _owned(asked, owned, work, nodes=nodes, reasons=reasons_against(owned.option), own=None)


def _other_machine(asked: YearAsked, other: OwnedOption, work: YearlyWork, own: Quantity) -> YearOption:
    """Return another owned machine for the same trainings, of which as many nodes are had as they need."""
    same = replace(work.wanted, trainings=work.trainings)
    theirs = yearly_work(same, other.option, other.resolved, other_use=other.other_use)
    if theirs is None:
        return year_option(asked.plan.currency, other.option, other.option.blocking_reasons)
    each, nodes = other.option.nodes or 1, other.resolved.site.nodes
    reasons = list(other.option.not_allowed_reasons)
    if other.option.hold is not Hold.HAVE:
        sets = math.ceil(same.trainings * theirs.hours.value / _hours_available(other) - 1e-9)
        nodes = max(1, sets) * each
        theirs = replace(theirs, most=math.inf)
    elif theirs.most < same.trainings:
        text = f"it does at most {theirs.most:,.4g} of {same.trainings:,.4g} trainings a year"
        reasons.append(Reason(code=ReasonCode.TOO_SLOW_FOR_A_YEAR, text=text))
    reasons += overloads(other.resolved.site, other.node, nodes=nodes)
    return _owned(asked, other, theirs, nodes=nodes, reasons=tuple(reasons), own=own)


def _owned(
    asked: YearAsked,
    owned: OwnedOption,
    work: YearlyWork,
    *,
    nodes: int,
    reasons: Sequence[Reason],
    own: Quantity | None,
) -> YearOption:
    year = owning_a_year(owned.resolved, work, nodes=nodes)
    at_once = upfront_usd(owned.resolved.inputs, nodes) if owned.option.hold is Hold.BUY else None
    row = year_option(asked.plan.currency, owned.option, reasons, year=year, own=own)
    counted = {"nodes": nodes} | counted_as(owned.option, owned.resolved) | committed_to(asked.plan, at_once=at_once)
    if owned.as_bought is not None:
        counted |= {"usd_per_year_as_if_bought": owning_a_year(owned.as_bought, work, nodes=nodes)}
    return row.model_copy(update=counted)


def _rented(asked: YearAsked, estimated: EstimatedOption, work: YearlyWork, own: Quantity) -> YearOption:
    rented = RentedWork(work.trainings, asked.at_once, asked.plan.campaign.confidence, mean_work=work.wanted.mean_work)
    row = rented_row(asked.plan, estimated, rented, today=asked.today, own=own)
    if row.usd_per_year is None or row.why_not is not None:
        return row
    even = break_even(work, asked.owned.resolved, estimated, rented)
    return row.model_copy(update={"break_even": even})


def _per_busy_hour(year: Quantity, work: YearlyWork) -> Quantity:
    hours = work.gpu_hours()
    value = interval(year, Unit.USD_PER_YEAR).scaled(1 / hours)
    source = f"{year.value:,.0f} USD a year / {hours:,.0f} accelerator-hours at work; {year.source}"
    return derived(value, Unit.USD_PER_GPU_HOUR, year, source=source)


def _hours_available(owned: OwnedOption) -> float:
    inputs = owned.resolved.inputs
    return gpu_hours_available(inputs, nodes=1) / inputs.gpus * (1 - owned.other_use)
