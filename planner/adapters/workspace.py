"""Folders of the data: the bundled catalogs, and the user's own workspace."""

from __future__ import annotations

import os
from pathlib import Path

from planner.errors import InputError

_PACKAGE = Path(__file__).resolve().parent.parent


def catalogs_dir() -> Path:
    """Return the bundled catalogs, in a checkout (`catalogs/`) or in an installed wheel (`planner/_catalogs`)."""
    return _bundled("catalogs")


def examples_dir() -> Path:
    """Return the bundled example plans, in a checkout or in an installed wheel."""
    return _bundled("examples")


def templates_dir() -> Path:
    """Return the folder of the plan files that `planner init` writes."""
    return catalogs_dir() / "templates"


def workspace_dir(home: str | None = None) -> Path:
    """Return the user's workspace: the given folder, `$PLANNER_HOME`, or `./planner-data`."""
    return Path(home or os.environ.get("PLANNER_HOME") or "planner-data")


def exists_in_workspace(path: Path) -> bool:
    """Return whether a file of the workspace exists. Its reader refuses what is not a regular file."""
    return os.path.lexists(path)


def _bundled(name: str) -> Path:
    for folder in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise InputError(f"the planner's own {name} are missing from its installation.", fix="Install it again.")
