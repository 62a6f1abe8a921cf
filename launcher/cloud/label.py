"""Parses times from clouds: the expiry labels that our tasks put on machines, the date of an answer. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from planner.launcher.plan.task import EXPIRY_FORMAT


def expiry_of(label: str | None) -> datetime | None:
    """Return when a machine should be gone; None if it has no such label, or one that is not ours."""
    if label is None:
        return None
    try:
        return datetime.strptime(label, EXPIRY_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def date_of(header: str | None) -> datetime | None:
    """Return the time of an answer by its `Date` header; None if that is missing or not a date."""
    try:
        at = parsedate_to_datetime(header or "")
        return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    except (ValueError, TypeError, OverflowError):
        return None
