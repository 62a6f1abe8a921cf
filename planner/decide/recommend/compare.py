"""Compare the campaigns of all options and recommend one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from planner.decide.campaign.chances import hours_to, ranking_usd
from planner.decide.options.display_name import name_of
from planner.decide.options.part_notes import quote_notes
from planner.decide.options.rollout_note import rollout_note
from planner.decide.recommend.headline import SOONER, Choice, headline
from planner.decide.recommend.instead import next_best, quote_request
from planner.decide.recommend.no_recommendation import without_recommendation
from planner.decide.recommend.pareto import hours_of, pareto_front
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import is_feasible, is_firm, is_measured, ranked
from planner.decide.recommend.row_notes import block_note, is_sold_as_block, rule_notes, term_note, waiting_note
from planner.decide.recommend.samples_in_common import ranges_apart, surer_than
from planner.decide.recommend.sooner_mix import sooner_mix_note, uneven_note
from planner.decide.recommend.switching import switching_rates, switching_sentences
from planner.decide.recommend.why_not import reasons_against
from planner.model.answer.documents import CampaignDocument, ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption, RankedOption
from planner.model.answer.reason import ReasonCode, codes_of, text_of
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits

if TYPE_CHECKING:
    from planner.decide.recommend.mix import Mixes

Rule = Callable[[Sequence[CampaignOption]], list[CampaignOption]]
"""Puts options in order, the recommended one first."""
AS_SOON = 1.15
"""Options within this factor of the fastest are as fast: ranges are wider than that."""


def compare(
    campaign: CampaignDocument,
    limits: CampaignLimits,
    *,
    today: date,
    left_whole: CampaignDocument | None = None,
    mixes: Mixes | None = None,
) -> ComparisonDocument:
    """Rank the options under the limits, mark the Pareto front, recommend one and say why not the others.

    The options carry their chances already (`planner/decide/campaign/chances.py`). `left_whole`: the same options with
    networks that no trainer divides; what would be recommended then is said where it is another. Notes are about the
    mix that is recommended in place of a single option.
    """
    mix = None if mixes is None else mixes.recommended
    deadline_hours = hours_to(limits, today=today)
    order = ranked(campaign.options, limits, deadline_hours=deadline_hours)
    unpriced = [option for option in campaign.options if ReasonCode.NO_PRICE in option.why_not_codes]
    rule = partial(ranked, limits=limits, deadline_hours=deadline_hours)
    choice = _choice(order, rule, sum(not is_sold_as_block(option) for option in unpriced))
    recommended = choice.recommended if choice else None
    nearest = order[0] if order and recommended is None else None
    switches = switching_rates(recommended, order, limits, campaign.currency)
    phrases = Phrases(limits, campaign.currency)
    if choice is not None:
        turns = switching_sentences(switches, {option.id: name_of(option) for option in order})
        if left_whole is not None:
            undivided = next(filter(is_feasible, rule(left_whole.options)), None)
            choice = replace(choice, left_whole=undivided)
        sentences = headline(choice, phrases, today=today, extra=turns)
    else:
        dear_mix = None if mixes is None else mixes.beyond_budget
        sentences = without_recommendation(
            nearest, phrases, campaign.options, deadline_passed=deadline_hours <= 0, dear_mix=dear_mix
        )
    mix_hours = None if mix is None else mix.hours_confident
    waits = waiting_note(order, phrases, deadline_hours=deadline_hours, mix_hours=mix_hours)
    sold = block_note(campaign.options) if choice is not None else None
    alone = recommended if mix is None else None
    term = term_note(alone, order, phrases)
    second = next_best(recommended, order, limits, deadline_hours=deadline_hours)
    takes_part = recommended is not None and (mix is None or recommended.id in mix.options)
    alike = [recommended] if recommended is not None else []
    parts = alike if mix is None else [option for option in order if option.id in mix.options]
    sooner = sooner_mix_note(None if mixes is None else mixes.rejected, alone, phrases)
    uneven = uneven_note(None if mixes is None else mixes.uneven, phrases)
    notes = (
        *quote_notes(parts, start=limits.start),
        *filter(None, [sooner, uneven]),
        *_instead(recommended if takes_part else None, second, phrases),
        *surer_than(alone, order, limits, today=today),
        *rule_notes(alone, order, phrases),
        *filter(None, (waits, sold, term)),
        *campaign.notes,
        *filter(None, [rollout_note(alike or campaign.options)]),
    )
    front = pareto_front(campaign.options)
    apart = ranges_apart(campaign.options, limits, today=today)
    places = {option.id: place for place, option in enumerate(order, start=1)}

    def with_rank(option: CampaignOption) -> RankedOption:
        reasons = reasons_against(option, recommended, order, phrases)
        against = {"why_not": text_of(reasons), "why_not_codes": codes_of(reasons), "reasons": reasons}
        request = quote_request(option, limits, today=today)
        place = {"rank": places.get(option.id), "pareto": option.id in front, "quote_request": request}
        return RankedOption(**(dict(option) | against | place | {"usd_apart": apart.get(option.id)}))

    by_rank = sorted(campaign.options, key=lambda option: places.get(option.id, len(places) + 1))
    return ComparisonDocument(
        plan=campaign.plan,
        currency=campaign.currency,
        assumptions=campaign.assumptions,
        notes=notes,
        runs=campaign.runs,
        deadline=limits.deadline,
        deadline_hours=deadline_hours if limits.deadline is not None else None,
        budget_usd=limits.budget_usd,
        confidence=limits.confidence,
        recommended=_id(recommended),
        nearest=_id(nearest),
        fastest=_id(choice.fastest if choice else None),
        runner_up_firm=_id(choice.firm if choice else None),
        runner_up_measured=_id(choice.measured if choice else None),
        sentence=" ".join(sentences),
        headline=sentences,
        next_best=_id(second),
        switching_rates=switches,
        options=tuple(with_rank(option) for option in by_rank),
    )


def _instead(recommended: CampaignOption | None, second: CampaignOption | None, phrases: Phrases) -> Iterator[str]:
    if recommended is not None and second is not None:
        yield f"if {name_of(recommended)} is sold out: {phrases.short(second).removesuffix('.')}"


def _choice(order: Sequence[CampaignOption], rule: Rule, without_price: int) -> Choice | None:
    """Return the recommended option, the first in order, and those to name beside it.

    The best firm or measured option is the one that the rule would recommend among them alone.
    """
    feasible = [option for option in order if is_feasible(option)]
    if not feasible:
        return None
    first, *others = feasible
    fastest = min(feasible, key=hours_of)
    soonest_firm = _sooner_owned(first, others) or _soonest([option for option in feasible if is_firm(option)])
    bought = [option for option in order if option.hold is Hold.BUY and option.pay_now_usd and option is not first]
    return Choice(
        recommended=first,
        firm=None if is_firm(first) else next(iter(rule(list(filter(is_firm, others)))), None),
        measured=None if is_measured(first) else next(iter(rule(list(filter(is_measured, others)))), None),
        fastest=None if fastest is first else fastest,
        fastest_firm=None if soonest_firm is first else soonest_firm,
        purchase=min(bought, key=lambda option: option.pay_now_usd.value if option.pay_now_usd else 0.0, default=None),
        owned=_cheaper_owned(first, others),
        without_price=without_price,
    )


def _cheaper_owned(first: CampaignOption, others: Sequence[CampaignOption]) -> CampaignOption | None:
    """Return the cheapest owned machine that costs less than the recommended option; None if there is none."""
    owned = [option for option in others if option.hold is Hold.HAVE and ranking_usd(option) < ranking_usd(first)]
    return None if first.hold is Hold.HAVE else min(owned, key=ranking_usd, default=None)


def _sooner_owned(first: CampaignOption, others: Sequence[CampaignOption]) -> CampaignOption | None:
    """Return the cheapest owned machine that is much sooner than the recommended one; None if there is none."""
    owned = [option for option in others if option.hold is Hold.HAVE and hours_of(first) > SOONER * hours_of(option)]
    return min(owned, key=ranking_usd, default=None)


def _soonest(options: Sequence[CampaignOption]) -> CampaignOption | None:
    """Return the cheapest of the options that take at most 15 % longer than the fastest."""
    if not options:
        return None
    least = min(map(hours_of, options))
    return min((option for option in options if hours_of(option) <= AS_SOON * least), key=ranking_usd)


def _id(option: CampaignOption | None) -> str | None:
    return option.id if option else None
