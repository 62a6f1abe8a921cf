"""The day that answers are given on: prices age, offers run out and deadlines come near from it."""

from __future__ import annotations

from datetime import UTC, date, datetime


def now() -> datetime:
    """Return the time, in UTC like every record's and price list's."""
    return datetime.now(UTC)


def today() -> date:
    """Return the day, in UTC."""
    return now().date()
