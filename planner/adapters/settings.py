"""The workspace's settings, `settings.yaml`: for now only where its runs are kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from planner.adapters.documents import read_model
from planner.adapters.run_store import FolderStore, RunStore
from planner.adapters.s3_store import SCHEME, S3Store
from planner.adapters.workspace import is_there
from planner.errors import StoreError
from planner.model.base import Frozen, Text

SETTINGS_NAME = "settings.yaml"
SETTINGS_FIX = "Write one line: runs: s3://bucket/prefix, or a folder."


def _named(place: str) -> str:
    if not place.isprintable():
        raise ValueError("holds a control character, which no folder or bucket has")
    return place


class Settings(Frozen):
    """Contents of a workspace's `settings.yaml`, which a team shares."""

    runs: Annotated[Text, AfterValidator(_named)] | None = None
    """`s3://bucket/prefix`, or a folder (relative to the workspace).

    The default is the folder `runs` of the workspace.
    """


def open_store(workspace: Path) -> RunStore:
    """Open the run store: `$PLANNER_RUNS`, otherwise `runs` of the workspace's settings, otherwise its folder `runs`.

    Reads only the settings, and imports nothing of AWS.
    """
    named = os.environ.get("PLANNER_RUNS")
    if named:
        return S3Store(named) if _is_remote(named) else _folder_elsewhere(Path(named), "PLANNER_RUNS")
    path = workspace / SETTINGS_NAME
    chosen = read_model(Settings, path, fix=SETTINGS_FIX).runs if is_there(path) else None
    if chosen is not None and _is_remote(chosen):
        return S3Store(chosen)
    folder = workspace / (chosen or "runs")
    within = folder.resolve().is_relative_to(workspace.resolve())
    return FolderStore(folder) if within else _folder_elsewhere(folder, str(path))


def _folder_elsewhere(folder: Path, where: str) -> FolderStore:
    """Refuse a folder whose parent is missing: an unmounted disk would hide the team's runs."""
    if not folder.parent.is_dir():
        raise StoreError(
            f"{where}: the runs' folder {folder} lies in {folder.parent}, which is not there.",
            fix="Mount it, create it, or correct the name.",
        )
    return FolderStore(folder)


def _is_remote(place: str) -> bool:
    return "://" in place or place.startswith(SCHEME.rstrip("/"))
