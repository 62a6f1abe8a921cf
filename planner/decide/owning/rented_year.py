"""A year of a plan's trainings where nothing is owned: a term that is paid ahead, against paying as one goes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.decide.options.option import EstimatedOption
from planner.decide.owning.owning_sentence import takes
from planner.decide.owning.rented_row import rented_row
from planner.decide.owning.verdict import recommended
from planner.decide.owning.year_option import pay_as_you_go
from planner.decide.owning.yearly_cost import RentedWork, rented_a_year
from planner.decide.recommend.headline import VERBS
from planner.decide.recommend.phrases import Phrases
from planner.model.answer.planned_year import YearOption
from planner.model.plan.plan import Plan
from planner.quantity.time_units import HOURS_PER_YEAR


@dataclass(frozen=True)
class RentedYear:
    """What to rent for a year's trainings, and from how many of them on each term pays."""

    sentence: str
    best: YearOption | None
    notes: tuple[str, ...] = ()


def rented_year(plan: Plan, estimated: Sequence[EstimatedOption], *, today: date) -> RentedYear | None:
    """Return what to rent for `campaign.runs_per_year` trainings: all of a term is paid, used or not.

    None where the plan does not say how many there are, or lists no term that is still to be paid.
    """
    trainings = plan.campaign.runs_per_year
    rents = {each.option.id: each for each in estimated if each.option.site is None}
    terms = [each for each in rents.values() if _is_term(each)]
    if trainings is None or not terms:
        return None
    work = _work(plan, trainings)
    rows = {name: rented_row(plan, each, work, today=today) for name, each in rents.items()}
    best = recommended(list(rows.values()), confidence=plan.campaign.confidence)
    if best is None or best.usd_per_year is None:
        return RentedYear("A year of such work: no option can be recommended.", None)
    cost = Phrases(plan.campaign, plan.currency).money(best.usd_per_year.value)
    as_used = pay_as_you_go([rows[name] for name, each in rents.items() if each not in terms])
    return RentedYear(
        f"A year of such work: {VERBS[best.hold].lower()} {best.display_name} for {cost}.",
        best,
        tuple(_pays(plan, term, rents[as_used], trainings) + _budget(rows[term.option.id]) for term in terms)
        if as_used is not None
        else (),
    )


def _is_term(each: EstimatedOption) -> bool:
    """Return whether hours are paid ahead that one campaign may not use, and that are not paid yet."""
    rates, candidate = each.rates, each.candidate
    if rates is None or candidate is None or rates.committed or candidate.option.window is not None:
        return False
    return rates.terms.once and not rates.terms.blocks


def _work(plan: Plan, trainings: int) -> RentedWork:
    return RentedWork(trainings, plan.campaign.side_by_side, plan.campaign.confidence)


def _budget(term: YearOption) -> str:
    """Write that the plan's budget does not hold a term."""
    return f", but {takes(term)}, over the plan's budget" if term.over_budget else ""


def _pays(plan: Plan, term: EstimatedOption, as_used: EstimatedOption, trainings: int) -> str:
    """Write the fewest trainings a year from which the term costs no more than paying as one goes."""
    hours = term.option.wall_hours
    most = 0 if hours is None or hours.value <= 0 else math.floor(HOURS_PER_YEAR / hours.value)

    def costs_no_more(count: int) -> bool:
        year, other = (rented_a_year(each, _work(plan, count)) for each in (term, as_used))
        return year is not None and other is not None and year.usd_per_year.value <= other.usd_per_year.value

    enough = bisect_left(range(1, most + 1), True, key=costs_no_more) + 1
    name, other = (each.option.display_name or each.option.id for each in (term, as_used))
    if enough > most:
        return f"{name} never costs less a year than {other}"
    counted = "1 training" if enough == 1 else f"{enough:,} trainings"
    return f"{name} costs less than {other} from {counted} a year, of which the plan has {trainings:,}"
