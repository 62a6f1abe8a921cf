"""Divide the runs over several options if that beats every option alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from planner.cost.cloud.price_age import renewal
from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.campaign.chances import hours_to, ranking_usd
from planner.decide.options.display_name import name_of
from planner.decide.options.part_notes import may_not_fit
from planner.decide.placement.chosen import Chosen
from planner.decide.placement.effort import Effort
from planner.decide.placement.feasible_plan import feasible_plan, plan_notes
from planner.decide.placement.instance import Objective
from planner.decide.placement.plan_campaign import Preferred, surest_plan
from planner.decide.recommend.headline import SENTENCES
from planner.decide.recommend.may_mix import may_mix
from planner.decide.recommend.pareto import hours_of, is_known
from planner.decide.recommend.phrases import WORDS, Phrases, joined, nothing_to_pay
from planner.decide.recommend.rank import EVEN_CHANCE, TOO_SLOW, chance_of, is_feasible, ranked
from planner.decide.recommend.sooner_mix import RejectedMix
from planner.decide.recommend.wording import confidence_text, kept_and_asked
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.plan.plan import Plan
from planner.text.number_text import percent_text

EFFORT = 2.0
"""Effort of the solver in a comparison."""
WORTH_MIXING = 0.05
"""Share by which a mix must be better than the best option alone, because two machines are more work."""


JUST_UNDER = 0.0495
"""Share from which on two digits would say 5 %."""


class Mixes(NamedTuple):
    """The mixes that an answer names; each is None if there is none."""

    best: Chosen | None
    """The mix that is recommended, or the surest one if nothing keeps the limits (`best_mix`)."""
    beyond_budget: Chosen | None
    """The mix that keeps the deadline for the least if nothing keeps the budget (`mix_beyond_budget`)."""
    rejected: RejectedMix | None
    """A mix that is better than every option alone, but not by enough."""
    uneven: Chosen | None = None
    """A plan on one option that keeps the limits, which no row does, by other numbers of trainings on its sets."""

    @property
    def recommended(self) -> Chosen | None:
        """Return the best mix if it keeps the limits."""
        return self.best if self.best is not None and self.best.kept else None


def mixes_of(plan: Plan, alone: Alone, catalog: Catalog, *, today: date) -> Mixes:
    """Return the mixes that the answer to a plan names, from one search."""
    plan_found = _found_plan(alone, catalog, today=today)
    found = _if_mix(plan_found)
    best = _beating(found, alone, today=today)
    if best is not None:
        return Mixes(best, None, None)
    if found is None and plan_found is not None and plan_found.kept and not any(map(is_feasible, alone.options)):
        return Mixes(None, None, None, plan_found)
    beyond, rejected = mix_beyond_budget(plan, alone, catalog, today=today), None
    if found is not None and found.kept and _is_better(found, alone, today=today):
        why = _why_not(found, alone, today=today)
        rejected = None if why is None else RejectedMix(found, why)
    return Mixes(None, beyond, rejected)


def best_mix(alone: Alone, catalog: Catalog, *, today: date) -> Chosen | None:
    """Return the mix that beats every option alone; None if there is none, or the solver found none.

    A mix beats them if it keeps the limits and no option does, or if at the confidence it costs 5 % less than the
    cheapest option that does. With `prefer: time` it must end 5 % sooner than all, or end no later than the first
    option and cost 5 % less. Without a deadline it must not be over five times slower. If neither an option nor a mix
    keeps the limits, it is the mix with the best chance, if that is at least even and 5 % above that of every option.
    """
    return _beating(_if_mix(_found_plan(alone, catalog, today=today)), alone, today=today)


def _found_plan(alone: Alone, catalog: Catalog, *, today: date) -> Chosen | None:
    """Return the best plan that the solver finds; None if it finds none, or if no mix can be better."""
    if not may_mix(alone):
        return None
    objective = Objective.TIME if alone.limits.prefer is Prefer.TIME else Objective.COST
    return surest_plan(alone, catalog, objective, today=today, effort=Effort(EFFORT))


def _if_mix(chosen: Chosen | None) -> Chosen | None:
    return chosen if chosen is not None and len(chosen.plan.placements) > 1 else None


def _beating(found: Chosen | None, alone: Alone, *, today: date) -> Chosen | None:
    """Return the mix if it beats every option alone; else None."""
    if found is None:
        return None
    beats = _why_not(found, alone, today=today) is None if found.kept else _is_surer(found, alone)
    return found if beats else None


def mix_beyond_budget(plan: Plan, alone: Alone, catalog: Catalog, *, today: date) -> Chosen | None:
    """Return the mix that keeps the deadline and costs less than every option that does, where all break the budget.

    None if an option or a mix keeps the limits, there is no budget, or the plan wants no mix.
    """
    if alone.budget is None or not may_mix(alone) or any(map(is_feasible, alone.options)):
        return None
    unlimited = plan.campaign.model_copy(update={"budget_usd": None, "budget_local": None})
    every = each_alone(plan.model_copy(update={"campaign": unlimited}), catalog, today=today, estimated=alone.estimated)
    mix = best_mix(every, catalog, today=today)
    return mix if mix is not None and mix.kept else None


def preferred(alone: Alone, *, today: date) -> Preferred | None:
    """Return the option that comes first for all runs, which a mix must beat; None if there is none."""
    order = ranked(alone.options, alone.limits, deadline_hours=hours_to(alone.limits, today=today))
    if not order:
        return None
    return Preferred(
        order[0],
        is_feasible(order[0]),
        beaten_by=lambda mix: _is_better(mix, alone, today=today),
        why_not=lambda mix: _why_not(mix, alone, today=today),
    )


def _is_better(chosen: Chosen, alone: Alone, *, today: date, by: float = 0.0) -> bool:
    """Return whether a mix is better at the confidence than the best option alone, by more than a share of it.

    With `prefer: time` it ends sooner than every option, or costs less than the first one and ends no later.
    """
    able = [option for option in alone.options if is_feasible(option) and option.campaign_hours is not None]
    usd = chosen.ranking_usd(alone.limits)
    if alone.limits.prefer is not Prefer.TIME:
        return usd < (1 - by) * min(map(ranking_usd, able), default=math.inf)
    hours = chosen.plan.hours.value
    first = next(iter(ranked(able, alone.limits, deadline_hours=hours_to(alone.limits, today=today))), None)
    if first is None or hours < (1 - by) * min(map(hours_of, able)):
        return True
    return hours <= hours_of(first) and usd < (1 - by) * ranking_usd(first)


def with_mix(document: ComparisonDocument, chosen: Chosen | None, limits: CampaignLimits) -> ComparisonDocument:
    """Return the comparison with the mix as its advice; a mix that is not sure enough is only named."""
    if chosen is None:
        return document
    if not chosen.kept:
        kept, asked = kept_and_asked(chosen.least_chance, limits.confidence)
        first = f"Best chance: mixing {len(chosen.plan.placements)} options keeps the limits {kept}; {asked}."
        shares = _shares([(placed.runs, placed.name) for placed in chosen.plan.placements])
        unsure = (first, shares, "What runs when: planner campaign.")
        return document.model_copy(update={"headline": unsure, "sentence": " ".join(unsure)})
    best = next((option for option in document.options if option.id == document.recommended), None)
    placed = [option for option in document.options if option.id in {each.option for each in chosen.plan.placements}]
    said = tuple(_sentences(chosen, best, placed, Phrases(limits, document.currency)))
    sentences, beyond = said[:SENTENCES], tuple(sentence.removesuffix(".") for sentence in said[SENTENCES:])
    return document.model_copy(
        update={
            "mix": feasible_plan(chosen),
            "headline": sentences,
            "sentence": " ".join(sentences),
            "notes": (*beyond, *plan_notes(chosen, evidence=False), *document.notes),
        }
    )


def _why_not(chosen: Chosen, alone: Alone, *, today: date) -> str | None:
    """Return why one option is recommended and not this mix, which keeps the limits; None if the mix is recommended."""
    limits, by_time = alone.limits, alone.limits.prefer is Prefer.TIME
    if limits.mix == "never":
        return "the plan says mix: never"
    able = [option for option in alone.options if is_feasible(option) and option.campaign_hours is not None]
    if not able:
        return None
    if not _is_better(chosen, alone, today=today, by=WORTH_MIXING):
        if by_time:
            return "a mix must end 5 % sooner, or cost 5 % less and end no later"
        alone_usd = min(map(ranking_usd, able))
        if alone_usd <= 0:
            return "an option alone costs nothing"
        less = 1 - chosen.ranking_usd(limits) / alone_usd
        costs = f"{100 * less:.2g}" if less < JUST_UNDER else "just under 5"
        return f"a mix must cost 5 % less; this one costs {costs} % less"
    cheapest = min(able, key=ranking_usd)
    if not by_time and limits.deadline is None and chosen.plan.hours.value > TOO_SLOW * hours_of(cheapest):
        return "without a deadline a mix must not take over five times as long"
    return None


def _is_surer(chosen: Chosen, alone: Alone) -> bool:
    """Return whether a mix that is not sure enough is surer than every option alone, none of which is."""
    if any(map(is_feasible, alone.options)) or chosen.least_chance < EVEN_CHANCE:
        return False
    chances = [chance_of(option) for option in alone.options if option.not_allowed is None and is_known(option)]
    return chosen.least_chance > max(chances, default=0.0) + WORTH_MIXING


def _sentences(
    chosen: Chosen, best: CampaignOption | None, placed: Sequence[CampaignOption], phrases: Phrases
) -> Iterator[str]:
    """Yield what to do, how many trainings each option does, what is doubtful, and the best option alone.

    Each is at most twenty words. The option alone comes before the other doubts if it is cheaper than the mix. The
    number of trainings at once that a row lists may break limits that another number keeps.
    """
    placements = chosen.plan.placements
    sure = confidence_text(phrases.limits.confidence)
    done, usd = chosen.done_by_confident, nothing_to_pay(chosen, bill=chosen.plan.usd)
    usd = usd or f"at most {phrases.most(chosen)}"
    yield joined([f"Mix {len(placements)} options: done by {done}", usd], optional=[sure])
    yield _shares([(placed.runs, placed.name) for placed in placements])
    cheaper = best is not None and best.usd_confident is not None and best.usd_confident < chosen.usd_confident
    tight = min(filter(may_not_fit, placed), key=lambda option: option.fit_chance or 0.0, default=None)
    if tight is not None:
        fits = f"{name_of(tight)} fits its memory with {percent_text(tight.fit_chance or 0.0)}"
        yield f"{fits[0].upper()}{fits[1:]}: try a step first."
    if best is not None and cheaper:
        yield f"Alone and cheaper: {phrases.short(best)}"
    doubtful = [placed.name for placed in placements if placed.doubtful]
    stale = [placed for placed in placements if placed.price_stale]
    if doubtful:
        yield f"But the measurement of {doubtful[0]} is doubtful: planner explain says why."
    if stale:
        prices = f"The price of {stale[0].name} is" if len(stale) == 1 else f"The prices of {len(stale)} options are"
        yield f"{prices} out of date: {renewal(*(placed.price_refreshed for placed in stale))} first."
    if not cheaper:
        yield f"Alone: {phrases.short(best)}" if best is not None else "As listed, no option alone keeps the limits."


def _shares(shares: Sequence[tuple[int, str]]) -> str:
    """Write how many trainings each does: `DGX Station, 4x V100: 25 trainings; AWS p4d, 8x A100: 20; others: 5.`"""
    ordered = sorted(shares, key=lambda share: -share[0])
    (most, first), *others = ordered
    parts = [f"{first}: {most:,} {'training' if most == 1 else 'trainings'}"]
    left = sum(runs for runs, _ in others)
    for runs, name in others:
        longer = [*parts, f"{name}: {runs:,}"]
        rest = [f"others: {left - runs:,}"] if left > runs else []
        if len("; ".join([*longer, *rest]).split()) > WORDS:
            return f"{'; '.join([*parts, f'others: {left:,}'])}."
        parts, left = longer, left - runs
    return f"{'; '.join(parts)}."
