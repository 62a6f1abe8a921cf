"""Convert hours of a campaign to moments in the plan's time zone and back, with days of 23 and 25 hours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from planner.duration.duration import passed_hours
from planner.model.plan.plan import CampaignLimits
from planner.quantity.time_units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class Calendar:
    """First moment of a campaign, and the time zone of its days."""

    start: datetime
    """First moment, in UTC."""
    zone: ZoneInfo

    @classmethod
    def of(cls, limits: CampaignLimits, *, today: date) -> Calendar:
        """Return the calendar from the plan's first day, or from noon of today if it names none (`passed_hours`)."""
        zone = ZoneInfo(limits.timezone or "UTC")
        first = limits.start or today
        passed = passed_hours(stated=limits.start, start=first, today=today)
        return cls(_midnight(first, zone) + timedelta(hours=passed), zone)

    @property
    def first(self) -> date:
        """Return the campaign's first day."""
        return self.start.astimezone(self.zone).date()

    def hours(self, moment: datetime) -> float:
        """Return the hours from the start until a moment that carries its zone."""
        return (moment.astimezone(UTC) - self.start).total_seconds() / SECONDS_PER_HOUR

    def hours_to(self, day: date) -> float:
        """Return the hours until a day begins in the plan's zone; negative if it has begun."""
        return self.hours(_midnight(day, self.zone))

    def begin_of(self, day: date) -> float:
        """Return the hours until a day begins in the plan's zone; 0 if it has begun."""
        return max(0.0, self.hours_to(day))

    def end_of(self, day: date) -> float:
        """Return the hours until a day ends in the plan's zone; negative if it has ended."""
        return self.hours(_midnight(day + timedelta(days=1), self.zone)) if day < date.max else math.inf

    def moment(self, hours: float) -> datetime:
        """Return the moment after a number of hours, in the plan's zone, to the second."""
        most = (datetime.max.replace(tzinfo=UTC) - timedelta(days=2) - self.start).total_seconds() / SECONDS_PER_HOUR
        then = self.start + timedelta(seconds=round(min(hours, most) * SECONDS_PER_HOUR))
        return then.astimezone(self.zone)


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
