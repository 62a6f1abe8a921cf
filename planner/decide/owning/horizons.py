"""Answer a plan for two horizons: this campaign as in `compare`, and a year of such work as in `own-or-rent`."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.decide.campaign.budget import limits_in_usd
from planner.decide.options.display_name import name_of
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.decide.options.option import EstimatedOption
from planner.decide.owning.own_or_rent import year_of_plan
from planner.decide.owning.owning_sentence import DOING, costs_less, takes, trainings_text, whole_trainings
from planner.decide.owning.rented_row import rented_row
from planner.decide.owning.verdict import recommended
from planner.decide.owning.year_option import pay_as_you_go
from planner.decide.owning.yearly_cost import RentedWork, rented_a_year
from planner.decide.recommend.answer_plan import answer_plan
from planner.decide.recommend.headline import VERBS
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import EVEN_CHANCE
from planner.decide.recommend.wording import share_text, with_reason
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.own_or_rent import Horizons
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.quantity.time_units import HOURS_PER_YEAR
from planner.text.number_text import percent_text


def answer_with_year(
    plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None
) -> ComparisonDocument:
    """Return the comparison of a plan, with the year's answer if there is one.

    The year needs a machine to own, or a term to pay ahead and `campaign.runs_per_year`. It is left out if the machines
    were only found (`options: auto`) and none of them exists.
    """
    if estimated is None:
        estimated = estimate_options(plan, catalog, today=today)
    document = answer_plan(plan, catalog, today=today, estimated=estimated)
    holds = {option.hold for option in document.options if option.site is not None}
    if plan.found is not None and Hold.HAVE not in holds:
        return document
    if not holds:
        rented = _rented_year(plan, estimated.options, today=today)
        if rented is None:
            return document
        both = Horizons(
            campaign=_campaign(document, plan), campaign_option=document.recommended, year=rented.sentence,
            year_option=rented.best.id if rented.best else None, year_chance=None, year_against=None,
            remark=_remark(plan),
        )  # fmt: skip
        return _with_notes(document, both, rented.notes)
    year = year_of_plan(plan, catalog, site=None, today=today, estimates=estimated)
    return document if year is None else _with_notes(document, horizons(document, year, plan))


def _with_notes(document: ComparisonDocument, both: Horizons, notes: tuple[str, ...] = ()) -> ComparisonDocument:
    notes = (both.text.removesuffix("."), *notes, *document.notes)
    return document.model_copy(update={"horizons": both, "notes": notes})


def horizons(comparison: ComparisonDocument, year: PlannedYear, plan: Plan) -> Horizons:
    """Return both answers in words, with the options that they name."""
    best = next((option for option in year.options if option.id == year.recommended), None)
    return Horizons(
        campaign=_campaign(comparison, plan),
        campaign_option=comparison.recommended,
        year=_year(best, year, plan.campaign.confidence, Phrases(plan.campaign, plan.currency)),
        year_option=year.recommended,
        year_chance=best.chance_costs_less if best else None,
        year_against=best.costs_less_than if best else None,
        remark=_remark(plan),
    )


def _remark(plan: Plan) -> str | None:
    """Write that the year leaves out the hours of waiting on which the plan puts a price; None if it puts none."""
    return "Waiting counts in the campaign alone." if plan.campaign.waiting_usd_per_hour else None


def _campaign(comparison: ComparisonDocument, plan: Plan) -> str:
    """Write what `compare` recommends within which limits."""
    limits = limits_in_usd(plan.campaign, plan.currency)
    phrases = Phrases(limits, plan.currency)
    kept = [f"by {limits.deadline}"] if limits.deadline is not None else []
    kept += [f"for {phrases.money(limits.budget_usd)}"] if limits.budget_usd is not None else []
    start = f"This campaign, {' '.join(kept)}" if kept else "This campaign"
    if comparison.mix is not None:
        return f"{start}: mix {len({placed.option for placed in comparison.mix.placements})} options."
    option = next((row for row in comparison.options if row.id == comparison.recommended), None)
    if option is None:
        return f"{start}: no option keeps the limits." if kept else f"{start}: no option can be recommended."
    return f"{start}: {VERBS[option.hold or Hold.RENT].lower()} {name_of(option)}."


def _year(best: YearOption | None, year: PlannedYear, confidence: float, phrases: Phrases) -> str:
    """Write what `own-or-rent` recommends, and the chance that it costs less than its rival."""
    start = "A year of such work"
    if year.counted_from is CountedFrom.SITE:
        start = f"A year at {share_text(year.busy_fraction.value)} busy"
    names = {option.id: option for option in year.options}
    if best is None:
        own = names[year.owning]
        return f"{start}: {with_reason(own.display_name, own.why_not or 'has no known cost')}."
    deed = f"{start}: {VERBS[best.hold].lower()} {best.display_name}"
    done, wanted = year.trainings, year.trainings_wanted
    if best.id == year.owning and done is not None and wanted is not None and done < wanted:
        deed += f", which does at most {whole_trainings(done)} of {trainings_text(wanted)}"
    against = names.get(best.costs_less_than or "")
    if against is None or best.chance_costs_less is None:
        return f"{deed}."
    if best.chance_costs_less < EVEN_CHANCE:
        chance = 1 - best.chance_costs_less
        why = costs_less(chance, confidence)
        if against.over_budget:
            why = f"costs less with {percent_text(chance)}, but {takes(against, phrases.money)}, over the plan's budget"
        return f"{deed}; {against.display_name} {why}."
    ours = against.id == year.owning and best.hold is not Hold.HAVE  # of two existing machines, name the one
    other = DOING[against.hold] if ours else against.display_name
    other += f" {against.display_name}" if ours and against.hold is Hold.BUY else ""
    return f"{deed}, {percent_text(best.chance_costs_less)} sure to cost less than {other}."


@dataclass(frozen=True)
class _RentedYear:
    """A recommended rent for a year's trainings, with notes on the number of trainings from which each term pays."""

    sentence: str
    best: YearOption | None
    notes: tuple[str, ...] = ()


