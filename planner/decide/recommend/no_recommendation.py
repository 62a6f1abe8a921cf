"""Write the headline if no option may be recommended: measure first, the best chance, or nothing fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.cost.cloud.price_age import renewal
from planner.decide.limits import refusals
from planner.decide.options.display_name import name_of
from planner.decide.recommend.phrases import Phrases, joined
from planner.decide.recommend.rank import EVEN_CHANCE, chance_of, is_measured
from planner.decide.recommend.row_notes import block_note
from planner.decide.recommend.wording import confidence_text, kept_and_asked
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import PLACES, Reason, ReasonCode
from planner.model.owning.acquisition import Hold
from planner.model.prices.offer import PriceKind
from planner.text.number_text import percent_text

if TYPE_CHECKING:
    from planner.decide.placement.chosen import Chosen

BY_THE_HOUR = (PriceKind.ON_DEMAND, PriceKind.SPOT, PriceKind.MARKETPLACE)
"""Kinds of price at which machines are rented for an hour or less."""

TOO_SMALL = frozenset({ReasonCode.MEMORY_TOO_SMALL, ReasonCode.NO_SPLIT_FITS})
SAME_CHANCE = 0.005
"""Chances that differ by less are equal, because they are written in whole percent."""


def without_recommendation(
    nearest: CampaignOption | None, phrases: Phrases, options: Sequence[CampaignOption], *, deadline_passed: bool,
    dear_mix: Chosen | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Return the sentences; `options` are all options, whose missing figures are named if none is known.

    "Measure first": the nearest option has at least an even chance and was not measured. "Best chance": it was.
    `dear_mix` keeps the deadline for less than every option.
    """
    if nearest is None:
        return _nothing_known(options)
    if deadline_passed:
        return (f"Nothing fits: the deadline {phrases.limits.deadline} has passed.",)
    if nearest.not_allowed_reasons:
        in_place = nearest.not_allowed_reasons[0].code in PLACES
        what = "no option lies where the plan allows it" if in_place else "no option can take the work"
        return (f"Nothing fits: {what}.", f"Of {name_of(nearest)}: {nearest.not_allowed_reasons[0].text}.")
    refused = refusals(nearest)
    if refused:
        return _cannot_be_had(nearest, refused[0], phrases)
    if chance_of(nearest) >= EVEN_CHANCE:
        return _uncertain(nearest, phrases, options, dear_mix)
    return (_binding(nearest, phrases), _would(nearest, phrases, options, dear_mix))


def _nothing_known(options: Sequence[CampaignOption]) -> tuple[str, ...]:
    """Return what every option lacks if it is the same for all: memory, or a price."""
    codes = [frozenset(option.why_not_codes) for option in options]
    if codes and all(lacking & TOO_SMALL for lacking in codes):
        return ("Nothing fits: the training is larger than the memory of every option.", "More nodes might hold it.")
    if codes and all(ReasonCode.NO_PRICE in lacking for lacking in codes):
        sold = block_note(options)
        return ("Nothing fits: no price is known of any option.", *([f"{sold}."] if sold else []))
    return (
        "Nothing fits: of no option are both time and cost known.",
        "The table says what is missing of each.",
    )


def _cannot_be_had(option: CampaignOption, reason: Reason, phrases: Phrases) -> tuple[str, ...]:
    """Return what to do if an option keeps the limits but is not available, or may be taken away."""
    if reason.code is ReasonCode.PRICE_TOO_OLD:
        renew = renewal(option.price_refreshed)
        return (
            f"Nothing fits yet: the price of {name_of(option)} is {option.price_age_days} days old.",
            f"{renew[0].upper()}{renew[1:]}, then compare again.",
        )
    if reason.code is ReasonCode.ASK_FOR_QUOTE:
        count = (option.nodes or 0) * option.at_once
        return (
            f"Nothing fits as listed: no source says that {count} nodes are available at once.",
            joined(
                [f"Ask for a quote of {name_of(option)}: {phrases.done(option)}"], optional=[phrases.at_most(option)]
            ),
            "The text of the request: planner explain PLAN.",
        )
    return (
        f"Nothing fits: {name_of(option)} may be taken away within its {_days(option)}.",
        "Add a firm price of it to the plan: on demand, a block or a commitment.",
    )


