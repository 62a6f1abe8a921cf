"""Choose how many trainings of a campaign run at once on one option."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import date
from enum import Enum
from typing import NamedTuple

from planner.decide.campaign.campaign import campaign_option
from planner.decide.campaign.chances import hours_to, ranking_usd, with_chances
from planner.decide.campaign.held import held_hours
from planner.decide.campaign.run_groups import Runs
from planner.decide.limits import MachineTerms, against, most_sets
from planner.decide.options.display_name import name_of
from planner.decide.options.option import EstimatedOption
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.quantity import Quantity

MORE = 3
"""Number of smallest counts that keep the deadline which are tried, as one of them may keep the budget too."""
COUNTS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64)
"""Numbers of trainings at once of which the best is taken, and the largest that is allowed."""
CLEARLY = 0.02
"""Share by which another number at once must be cheaper, or sooner, to be taken."""


class Hurry(Enum):
    """Reason why several trainings run at once."""

    DEADLINE = "to keep the deadline"
    BOTH = "to keep deadline and budget together"
    CREDITS = "to end before credits expire"
    COST = "to cost less"
    TIME = "to end sooner"


class OptionAlone(NamedTuple):
    """Campaign on one option, with as many trainings at once as its limits need."""

    option: CampaignOption
    hurry: Hurry | None
    """Reason why several run at once; None if one training after another keeps the limits, or more do not help."""


def option_alone(
    estimated: EstimatedOption,
    limits: CampaignLimits,
    catalog: Catalog,
    *,
    budget: Quantity | None,
    groups: Sequence[Runs],
    today: date,
    currency: Currency | None = None,
) -> OptionAlone:
    """Run the plan's campaign on an option alone, with its chances.

    The plan may state `at_once`. Otherwise it is `sets_at_once`, unless

    - one training after another misses the deadline: then the fewest that keep the limits, else the fewest that keep
      the deadline, else as many as allowed. They count only if they make it more likely to keep the limits. Credits
      that expire too early for the budget are treated alike.
    - the cost depends on how many run at once (`_cost_depends`): then the number with the lowest cost at the confidence
      of those that keep the limits. With `prefer: time` it is the number that ends first. Both hold of rented machines.
    """

    def run(asked: CampaignLimits) -> CampaignOption:
        option = campaign_option(estimated, asked, catalog, today=today, groups=groups)
        return with_chances(option, limits, budget=budget, today=today, currency=currency)

    as_asked = run(limits)
    is_hopeless = as_asked.not_allowed is not None or hours_to(limits, today=today) <= 0
    if is_hopeless or not may_vary(estimated, limits):
        return OptionAlone(_named(as_asked, limits.runs), None)
    most, known = most_at_once(estimated, as_asked, limits), {as_asked.at_once: as_asked}

    def at_once(sets: int) -> CampaignOption:
        if sets not in known:
            known[sets] = run(limits.model_copy(update={"at_once": sets}))
        return known[sets]

    best, hurry = as_asked, None
    why = _missed(as_asked, limits) if as_asked.at_once < most else None
    if why is not None:
        sooner = _fewest(at_once, most)
        if (sooner.chance_both or 0.0) > (as_asked.chance_both or 0.0):
            best, hurry = sooner, why
    by_time = limits.prefer is Prefer.TIME
    if as_asked.hold is Hold.RENT and (by_time or _cost_depends(estimated, as_asked, limits)):
        better = _best(at_once, most, best, runs=limits.runs, by_time=by_time)
        if better is not best:
            why = Hurry.TIME if by_time else Hurry.COST
            hurry = hurry or (why if better.at_once > as_asked.at_once else None)
            best = better
    return OptionAlone(_named(best, limits.runs), hurry)


def _fewest(at_once: Callable[[int], CampaignOption], most: int) -> CampaignOption:
    """Return the campaign with the fewest trainings at once that keep the limits, else the deadline, else with most."""

    def is_soon_enough(sets: int) -> bool:
        option = at_once(sets)
        return bool(option.meets_deadline) and (not _has_credits(option) or bool(option.within_budget))

    fewest = bisect_left(range(most + 1), True, lo=2, hi=most, key=is_soon_enough)
    near = range(fewest, min(fewest + MORE, most + 1))
    return next((at_once(sets) for sets in near if _keeps_all(at_once(sets))), at_once(fewest))


def _best(
    at_once: Callable[[int], CampaignOption], most: int, best: CampaignOption, *, runs: int, by_time: bool
) -> CampaignOption:
    """Return the cheapest, or `by_time` the fastest, campaign at the confidence that keeps the limits.

    It is `best` if no other is clearly better, and otherwise the one with the fewest trainings at once.
    """
    decides = _hours if by_time else ranking_usd
    kept = [
        option
        for option in map(at_once, _counts(most, runs))
        if option.usd_confident is not None and _keeps_all(option)
    ]
    if best.usd_confident is not None and _keeps_all(best):
        kept = [best, *kept]
    least = min(map(decides, kept), default=0.0)
    return next((option for option in kept if decides(option) * (1 - CLEARLY) <= least), best)


def _counts(most: int, runs: int) -> list[int]:
    """Return the numbers of trainings at once that are tried: of those that take equally many rounds the smallest."""
    rounds = {math.ceil(runs / min(count, most)) for count in (*COUNTS, most) if most}
    return sorted(math.ceil(runs / each) for each in rounds)


def _hours(option: CampaignOption) -> float:
    return math.inf if option.hours_confident is None else option.hours_confident


def _named(option: CampaignOption, runs: int) -> CampaignOption:
    """Return the option with a name that says how many of the campaign's trainings run at once, where several do."""
    sets = min(option.at_once, runs)
    if sets < 2:
        return option
    return option.model_copy(update={"display_name": with_at_once(name_of(option), sets)})


