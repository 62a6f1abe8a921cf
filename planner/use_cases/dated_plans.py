"""Says from when the work of a plan is counted: the one place where an answer takes its day from the clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from planner.duration.calendar import NOON, zone_of
from planner.errors import InputError
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan


class Counted(NamedTuple):
    """Moment from which work is counted."""

    today: date
    """Day in the plan's zone."""
    start: date | None
    """First day that counts instead of today; None if the plan states one, or if today's noon is still to come."""

    has_deadline: bool = False
    """True if the plan has a deadline, so that the assumption matters."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """Return the assumption about the start, as `ask` words assumptions; nothing if no deadline depends on it."""
        if self.start is None or not self.has_deadline:
            return ()
        return (f"work is counted from {self.start}, as noon of {self.today} has passed (campaign.start)",)


class DatedPlan(NamedTuple):
    """A plan as it is answered at a moment. What is kept of an answer has this plan and this day."""

    plan: Plan
    today: date
    assumed: tuple[str, ...]


def counted_from(limits: CampaignLimits, *, now: datetime) -> Counted:
    """Return from when work is counted that is asked for now.

    The plan's `start`; without one noon of today in the plan's zone, and after that noon the next day, so that no hour
    counts that has passed. A deadline that passed earlier stays missed. Raises InputError for a deadline that is today
    when its noon has passed, as nothing of today counts then.
    """
    local = now.astimezone(zone_of(limits))
    today, tomorrow = local.date(), local.date() + timedelta(days=1)
    noon_passed = timedelta(hours=local.hour, minutes=local.minute, seconds=local.second) > NOON
    if limits.start is not None or not noon_passed or (limits.deadline is not None and limits.deadline < today):
        return Counted(today, None)
    if limits.deadline == today:
        raise InputError(
            f"campaign.deadline: {today} ends today, and work is counted from {tomorrow}, as noon has passed.",
            fix=f"Give a later deadline, or `start: {today}` to count all 24 hours of today.",
        )
    return Counted(today, tomorrow, has_deadline=limits.deadline is not None)


def dated(plan: Plan, *, now: datetime) -> DatedPlan:
    """Return a plan as it is answered now (`counted_from`)."""
    counted = counted_from(plan.campaign, now=now)
    return DatedPlan(beginning(plan, counted.start), counted.today, counted.assumed)


def beginning(plan: Plan, start: date | None) -> Plan:
    """Return the plan with a first day; None leaves its own."""
    if start is None:
        return plan
    return plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"start": start})})


def assumed_lines(assumed: Sequence[str]) -> list[str]:
    """Return one line per assumption."""
    return [f"Assumed: {assumption}" for assumption in assumed]
