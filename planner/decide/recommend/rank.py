"""Put the options in order: the recommended one, the others that may be recommended, then the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from planner.decide.campaign.chances import ranking_usd
from planner.decide.limits import MachineTerms, refusals
from planner.decide.recommend.pareto import hours_of, is_known, is_priced
from planner.model.answer.option_estimate import CampaignOption
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.quantity import Basis

TIE_FRACTION = 0.10
"""Options within this share of the best one's cost are as good as it, because ranges are wider."""
TIE_OF_BUDGET = 0.01
"""Options that differ by less than this share of the budget are as good as each other."""
TWICE_AS_GOOD = 2.0
TOO_SLOW = 5.0
TOO_DEAR = 2.0
"""Without a deadline the first option is at most 5 times slower than another of under twice its cost."""
MOST_OF_TIE = 1.5
"""Options within that share of the budget are ties up to this factor of the least cost."""
MUCH_LESS = 0.75
"""Share of a prepaid option's likely cost at which hours replace it that cost more at the confidence."""
BESIDE_OWN = 1.5
"""Factor of cost that is too dear beside a first option that is owned."""
EVEN_CHANCE = 0.5
HOLDS = (Hold.HAVE, Hold.USE, Hold.RENT, Hold.BUY, None)


def is_measured(option: CampaignOption) -> bool:
    """Return whether the option's speed was measured there."""
    return option.throughput is not None and option.throughput.basis is Basis.MEASURED


def is_firm(option: CampaignOption) -> bool:
    """Return whether the machine stays until the work is done: owned, or rented at a firm price."""
    return not MachineTerms.of_option(option).is_spot


def keeps_limits(option: CampaignOption) -> bool:
    """Return whether the option is known, allowed, and keeps deadline and budget, both at once, with the confidence."""
    known = is_known(option) or is_priced(option)
    each = bool(option.meets_deadline) and bool(option.within_budget)
    return known and option.not_allowed is None and each and option.keeps_both is not False


def is_feasible(option: CampaignOption) -> bool:
    """Return whether the option may be recommended: it keeps the limits, and can be had and kept."""
    return keeps_limits(option) and not refusals(option)


def is_comparable(option: CampaignOption, limits: CampaignLimits) -> bool:
    """Return whether the option can be put in order: money and time are known, or nothing asks for its time."""
    timeless = limits.deadline is None and limits.prefer is not Prefer.TIME
    return is_known(option) or (timeless and is_priced(option))


def chance_of(option: CampaignOption) -> float:
    """Return the chance to keep all limits; in an older answer the smaller chance of each; 1 without limits."""
    if option.chance_both is not None:
        return option.chance_both
    chances = (option.chance_deadline, option.chance_budget)
    return min((chance for chance in chances if chance is not None), default=1.0)


def ranked(options: Sequence[CampaignOption], limits: CampaignLimits, *, deadline_hours: float) -> list[CampaignOption]:
    """Return the comparable options: those that may be recommended, the recommended one first, then the others.

    The first by `ranking_usd`, or by hours under `prefer: time`, and ties by `_best_of_ties`. The others by their
    chance to keep the limits, then by how far they miss them; then spot that is not planned with, and last what is not
    allowed.
    """
    comparable = [option for option in options if is_comparable(option, limits)]
    feasible = sorted(
        (option for option in comparable if is_feasible(option)), key=lambda option: _order(option, limits)
    )
    first = _recommended(feasible, limits)
    others = [option for option in comparable if not is_feasible(option)]

    def distance(option: CampaignOption) -> tuple[bool, bool, bool, float, float, float, float, float, float, str]:
        refused = bool(refusals(option)) and not is_firm(option)
        excluded = (option.not_allowed is not None, refused, option.fits is None)
        miss = excess(option, limits, deadline_hours=deadline_hours)
        return (*excluded, -round(chance_of(option), 2), miss, *_order(option, limits))

    return [*first, *(option for option in feasible if option not in first), *sorted(others, key=distance)]


