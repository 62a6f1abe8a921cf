"""Choose the figures of a plan: those of its row in `compare` if that is the same campaign, else the simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.decide.campaign.campaign_plan import CampaignPlan
from planner.decide.outcomes.draws import SAMPLES
from planner.decide.outcomes.outcomes import Outcomes
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived
from planner.quantity.interval import Interval

SAME_END = 0.01
"""Relative difference below which two ends count as equal."""
SAME_BILL = 0.01
"""Relative difference below which two bills of unlike runs count as equal: the solver adds up run by run, in cents.

The bill of equal runs on the same number of machines is that of the row, which counts the checkpoints of all sets."""
ENDS_90 = (0.05, 0.5, 0.95)
MOST_NAMED = 4
"""Number of sets of machines below which a note lists the trainings of each."""


def row_of(
    plan: CampaignPlan, options: Sequence[CampaignOption], limits: CampaignLimits
) -> tuple[CampaignOption | None, str | None]:
    """Return the option whose row in `compare` is the plan; else None and a sentence on the difference.

    A mix has neither.
    """
    if len(plan.placements) != 1:
        return None, None
    row = next(option for option in options if option.id == plan.placements[0].option)
    beyond = _unlike(plan, row, limits)
    return (row, None) if beyond is None else (None, beyond)


def _unlike(plan: CampaignPlan, row: CampaignOption, limits: CampaignLimits) -> str | None:
    """Return why the figures of a plan on one option differ from those of its row; None if they do not."""
    placed, hours = plan.placements[0], row.campaign_hours
    ends_known = row.paid_ahead_hours is not None or row.closes_hours is not None
    if not ends_known and placed.between is None and any(lane.closes for lane in placed.lanes):
        return _counted("the ends of its windows")
    shares = sorted((lane.count for lane in placed.lanes), reverse=True)
    sets, least = min(limits.runs, row.at_once), limits.runs // max(1, row.at_once)
    if placed.between is None and (len(shares) != sets or shares[0] > least + 1):
        counts = (
            " and ".join(map(str, shares))
            if len(shares) < MOST_NAMED
            else f"{'up to ' if shares[0] > 1 else ''}{shares[0]}"
        )
        machines = "1 set of machines" if len(shares) == 1 else f"{len(shares)} sets of machines"
        trainings = "training" if shares[0] == 1 else "trainings"
        return f"the plan runs {counts} {trainings} on {machines}; its row in compare shares them over {sets}"
    if (len({lane.opens for lane in placed.lanes}) > 1 and placed.between is None) or hours is None:
        return _counted("which machines are free when")
    opened = placed.earliest_start.value if placed.earliest_start is not None else 0.0
    delay = abs(plan.hours.value - opened - hours.value)
    usd, unlike_runs = _billed(row).value, limits.groups is not None or limits.successive_halving is not None
    same_bill = not unlike_runs or abs(plan.usd.value - usd) <= max(1.0, SAME_BILL * usd)
    if delay <= SAME_END * (opened + hours.value) and same_bill:
        return None
    return _counted("how unlike runs share the machines" if unlike_runs else "when each run can begin")


def _counted(what: str) -> str:
    return f"the plan counts {what}, which its row in compare does not: their figures differ"


def _billed(row: CampaignOption) -> Quantity:
    usd = row.owed_usd
    assert usd is not None, "what is placed has a price"
    return usd


def figures_of_row(plan: CampaignPlan, row: CampaignOption) -> CampaignPlan:
    """Return the plan at the bill of the row that is the same campaign, and with the range of its hours."""
    usd, of_row = _billed(row), row.campaign_hours
    assert of_row is not None, "what is placed has a time"
    before = plan.hours.value - of_row.value
    hours = plan.hours.model_copy(update={"low": before + of_row.low, "high": before + of_row.high})
    return replace(plan, usd=usd, placements=(replace(plan.placements[0], usd=usd),), hours=hours)


def figures_of_samples(plan: CampaignPlan, played: Outcomes) -> CampaignPlan:
    """Return the plan with the 90 % range of its simulated ends, and of a mix with their median.

    The last of several options decides: half of all campaigns end later than every single median says, and none ends
    before the surest option does.
    """
    low, value, high = (played.hours_at(chance) for chance in ENDS_90)
    likely = plan.hours.value
    source = f"the median of {SAMPLES:,} simulated campaigns, whose last run decides; {plan.hours.source}"
    # beyond the error of the simulation itself
    if len(plan.placements) < 2 or abs(value - likely) <= SAME_END * likely:
        value, source = likely, plan.hours.source
    ends = Interval(value, min(low, value), max(high, value))
    return replace(plan, hours=derived(ends, Unit.HOURS, plan.hours, source=source))
