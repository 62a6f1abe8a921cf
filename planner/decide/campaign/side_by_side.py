"""Run a campaign on one option: trainings one after another, or several at once if a limit is missed otherwise."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import date
from enum import Enum
from typing import NamedTuple

from planner.decide.campaign.campaign import campaign_option
from planner.decide.campaign.chances import hours_to, with_chances
from planner.decide.campaign.run_groups import Runs
from planner.decide.limits import MachineTerms, against, most_sets
from planner.decide.options.option import EstimatedOption
from planner.model.answer.option_estimate import CampaignOption
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity

MORE = 3
"""Number of smallest counts that keep the deadline which are tried, as one of them may keep the budget too."""


class Hurry(Enum):
    """Reason why several trainings run at once."""

    DEADLINE = "to keep the deadline"
    BOTH = "to keep deadline and budget together"
    CREDITS = "to end before credits expire"


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

    If one training after another misses the deadline, and the plan does not state `at_once`, the fewest trainings at
    once that keep the limits are taken; else the fewest that keep the deadline; else as many as allowed. They count
    only if they make it more likely to keep the limits. Credits that expire too early for the budget are treated alike.
    """

    def run(asked: CampaignLimits) -> CampaignOption:
        option = campaign_option(estimated, asked, catalog, today=today, groups=groups)
        return with_chances(option, limits, budget=budget, today=today, currency=currency)

    as_asked = run(limits)
    hurry = _hurry(estimated, as_asked, limits, today=today)
    if hurry is None:
        return OptionAlone(_named(as_asked, limits.runs), None)
    most, known = _most_at_once(estimated, as_asked, limits), dict[int, CampaignOption]()

    def at_once(sets: int) -> CampaignOption:
        if sets not in known:
            known[sets] = run(limits.model_copy(update={"at_once": sets}))
        return known[sets]

    def is_soon_enough(sets: int) -> bool:
        option = at_once(sets)
        return bool(option.meets_deadline) and (not _has_credits(option) or bool(option.within_budget))

    fewest = bisect_left(range(most + 1), True, lo=2, hi=most, key=is_soon_enough)
    near = range(fewest, min(fewest + MORE, most + 1))
    found = next((at_once(sets) for sets in near if _keeps_all(at_once(sets))), at_once(fewest))
    if (found.chance_both or 0.0) <= (as_asked.chance_both or 0.0):
        return OptionAlone(_named(as_asked, limits.runs), None)
    return OptionAlone(_named(found, limits.runs), hurry)


def _named(option: CampaignOption, runs: int) -> CampaignOption:
    """Return the option with a name that says how many of the campaign's trainings run at once, where several do."""
    sets = min(option.at_once, runs)
    if sets < 2:
        return option
    return option.model_copy(update={"display_name": with_at_once(option.display_name or option.id, sets)})


def with_at_once(name: str, at_once: int) -> str:
    """Return an option's name with how many trainings run at once there."""
    return f"{name}, {at_once} at once"


def _keeps_all(option: CampaignOption) -> bool:
    return bool(option.meets_deadline) and bool(option.within_budget) and option.keeps_both is not False


def _has_credits(option: CampaignOption) -> bool:
    return option.cost_by_hours is not None and bool(option.cost_by_hours.credits)


def _hurry(estimated: EstimatedOption, option: CampaignOption, limits: CampaignLimits, *, today: date) -> Hurry | None:
    """Return why several trainings should run at once; None if one after another is enough, or the plan states it.

    A budget that is missed alone is a reason only where credits expire: more at once pay no less otherwise. Of machines
    that were bought already there are no more than the plan says.
    """
    machine = estimated.candidate
    if (
        machine is None
        or limits.at_once is not None
        or machine.option.commitment_bought
        or option.not_allowed is not None
    ):
        return None
    if hours_to(limits, today=today) <= 0 or option.at_once >= _most_at_once(estimated, option, limits):
        return None
    if option.meets_deadline is False:
        return Hurry.DEADLINE
    if not option.meets_deadline:
        return None
    if not option.within_budget:
        return Hurry.CREDITS if _has_credits(option) else None
    return Hurry.BOTH if option.keeps_both is False and limits.deadline is not None else None


def _most_at_once(estimated: EstimatedOption, option: CampaignOption, limits: CampaignLimits) -> int:
    """Return how many trainings may run at once."""
    candidate = estimated.candidate
    assert candidate is not None, "there is a hurry"
    terms, queue = MachineTerms.of_option(option, candidate), candidate.option.queue
    wanted = limits.runs if queue is None else min(limits.runs, max(1, queue.machines // candidate.nodes))
    return most_sets(
        lambda machines: not against(terms, machines=machines, days=0.0), width=candidate.nodes, wanted=wanted
    )