def excess(option: CampaignOption, limits: CampaignLimits, *, deadline_hours: float) -> float:
    """Return by which factor the option misses its worse limit: max(hours / limit, USD / budget).

    A budget of 0 is missed by any option that costs, infinitely.
    """
    owed = option.payable_usd
    assert owed is not None, "it is comparable"
    hours = option.campaign_hours.value if option.campaign_hours else 0.0  # without a deadline, or it would not be here
    over_time = hours / deadline_hours if deadline_hours > 0 else math.inf
    if limits.budget_usd is None or owed.value <= 0:
        return over_time
    return max(over_time, owed.value / limits.budget_usd if limits.budget_usd > 0 else math.inf)


def _order(option: CampaignOption, limits: CampaignLimits) -> tuple[float, float, float, float, str]:
    """Return what options are sorted by: cost and hours, then the bill before credits, then the credit's last hour.

    Credits that pay a whole bill make options equal: the smaller bill leaves more of them, and those that expire first
    are spent first.
    """
    usd, hours = ranking_usd(option), hours_of(option)
    first, second = (hours, usd) if limits.prefer is Prefer.TIME else (usd, hours)
    bill = option.campaign_usd.value if option.campaign_usd is not None else math.inf
    credits = option.cost_by_hours.credits if option.cost_by_hours is not None else ()
    return (first, second, bill, min((credit.hours for credit in credits), default=math.inf), option.id)


def _recommended(feasible: Sequence[CampaignOption], limits: CampaignLimits) -> list[CampaignOption]:
    """Return the recommended option in a list; an empty list if there is none."""
    certain = [option for option in feasible if option.fits] or list(feasible)
    if not certain:
        return []
    return [_much_faster(certain, limits)[-1]]


class OrderRule(Enum):
    """Rule by which an option comes before one that costs less, or ends sooner with `prefer: time`."""

    TIE = "as good"
    HOURS = "hours before a prepayment"
    SPEED = "over five times faster"


class Replaced(NamedTuple):
    """An option that would be first without a rule, and the one that comes before it."""

    option: CampaignOption
    rule: OrderRule
    by: CampaignOption


def replaced(options: Sequence[CampaignOption], limits: CampaignLimits) -> list[Replaced]:
    """Return the options that a rule replaces on the way from the first in cost or time to the recommended one."""
    feasible = sorted(filter(is_feasible, options), key=lambda option: _order(option, limits))
    certain = [option for option in feasible if option.fits] or feasible
    if not certain:
        return []
    tied = _best_of_ties(certain, limits)
    chain = _much_faster(certain, limits)
    rules = [(certain[0], OrderRule.TIE, tied), (tied, OrderRule.HOURS, chain[0])]
    rules += [(slow, OrderRule.SPEED, fast) for slow, fast in pairwise(chain)]
    return [Replaced(*each) for each in rules if each[0] is not each[2] and each[0] is not chain[-1]]


def dearest_beside(slow: CampaignOption) -> float:
    """Return the factor of cost below which an option over five times faster comes before this one."""
    return BESIDE_OWN if slow.hold is Hold.HAVE else TOO_DEAR


def _much_faster(certain: Sequence[CampaignOption], limits: CampaignLimits) -> list[CampaignOption]:
    """Return the option that is first by cost, and those that replace each other, each over five times faster."""
    found = [_or_hours_as_used(_best_of_ties(certain, limits), certain, limits)]
    priced = limits.waiting_usd_per_hour is not None  # the plan itself says what an hour is worth
    if limits.deadline is not None or limits.prefer is Prefer.TIME or priced:
        return found
    while True:
        best = found[-1]
        most = dearest_beside(best) * ranking_usd(best)
        faster = [
            other for other in certain if hours_of(best) > TOO_SLOW * hours_of(other) and ranking_usd(other) < most
        ]
        if not faster:
            return found
        found.append(min(faster, key=lambda option: _order(option, limits)))


def _or_hours_as_used(
    best: CampaignOption, ordered: Sequence[CampaignOption], limits: CampaignLimits
) -> CampaignOption:
    """Return the firm option by the hour that replaces a prepaid one; otherwise the given option.

    It likely costs a tenth less where it is a tie at the confidence, and a quarter less where it costs up to twice as
    much there. Prepayment limits the cost, but its unused hours are usually lost. With `prefer: time` the option must
    be a tie in time.
    """
    ahead, by_time = best.payable_usd, limits.prefer is Prefer.TIME
    if not is_paid_ahead(best) or ahead is None:
        return best

    def takes_its_place(option: CampaignOption) -> bool:
        owed = option.payable_usd
        if owed is None or is_paid_ahead(option) or not is_firm(option) or option.hold is not best.hold:
            return False
        if by_time and hours_of(option) > hours_of(best) * (1 + TIE_FRACTION):
            return False
        hours = Costs(owed.value, ranking_usd(option))
        return _replace(hours, Costs(ahead.value, ranking_usd(best)), by_time=by_time)

    instead = [option for option in ordered if takes_its_place(option)]
    return _best_of_ties(instead, limits) if instead else best


