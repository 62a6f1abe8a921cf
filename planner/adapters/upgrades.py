"""Reads the parts that can be bought for a machine."""

from __future__ import annotations

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.hardware.machines import Upgrade


def read_upgrades() -> list[Upgrade]:
    """Return `catalogs/hardware/upgrades.csv`."""
    return read_rows(Upgrade, catalogs_dir() / "hardware" / "upgrades.csv")
