"""Current time, from which the age of prices, the expiry of offers and deadlines are counted."""

from __future__ import annotations

from datetime import UTC, date, datetime


def now() -> datetime:
    """Return the current time in UTC, the zone of all records and price lists."""
    return datetime.now(UTC)


def today() -> date:
    """Return the current day in UTC."""
    return now().date()
