"""Version of the planner. The package is built with it."""

from __future__ import annotations

VERSION = "0.1.0"


def planner_version() -> str:
    """Return the version of this planner."""
    return VERSION
