"""Version of the installed planner."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def planner_version() -> str:
    """Return the version of this planner."""
    try:
        return version("training-planner")
    except PackageNotFoundError:
        return "unknown"
