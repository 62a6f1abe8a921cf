"""Write notes on the rows of an answer: trainings side by side, blocks, terms, the cost of waiting."""

from __future__ import annotations

import math
from collections.abc import Sequence

from planner.cost.cloud.price import BLOCK_PRICE
from planner.decide.campaign.side_by_side import Hurry
from planner.decide.limits import refusals
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.rank import ranked
from planner.decide.recommend.wording import name_of, percent_text, usd_text
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.prices.offer import PriceKind

NAMED = 3
"""Options that a note names."""
PAID_AHEAD = {PriceKind.CAPACITY_BLOCK: "the block", PriceKind.GRANT: "the grant", PriceKind.LEASE: "the lease"}
"""Names of what is paid ahead; of other kinds it is a term."""


def at_once_note(options: Sequence[CampaignOption], hurries: Sequence[Hurry | None]) -> str | None:
    """Return which options run several trainings at once to keep the limits, and why; None if none does."""
    said = []
    for hurry in Hurry:
        kept = [
            f"{name_of(option)} ({_kept_with(option, hurry)})"
            for option, why in zip(options, hurries, strict=True)
            if why is hurry
        ]
        if kept:
            others = f", and {len(kept) - NAMED} more" if len(kept) > NAMED else ""
            named = f"{'; '.join(kept[:NAMED])}{others}"
            said.append(f"{hurry.value}, several trainings run at once: {named}")
    return "; ".join(said) or None


def _kept_with(option: CampaignOption, hurry: Hurry) -> str:
    """Return what becomes likely by several at once."""
    if hurry is Hurry.DEADLINE:
        return f"in time with {percent_text(option.chance_deadline or 0.0)}"
    if hurry is Hurry.CREDITS:
        return f"within the budget with {percent_text(option.chance_budget or 0.0)}"
    return f"both with {percent_text(option.chance_both or 0.0)}"


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

    A term or a block is sized for the hours that the work stays under with the confidence. None if it is not dearer.
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
    ahead = PAID_AHEAD.get(recommended.price_kind or PriceKind.ON_DEMAND, "the term")
    return (
        f"{name_of(cheapest)} likely costs {phrases.money(_likely_usd(cheapest))}: {ahead} is cheaper only if "
        f"the work takes over {term.value / _likely_usd(cheapest):.2g} times as long as estimated: measure first"
    )


def _likely_usd(option: CampaignOption) -> float:
    return option.payable_usd.value if option.payable_usd is not None else math.inf


def waiting_note(
    order: Sequence[CampaignOption], limits: CampaignLimits, *, deadline_hours: float, mix_hours: float | None = None
) -> str | None:
    """Return what an hour of waiting (`campaign.waiting_usd_per_hour`) changes in the order; None if nothing.

    `mix_hours`: hours at the confidence of a mix that is recommended, whose waiting counts beside the best option's.
    """
    each = limits.waiting_usd_per_hour
    if not each or not order:
        return None
    if mix_hours is not None:
        counts = f"waiting at {usd_text(each)} an hour counts {usd_text(each * mix_hours)} with the mix"
        return f"{counts} and {usd_text(order[0].waiting_usd)} with {name_of(order[0])} alone"
    free = [option.model_copy(update={"waiting_usd": 0.0}) for option in order]
    without = ranked(free, limits, deadline_hours=deadline_hours)
    if [option.id for option in without] == [option.id for option in order]:
        return None
    counts = f"waiting at {usd_text(each)} an hour counts {usd_text(order[0].waiting_usd)} with {name_of(order[0])}"
    if without[0].id != order[0].id:
        waits = next(option.waiting_usd for option in order if option.id == without[0].id)
        first = name_of(without[0])
        return f"{counts} and {usd_text(waits)} with {first}, which would be first without it"
    names = ", ".join(name_of(option) for option in without[:NAMED])
    return f"{counts} and reorders the rows below it: without it {names}"
