"""The labels that our tasks put on machines. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from launcher.plan.task import EXPIRY_FORMAT


def expiry_of(label: str | None) -> datetime | None:
    """Return when a machine should be gone; None where it has no such label, or one that is not ours."""
    if label is None:
        return None
    try:
        return datetime.strptime(label, EXPIRY_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
