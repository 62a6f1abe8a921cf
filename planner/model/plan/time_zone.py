"""Time zones by their names in the IANA data base."""

from __future__ import annotations

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def is_timezone(name: str) -> bool:
    """Return whether a time zone has this name."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
