"""Convert hours of a campaign to moments in the plan's time zone and back, with days of 23 and 25 hours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from planner.model.plan.campaign_limits import CampaignLimits
from planner.quantity.time_units import SECONDS_PER_HOUR

NOON = timedelta(hours=12)
"""Time of today that is already gone when work starts, if the plan states no start."""
INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True)
class Calendar:
    """First moment of a campaign, from which its hours are counted, and the time zone of its days."""

    start: datetime
    """First moment, in UTC."""
    zone: ZoneInfo

    @classmethod
    def of(cls, limits: CampaignLimits, *, today: date) -> Calendar:
        """Begin with the plan's first day, or at noon of today if it states none.

        `today` is the day in the plan's zone (`counted_from`).
        """
        zone = zone_of(limits)
        begin = _midnight(today, zone) + NOON if limits.start is None else _midnight(limits.start, zone)
        return cls(begin, zone)

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

    def ordered(self, today: date) -> float:
        """Return the hours from the start at which machines are ordered today; negative if the start lies ahead."""
        return 0.0 if today == self.first else self.hours_to(today)

    def moment(self, hours: float) -> datetime:
        """Return the moment that lies these hours after the start, in the plan's zone, to the second."""
        most = min(hours, self._last_hours)
        return (self.start + timedelta(seconds=round(most * SECONDS_PER_HOUR))).astimezone(self.zone)

    def last_day(self, hours: float) -> date:
        """Return the day on which work ends after these hours. Midnight ends the day before."""
        if hours > self._last_hours:
            return date.max
        end = self.start + timedelta(hours=hours) - INSTANT
        return max(self.first, end.astimezone(self.zone).date())

    @property
    def _last_hours(self) -> float:
        """Return the hours until two days before the end of the calendar, beyond which no zone has a time."""
        return self.hours(datetime.max.replace(tzinfo=UTC) - timedelta(days=2))


def zone_of(limits: CampaignLimits) -> ZoneInfo:
    """Return the time zone of a plan's days."""
    return ZoneInfo(limits.timezone or "UTC")


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