def _rented_year(plan: Plan, estimated: Sequence[EstimatedOption], *, today: date) -> _RentedYear | None:
    """Return what to rent for `campaign.runs_per_year` trainings. A term is paid whole, used or not.

    None if the plan does not state that number, or lists no term that is still to be paid.
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
        return _RentedYear("A year of such work: no option can be recommended.", None)
    phrases = Phrases(plan.campaign, plan.currency)
    cost = phrases.money(best.usd_per_year.value)
    as_used = pay_as_you_go([rows[name] for name, each in rents.items() if each not in terms])
    return _RentedYear(
        f"A year of such work: {VERBS[best.hold].lower()} {best.display_name} for {cost}.",
        best,
        tuple(_pays(plan, term, rents[as_used], trainings) + _budget(rows[term.option.id], phrases) for term in terms)
        if as_used is not None
        else (),
    )


def _is_term(each: EstimatedOption) -> bool:
    """Return whether hours are still to be paid ahead that one campaign may not use."""
    rates, candidate = each.rates, each.candidate
    if rates is None or candidate is None or rates.committed or candidate.option.window is not None:
        return False
    return rates.terms.once and not rates.terms.blocks


def _work(plan: Plan, trainings: int) -> RentedWork:
    return RentedWork(trainings, plan.campaign.side_by_side, plan.campaign.confidence)


def _budget(term: YearOption, phrases: Phrases) -> str:
    """Write that a term is over the plan's budget; empty if it is not."""
    return f", but {takes(term, phrases.money)}, over the plan's budget" if term.over_budget else ""


def _pays(plan: Plan, term: EstimatedOption, as_used: EstimatedOption, trainings: int) -> str:
    """Write the fewest trainings a year from which the term costs no more than hourly rent (`as_used`)."""
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