def with_at_once(name: str, at_once: int) -> str:
    """Return an option's name with how many trainings run at once there."""
    return f"{name}, {at_once} at once"


def _keeps_all(option: CampaignOption) -> bool:
    return bool(option.meets_deadline) and bool(option.within_budget) and option.keeps_both is not False


def _has_credits(option: CampaignOption) -> bool:
    return option.cost_by_hours is not None and bool(option.cost_by_hours.credits)


def may_vary(estimated: EstimatedOption, limits: CampaignLimits) -> bool:
    """Return whether another number at once may be tried, because the plan does not state it.

    Of machines that were bought already there are no more than the plan says.
    """
    machine = estimated.candidate
    return machine is not None and limits.at_once is None and not machine.option.commitment_bought


def _missed(option: CampaignOption, limits: CampaignLimits) -> Hurry | None:
    """Return why more trainings should run at once; None if the limits are kept, or more at once do not help.

    A budget that is missed alone is a reason only where credits expire: more at once pay no less otherwise.
    """
    if option.meets_deadline is False:
        return Hurry.DEADLINE
    if not option.meets_deadline:
        return None
    if not option.within_budget:
        return Hurry.CREDITS if _has_credits(option) else None
    return Hurry.BOTH if option.keeps_both is False and limits.deadline is not None else None


def _cost_depends(estimated: EstimatedOption, option: CampaignOption, limits: CampaignLimits) -> bool:
    """Return whether the cost by which options are ranked depends on how many trainings run at once.

    It does if waiting has a price, if the price changes during the work, if credits expire before its end, and if each
    set of machines has a term of its own.
    """
    end = option.hours_confident
    if end is None:
        return False
    if limits.waiting_usd_per_hour:
        return True
    if any(start < end for start in estimated.price_changes):
        return True
    if option.cost_by_hours is not None and any(credit.hours < end for credit in option.cost_by_hours.credits):
        return True
    has_term = estimated.rates is not None and estimated.rates.terms.once
    return option.at_once > 1 and (has_term or not math.isinf(held_hours(estimated)))


def most_at_once(estimated: EstimatedOption, option: CampaignOption, limits: CampaignLimits) -> int:
    """Return how many trainings may run at once."""
    candidate = estimated.candidate
    assert candidate is not None, "there is a hurry"
    terms, queue = MachineTerms.of_option(option, candidate), candidate.option.queue
    wanted = limits.runs if queue is None else min(limits.runs, max(1, queue.machines // candidate.nodes))
    return most_sets(
        lambda machines: not against(terms, machines=machines, days=0.0), width=candidate.nodes, wanted=wanted
    )
