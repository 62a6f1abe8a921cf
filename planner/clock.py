"""The current day, from which the age of prices, expiry of offers and deadlines are counted."""

from __future__ import annotations

from datetime import UTC, date, datetime


def now() -> datetime:
    """Return the current time in UTC, as all records and price lists use."""
    return datetime.now(UTC)


def today() -> date:
    """Return the current day in UTC."""
    return now().date()
