"""Write the answer in at most three sentences: what to do, what limits it, and its evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.billing_terms import BLOCK_LAST_HOURS
from planner.cost.cloud.bought_hours import AFTER_TERM
from planner.cost.cloud.price_age import renewal
from planner.decide.campaign.chances import ranking_usd
from planner.decide.options.display_name import name_of
from planner.decide.options.part_notes import may_not_fit
from planner.decide.recommend.pareto import hours_of
from planner.decide.recommend.phrases import Phrases, joined
from planner.decide.recommend.rank import is_feasible, is_firm, is_measured
from planner.decide.recommend.wording import confidence_text
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan_option import OWN_LOG
from planner.model.prices.offer import PriceKind
from planner.quantity.time_units import HOURS_PER_DAY
from planner.speed.throughput.evidence_text import rests_on_own_figures
from planner.text.number_text import percent_text

SENTENCES = 3
VERBS = {Hold.HAVE: "Keep", Hold.RENT: "Rent", Hold.BUY: "Buy", Hold.USE: "Use"}
NOT_MEASURED = "This exact setup was not measured"
SOONER = 1.5
"""Factor by which the fastest option must be faster to be named."""


@dataclass(frozen=True)
class Choice:
    """The decision, with the options to name beside it; None if there is none, or it need not be named."""

    recommended: CampaignOption
    firm: CampaignOption | None
    """Best option at a firm price if the recommended one is spot."""
    measured: CampaignOption | None
    """Best option that was measured if the recommended one was not."""
    fastest: CampaignOption | None
    """Fastest option that keeps the limits if another is recommended."""
    fastest_firm: CampaignOption | None
    """Fastest option that keeps the limits and cannot be taken away; before it an owned machine that is sooner."""
    purchase: CampaignOption | None
    """Cheapest purchase if the plan lists one and it is not recommended."""
    owned: CampaignOption | None = None
    """Cheapest owned machine that keeps the limits for less than the recommended option."""
    left_whole: CampaignOption | None = None
    """Option that would be recommended if no trainer divided the network; set if the recommended one divides it."""
    without_price: int = 0
    """Number of options that are left out because no price is known."""


def headline(choice: Choice, phrases: Phrases, *, today: date, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the sentences: the advice first, then the most important facts; each has at most twenty words.

    Order of the facts: doubts about the memory, an owned machine that costs less, doubts about the evidence, the best
    option without dividing the network, the firm option beside a spot one, the measured one beside a modelled one, an
    old price, a fit that was not checked, the resale value of a purchase, a faster option, a purchase not taken.
    """
    beside = [*_beside(choice, phrases, today), *extra]
    return (_deed(choice.recommended, phrases), *beside[: SENTENCES - 1])


def _deed(option: CampaignOption, phrases: Phrases) -> str:
    verb = VERBS[option.hold or Hold.RENT]
    done = phrases.done(option) or "time not known"
    sure = "if its measurement is right" if option.doubts else confidence_text(phrases.limits.confidence)
    return joined([f"{verb} {name_of(option)}: {done}", phrases.at_most(option)], optional=[sure])


def _beside(choice: Choice, phrases: Phrases, today: date) -> Iterator[str]:
    """Yield the facts beside the advice, the most important first."""
    option = choice.recommended
    if may_not_fit(option):
        yield f"It fits its memory with {percent_text(option.fit_chance or 0.0)}: try a step first."
    if choice.owned is not None:
        yield f"Cheaper, and already yours: {phrases.short(choice.owned)}"
    yield from _of_its_speed(option)
    if choice.left_whole is not None and choice.left_whole.id != option.id:
        yield f"Without dividing the network: {phrases.short(choice.left_whole)}"
    if choice.firm is not None:
        yield f"{'Firm and measured' if choice.firm is choice.measured else 'Firm'}: {phrases.short(choice.firm)}"
    if choice.measured is not None and choice.measured is not choice.firm:
        yield f"Measured: {phrases.short(choice.measured)}"
    yield from _of_the_option(option, phrases, today, whose=None if choice.owned is None else name_of(option))
    if not is_firm(option) and choice.firm is None:
        yield "It may be taken away at any time, and no firm option can be recommended beside it."
    if option.hold is Hold.BUY:
        yield from _not_measured(choice)
    named = (choice.firm, choice.measured)
    for sooner, word in ((choice.fastest_firm, "Sooner"), (choice.fastest, "Sooner, as spot")):
        if sooner is not None and sooner not in named and hours_of(option) > SOONER * hours_of(sooner):
            yield f"{word}{_and_cheaper(sooner, option)}: {phrases.short(sooner)}"
            break
    if option.hold is not Hold.BUY:
        yield from _not_measured(choice)
    yield from _of_a_purchase(choice.purchase, phrases)
    if choice.without_price:
        options = "1 option" if choice.without_price == 1 else f"{choice.without_price} options"
        yield f"No price is known of {options}: run planner prices refresh, or state your own."