def _uncertain(
    option: CampaignOption, phrases: Phrases, options: Sequence[CampaignOption], dear_mix: Chosen | None
) -> tuple[str, ...]:
    chance, asked = kept_and_asked(chance_of(option), phrases.limits.confidence)
    kept, wanted = f"{name_of(option)} {_unsure(option)} {chance}", [asked]
    if is_measured(option) or option.hold is Hold.USE:
        return (
            joined([f"Best chance: {kept}"], optional=wanted, between="; "),
            _would(option, phrases, options, dear_mix),
        )
    run = "planner bench" if option.hold is Hold.HAVE else "planner launch"
    return (
        joined([f"Measure first: {kept}"], optional=wanted, between="; "),
        _short_run(option, run, phrases),
        _would(option, phrases, options, dear_mix),
    )


def _unsure(option: CampaignOption) -> str:
    """Return in words that the limit is kept that decides the chance to keep all: both, if neither alone does."""
    chances = (("keeps the deadline", option.chance_deadline), ("stays in the budget", option.chance_budget))
    for kept, chance in chances:
        if chance is not None and chance < chance_of(option) + SAME_CHANCE:
            return kept
    return "keeps both limits"


def _short_run(option: CampaignOption, run: str, phrases: Phrases) -> str:
    """Return that a short run would settle it, and its highest cost: an hour of the rented machines."""
    price = option.usd_per_hour
    if price is None or option.price_kind not in BY_THE_HOUR or option.hold is Hold.HAVE:
        return f"A short run of the benchmark there would settle it ({run})."
    usd = phrases.up_to(price.value * (option.nodes or 1))
    return f"A 20-minute run there, at most {usd}, would settle it ({run})."


def _binding(option: CampaignOption, phrases: Phrases) -> str:
    """Return which limit the nearest option misses."""
    name, missed = name_of(option), []
    if not option.meets_deadline:
        missed.append(f"the nearest, {name}, is done by {option.done_by_confident}, after {phrases.limits.deadline}")
    if not option.within_budget and option.usd_confident is not None:
        whose = "it" if missed else f"the nearest, {name},"
        budget = phrases.money(phrases.limits.budget_usd or 0)
        missed.append(f"{whose} costs up to {phrases.most(option)} of {budget}")
    if not missed:
        missed.append(f"the nearest, {name}, keeps both limits with a chance of {percent_text(chance_of(option))}")
    return joined([f"Nothing fits: {missed[0]}"], optional=missed[1:])


def _would(option: CampaignOption, phrases: Phrases, options: Sequence[CampaignOption], dear_mix: Chosen | None) -> str:
    """Return the limits that the option would keep, or the least budget with which another one keeps the deadline."""
    assert option.usd_confident is not None, "it is comparable"
    late, dear = not option.meets_deadline, not option.within_budget
    if option.keeps_both is False and not late and not dear:
        return "Each limit alone is kept with that; both together need a later deadline or a larger budget."
    sure = f"To be {confidence_text(phrases.limits.confidence)}"
    alone = " alone" if phrases.limits.runs > 1 and len(options) > 1 else ""  # a mix may need less
    if dear and not late:
        able = [each for each in options if each.not_allowed is None and each.fits is not False and not refusals(each)]
        in_time = [each for each in able if each.meets_deadline and each.usd_confident is not None]
        cheapest = min(in_time, key=lambda each: each.usd_confident or 0.0, default=option)
        if dear_mix is not None and dear_mix.usd_confident < (cheapest.usd_confident or 0.0):
            count = len(dear_mix.plan.placements)
            return f"{sure}, a mix of {count} options needs the least: {phrases.most(dear_mix)}."
        if (cheapest.usd_confident or 0.0) < option.usd_confident:
            return f"{sure}, {name_of(cheapest)} needs the least{alone}: {phrases.most(cheapest)}."
    needed = [f"time until {option.done_by_confident}"] if late and option.done_by_confident else []
    needed += [phrases.most(option)] if dear or not needed else []
    mixed = ""
    if late and dear_mix is not None:
        mixed = f", or a mix of {len(dear_mix.plan.placements)} options {phrases.most(dear_mix)}"
    return f"{sure}, it needs {' and '.join(needed)}{alone}{mixed}."


def _days(option: CampaignOption) -> str:
    hours = option.campaign_hours.value if option.campaign_hours else 0.0
    return f"{hours / 24:,.0f} days" if hours >= 48 else f"{hours:.0f} hours"
