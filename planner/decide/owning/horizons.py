"""A plan answered for both horizons: this campaign as `compare` does, and a year of such work as `own-or-rent` does."""

from __future__ import annotations

from datetime import date

from planner.decide.campaign.budget import limits_in_usd
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.decide.owning.own_or_rent import year_of_plan
from planner.decide.owning.owning_sentence import DOING, costs_less, takes, trainings_text, whole_trainings
from planner.decide.owning.rented_year import RentedYear, rented_year
from planner.decide.recommend.answer_plan import answer_plan
from planner.decide.recommend.headline import VERBS
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import EVEN_CHANCE
from planner.decide.recommend.wording import name_of, percent_text, share_text, with_reason
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.horizons import Horizons
from planner.model.answer.planned_year import CountedFrom, PlannedYear, YearOption
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.plan.plan import Plan


def answer_with_year(
    plan: Plan, catalog: Catalog, *, today: date, estimated: Estimated | None = None
) -> ComparisonDocument:
    """Return the comparison of a plan that lists its options, with the year's answer.

    That needs a machine to own, or a term to pay ahead and `campaign.runs_per_year`. Of machines that were only found
    (`options: auto`) the year is left out, unless one of them stands there.
    """
    if estimated is None:
        estimated = estimate_options(plan, catalog, today=today)
    document = answer_plan(plan, catalog, today=today, estimated=estimated)
    held = {option.hold for option in document.options if option.site is not None}
    if plan.found is not None and Hold.HAVE not in held:
        return document
    if not held:
        rented = rented_year(plan, estimated.options, today=today)
        return document if rented is None else _with_notes(document, _of_rents(document, rented, plan), rented.notes)
    year = year_of_plan(plan, catalog, site=None, today=today, estimates=estimated)
    return document if year is None else _with_notes(document, horizons(document, year, plan))


def _with_notes(document: ComparisonDocument, both: Horizons, notes: tuple[str, ...] = ()) -> ComparisonDocument:
    notes = (both.text.removesuffix("."), *notes, *document.notes)
    return document.model_copy(update={"horizons": both, "notes": notes})


def horizons(comparison: ComparisonDocument, year: PlannedYear, plan: Plan) -> Horizons:
    """Return both answers in words, and what they name."""
    best = next((option for option in year.options if option.id == year.recommended), None)
    return Horizons(
        campaign=_campaign(comparison, plan),
        campaign_option=comparison.recommended,
        year=_year(best, year, plan.campaign.confidence),
        year_option=year.recommended,
        year_chance=best.chance_costs_less if best else None,
        year_against=best.costs_less_than if best else None,
    )


def _of_rents(comparison: ComparisonDocument, rented: RentedYear, plan: Plan) -> Horizons:
    """Return both answers of a plan that owns nothing."""
    return Horizons(
        campaign=_campaign(comparison, plan), campaign_option=comparison.recommended,
        year=rented.sentence, year_option=rented.best.id if rented.best else None,
        year_chance=None, year_against=None,
    )  # fmt: skip


def _campaign(comparison: ComparisonDocument, plan: Plan) -> str:
    """Write what `compare` recommends under its limits, which are named."""
    limits = limits_in_usd(plan.campaign, plan.currency)
    phrases = Phrases(limits, plan.currency)
    kept = [f"by {limits.deadline}"] if limits.deadline is not None else []
    kept += [f"for {phrases.money(limits.budget_usd)}"] if limits.budget_usd is not None else []
    start = f"This campaign, {' '.join(kept)}" if kept else "This campaign"
    if comparison.mix is not None:
        return f"{start}: mix {len({one.option for one in comparison.mix.placements})} options."
    option = next((one for one in comparison.options if one.id == comparison.recommended), None)
    if option is None:
        return f"{start}: no option keeps the limits." if kept else f"{start}: no option can be recommended."
    return f"{start}: {VERBS[option.hold or Hold.RENT].lower()} {name_of(option)}."


def _year(best: YearOption | None, year: PlannedYear, confidence: float) -> str:
    """Write what `own-or-rent` recommends, and how sure it is to cost less than what it is held against."""
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
        if against.over_budget:
            why = f"costs less with {percent_text(chance)}, but {takes(against)}, over the plan's budget"
            return f"{deed}; {against.display_name} {why}."
        return f"{deed}; {against.display_name} {costs_less(chance, confidence)}."
    ours = against.id == year.owning and best.hold is not Hold.HAVE  # of two that stand there, say which
    other = DOING[against.hold] if ours else against.display_name
    other += f" {against.display_name}" if ours and against.hold is Hold.BUY else ""
    return f"{deed}, {percent_text(best.chance_costs_less)} sure to cost less than {other}."