def _and_cheaper(sooner: CampaignOption, option: CampaignOption) -> str:
    """Return " and cheaper" if a faster option also costs less at the confidence."""
    costs = sooner.usd_confident, option.usd_confident
    return " and cheaper" if None not in costs and ranking_usd(sooner) < ranking_usd(option) else ""


def _of_a_purchase(purchase: CampaignOption | None, phrases: Phrases) -> Iterator[str]:
    if purchase is None or purchase.pay_now_usd is None:
        return
    price, name = phrases.money(purchase.pay_now_usd.value), name_of(purchase)
    if is_feasible(purchase):
        yield f"The cheapest to buy, {name}, is {price} at once."
    else:
        yield f"Buying misses the limits: {name}, the cheapest, is {price} at once."


def _not_measured(choice: Choice) -> Iterator[str]:
    option = choice.recommended
    known = is_measured(option) or _is_of_own_log(option)
    if known or choice.measured is not None or option.price_kind is PriceKind.HOSTED_TRAINING:
        return
    if option.known_from and rests_on_own_figures(option.known_from):
        yield f"Its speed is {option.known_from}."
    else:
        yield f"{NOT_MEASURED}: {option.known_from}." if option.known_from else f"{NOT_MEASURED}."


def _of_its_speed(option: CampaignOption) -> Iterator[str]:
    if _is_of_own_log(option):
        yield f"Its speed is that of {OWN_LOG}."
    if option.doubts:
        yield "But its measurement is doubtful: planner explain says why."


def _is_of_own_log(option: CampaignOption) -> bool:
    return option.throughput is not None and option.throughput.source.endswith(f"({OWN_LOG})")


def _blocks(option: CampaignOption) -> str:
    """Write the purchase: `A block of 4 days`; for several sets of machines the days of the longest block."""
    assert option.paid_ahead_hours is not None, "a block is bought"
    days = math.ceil((option.paid_ahead_hours + BLOCK_LAST_HOURS) / HOURS_PER_DAY - 1e-9)
    length = "1 day" if days == 1 else f"{days} days"
    return f"A block of {length}" if option.at_once == 1 else f"{option.at_once} blocks of up to {length}"


def _may_outlast_its_term(option: CampaignOption) -> bool:
    """Return whether the work at the confidence takes more hours than the term: USD of the term / USD of an hour."""
    price, term, hours = option.usd_per_hour, option.smallest_purchase_usd, option.hours_confident
    if price is None or price.value <= 0 or term is None or hours is None:
        return False
    return hours - option.wait_hours > term.value / (price.value * (option.nodes or 1) * option.at_once)


def _of_the_option(option: CampaignOption, phrases: Phrases, today: date, *, whose: str | None) -> Iterator[str]:
    """Yield the facts about the recommended option itself. `whose`: its name, if another machine was named before."""
    limits = phrases.limits
    if option.price_stale:
        price = "Its price" if whose is None else f"The price of {whose}"
        yield f"{price} is {option.price_age_days} days old: {renewal(option.price_refreshed)} first."
    if option.fits is None:
        yield "Whether the model fits its memory was not checked: try one step first."
    if option.split is not None:
        known = f", as {option.trainers[-1]} does" if option.trainers else ""
        yield f"Your trainer must split the model ({option.split}){known}: try a step first."
    if option.hold is Hold.BUY and option.pay_now_usd is not None:
        left = f"; {phrases.money(option.left_usd.value)} of it would be left then" if option.left_usd else ""
        ready = f", ready on {option.ready_on}" if option.wait_hours > 0 else ""
        yield f"{phrases.money(option.pay_now_usd.value)} are due at once{ready}{left}."
    if option.smallest_purchase_usd is not None:
        term = phrases.money(option.smallest_purchase_usd.value)
        ends = option.bill is not None and option.bill.usable_hours is not None
        if option.price_kind is PriceKind.CAPACITY_BLOCK and option.paid_ahead_hours is not None:
            they = "is paid whether it is" if option.at_once == 1 else "are paid whether they are"
            yield f"{_blocks(option)}, {term} in all, {they} used or not."
        else:
            what = "Its whole window is paid" if ends else "It must be bought for a term longer than the work"
            outlasts = not ends and _may_outlast_its_term(option)
            yield (
                "Its term may end before the work: more hours are counted on demand, or as another term."
                if outlasts
                else (f"{what}, {term} in all.")
            )
    elif option.bill is not None and any(line.what == AFTER_TERM for line in option.bill.lines):
        yield "Its term ends before the work: more hours are counted on demand, or as another term."
    if option.price_kind is PriceKind.HOSTED_TRAINING:
        yield "That the service trains this network with this method is the plan's word."
    if limits.start is not None and limits.start < today:
        yield f"The start {limits.start} lies in the past."
    if option.wait_hours > 0 and option.hold is not Hold.BUY and option.ready_on != (limits.start or today):
        likely = option.lead_days is not None and (option.site is None or option.hold is Hold.HAVE)  # it is waited for
        yield f"It can likely be had from {option.ready_on} on." if likely else f"It is ready on {option.ready_on}."