class Costs(NamedTuple):
    """USD that an option likely costs, and that it stays below with the plan's confidence."""

    likely: float
    confident: float


def hours_come_first(hours: Costs, ahead: Costs) -> bool:
    """Return whether a firm option that is paid by the hour comes before a prepaid one, of these two alone.

    It does if it costs less at the confidence, or if its likely cost is low enough to replace the prepaid one.
    """
    return hours.confident < ahead.confident or _replace(hours, ahead)


def _replace(hours: Costs, ahead: Costs, *, by_time: bool = False) -> bool:
    """Return whether hours likely cost enough less than a prepaid option, and at the confidence at most twice as much.

    That is a tenth less where both tie, in time (`by_time`) or at the confidence, and otherwise a quarter less.
    """
    is_tie = by_time or hours.confident <= (1 + TIE_FRACTION) * ahead.confident
    least = 1 - TIE_FRACTION if is_tie else MUCH_LESS
    return hours.likely <= least * ahead.likely and hours.confident <= TOO_DEAR * ahead.confident


def _best_of_ties(ordered: Sequence[CampaignOption], limits: CampaignLimits) -> CampaignOption:
    """Return the best of the options that are as good as the first in cost, or in time with `prefer: time`.

    An option that is twice as good in the other of both wins. Otherwise owned comes before rented before bought,
    measured before modelled, undivided before divided, firm before spot, then fewer nodes. The age of a price counts
    only in the cost at the confidence. An option of over 1.5 times the lowest cost is no tie, however large the budget
    is. No option wins that another beats in everything (`_is_beaten`).
    """
    by_time = limits.prefer is Prefer.TIME
    decides, other = (hours_of, ranking_usd) if by_time else (ranking_usd, hours_of)
    slack = 0.0 if by_time or limits.budget_usd is None else TIE_OF_BUDGET * limits.budget_usd
    least = decides(ordered[0])
    most = max(least * (1 + TIE_FRACTION), min(least + slack, least * MOST_OF_TIE))
    near = [option for option in ordered if decides(option) <= most]
    unbeaten = [option for option in near if not any(_is_beaten(option, rival) for rival in near)]
    ties = sorted(unbeaten, key=lambda option: (sort_class(option), _order(option, limits)))
    best = min(ties, key=other)
    return best if other(best) * TWICE_AS_GOOD <= other(ties[0]) else ties[0]


def _is_beaten(option: CampaignOption, rival: CampaignOption) -> bool:
    """Return whether a rival of the same kind of holding is cheaper and sooner, and nowhere less sure."""
    if (
        option.hold is not rival.hold
        or ranking_usd(rival) >= ranking_usd(option)
        or hours_of(rival) >= hours_of(option)
    ):
        return False
    return all(theirs >= ours for theirs, ours in zip(_sureness(rival), _sureness(option), strict=True))


def is_paid_ahead(option: CampaignOption) -> bool:
    """Return whether hours or a term are bought whether they are used or not."""
    return option.paid_ahead_hours is not None or option.smallest_purchase_usd is not None


def _sureness(option: CampaignOption) -> tuple[float, float, bool, bool, bool]:
    """Return the chances to keep the limits and to fit, in percent, and whether it is measured, undivided and firm."""
    fits = 1.0 if option.fit_chance is None else option.fit_chance
    return round(chance_of(option), 2), round(fits, 2), is_measured(option), option.split is None, is_firm(option)


def sort_class(option: CampaignOption) -> tuple[int, bool, bool, bool, int]:
    """Return what decides a tie, the lowest first: the hold, not measured, divided, not firm, nodes."""
    return (
        HOLDS.index(option.hold), not is_measured(option), option.split is not None, not is_firm(option),
        option.nodes or 0,
    )  # fmt: skip
