"""Published networks as workloads."""

from __future__ import annotations

from pathlib import Path

from planner.adapters.csv_rows import read_rows
from planner.model.network.known_network import KnownNetwork
from planner.model.network.workload import Preset

FILE = "networks.csv"


def read_known_networks(root: Path) -> list[KnownNetwork]:
    """Return the rows of `networks.csv` under a catalog's folder; none if there is no such file."""
    path = root / FILE
    return read_rows(KnownNetwork, path) if path.is_file() else []


def known_presets(root: Path) -> list[Preset]:
    """Return the known networks as workloads."""
    return [row.preset() for row in read_known_networks(root)]
