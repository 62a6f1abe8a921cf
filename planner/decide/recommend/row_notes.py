"""Write notes on the rows of an answer: trainings side by side, blocks, terms, the cost of waiting."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from planner.cost.cloud.price import BLOCK_PRICE
from planner.decide.campaign.side_by_side import Hurry
from planner.decide.limits import refusals
from planner.decide.options.display_name import name_of
from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import TOO_SLOW, OrderRule, dearest_beside, ranked, replaced, sort_class
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import Prefer
from planner.model.prices.offer import PriceKind
from planner.text.number_text import percent_text

BARELY = 1.005
"""Factor on the hours that is written as "any longer"."""
NAMED = 3
"""Options that a note names."""
PAID_AHEAD = {PriceKind.CAPACITY_BLOCK: "the block", PriceKind.GRANT: "the grant", PriceKind.LEASE: "the lease"}
"""Names of what is paid ahead; of other kinds it is a term."""


def at_once_note(options: Sequence[CampaignOption], hurries: Sequence[Hurry | None], phrases: Phrases) -> str | None:
    """Return which options run several trainings at once, and why; None if none does."""
    said = []
    for hurry in Hurry:
        kept = [
            f"{name_of(option)} ({_kept_with(option, hurry, phrases)})"
            for option, why in zip(options, hurries, strict=True)
            if why is hurry
        ]
        if kept:
            others = f", and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
            named = f"{'; '.join(kept[:NAMED])}{others}"
            said.append(f"{hurry.value}, several trainings run at once: {named}")
    return "; ".join(said) or None


def _kept_with(option: CampaignOption, hurry: Hurry, phrases: Phrases) -> str:
    """Return what several at once cost, when they are done, or how likely they keep a limit with less than asked."""
    if hurry is Hurry.COST:
        return f"{phrases.at_most(option)}{', with less waiting' if option.waiting_usd else ''}"
    if hurry is Hurry.TIME:
        return phrases.done(option) or phrases.at_most(option)
    confidence = phrases.limits.confidence
    what, chance = {
        Hurry.DEADLINE: ("in time", option.chance_deadline),
        Hurry.CREDITS: ("within the budget", option.chance_budget),
        Hurry.BOTH: ("both", option.chance_both),
    }[hurry]
    kept, asked = percent_text(chance or 0.0), percent_text(confidence)
    if (chance or 0.0) >= confidence:
        return f"{what} with {kept}"
    return f"{what} with {f'just under the {asked}' if kept == asked else f'{kept}, below the {asked}'} asked"


def is_sold_as_block(option: CampaignOption) -> bool:
    """Return whether an option has no price as the plan asks for it, and one as a block."""
    return any(BLOCK_PRICE in reason.figures for reason in option.reasons)


def block_note(options: Sequence[CampaignOption]) -> str | None:
    """Return which options have a price only as a block; None if none has."""
    names = [name_of(option) for option in options if is_sold_as_block(option)]
    if not names:
        return None
    verb = "is" if len(names) == 1 else "are"
    return f"{', '.join(names[:NAMED])} {verb} sold as a block: write price: capacity_block"


def term_note(recommended: CampaignOption | None, order: Sequence[CampaignOption], phrases: Phrases) -> str | None:
    """Return the likely cost of paying by the hour, if the recommended option is paid ahead and likely dearer.

    A term or a block is sized for the hours that the work stays under with the confidence. The note says how much
    longer the work must take for it to be cheaper, if the block holds that. None if it is not dearer.
    """
    if recommended is None or recommended.smallest_purchase_usd is None:
        return None
    term = recommended.payable_usd
    allowed = [option for option in order if option.not_allowed is None and not refusals(option)]
    as_used = [
        option for option in allowed if option.price_kind is PriceKind.ON_DEMAND and option.payable_usd is not None
    ]
    cheapest = min(as_used, key=_likely_usd, default=None)
    if term is None or cheapest is None or _likely_usd(cheapest) >= term.value:
        return None
    likely = f"{name_of(cheapest)} likely costs {phrases.money(_likely_usd(cheapest))}"
    if phrases.limits.prefer is Prefer.TIME:
        return f"{likely}, but prefer: time puts the sooner one first"
    ahead = PAID_AHEAD.get(recommended.price_kind or PriceKind.ON_DEMAND, "the term")
    longer = term.value / _likely_usd(cheapest) if _likely_usd(cheapest) > 0 else math.inf
    if longer > _held(recommended):
        return f"{likely}: {ahead} ends before it would be the cheaper one"
    times = "any longer than" if longer < BARELY else f"over {longer:.3g} times as long as"
    return f"{likely}: {ahead} is cheaper only if the work takes {times} estimated: measure first"


def _held(option: CampaignOption) -> float:
    """Return how many times the likely hours the bought ones are; infinite if the machine stays after them."""
    bought, hours = option.paid_ahead_hours, option.campaign_hours
    ends = option.bill is not None and option.bill.usable_hours is not None
    return bought / hours.value if ends and bought is not None and hours is not None else math.inf


def rule_notes(recommended: CampaignOption | None, order: Sequence[CampaignOption], phrases: Phrases) -> Iterator[str]:
    """Yield the rules that put the recommended option before one that costs less, or ends sooner."""
    if recommended is None:
        return
    for other, rule, by in replaced(order, phrases.limits):
        name, most = name_of(other), phrases.at_most(other)
        if rule is OrderRule.TIE:
            sooner = phrases.limits.prefer is Prefer.TIME
            better = "ends a little sooner" if sooner else f"costs a little less, {most}"
            yield f"{name} {better}: among such ties {_first_of_ties(by, other, sooner=sooner)} comes first"
        elif rule is OrderRule.HOURS:
            likely = " against ".join(phrases.money(_likely_usd(option)) for option in (by, other))
            yield f"{name}, {most}, is paid used or not: {name_of(by)} likely costs {likely}, so it comes first"
        else:
            times = hours_of(other) / hours_of(by)
            yield (
                f"{name} is cheaper, {most}, but takes {times:.2g} times as long: without a deadline, "
                f"over {TOO_SLOW:g} times faster for under {dearest_beside(other):g} times the cost comes first "
                "(campaign.waiting_usd_per_hour: 0 turns this off)"
            )


def _first_of_ties(first: CampaignOption, other: CampaignOption, *, sooner: bool) -> str:
    """Return what the first of two ties has before the other: twice as good in time or cost, else by `sort_class`."""
    hold = {Hold.HAVE: "your own", Hold.BUY: "the bought one"}.get(first.hold or Hold.RENT, "the rented one")
    kinds = (hold, "the measured one", "the undivided one", "the firm one", "the one of fewer nodes")
    for kind, ours, theirs in zip(kinds, sort_class(first), sort_class(other), strict=True):
        if ours < theirs:
            return kind
        if ours > theirs:
            break
    return "the one at half the cost" if sooner else "the one twice as fast"


def _likely_usd(option: CampaignOption) -> float:
    return option.payable_usd.value if option.payable_usd is not None else math.inf


def waiting_note(
    order: Sequence[CampaignOption], phrases: Phrases, *, deadline_hours: float, mix_hours: float | None = None
) -> str | None:
    """Return what an hour of waiting (`campaign.waiting_usd_per_hour`) changes in the order; None if nothing.

    `mix_hours`: hours at the confidence of a mix that is recommended, whose waiting counts beside the best option's.
    """
    each = phrases.limits.waiting_usd_per_hour
    if not each or not order:
        return None
    if mix_hours is not None:
        counts = f"waiting at {phrases.full(each)} an hour counts {phrases.full(each * mix_hours)} with the mix"
        return f"{counts} and {phrases.full(order[0].waiting_usd)} with {name_of(order[0])} alone"
    free = [option.model_copy(update={"waiting_usd": 0.0}) for option in order]
    without = ranked(free, phrases.limits, deadline_hours=deadline_hours)
    if [option.id for option in without] == [option.id for option in order]:
        return None
    here = phrases.full(order[0].waiting_usd)
    counts = f"waiting at {phrases.full(each)} an hour counts {here} with {name_of(order[0])}"
    if without[0].id != order[0].id:
        waits = next(option.waiting_usd for option in order if option.id == without[0].id)
        first = name_of(without[0])
        return f"{counts} and {phrases.full(waits)} with {first}, which would be first without it"
    names = ", ".join(name_of(option) for option in without[:NAMED])
    return f"{counts} and reorders the rows below it: without it {names}"
