"""Small tables of the catalog: published networks, measured matmul rates, parts that can be bought for a machine."""

from __future__ import annotations

from pathlib import Path

from planner.adapters.bundled_files import bundled_once
from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.hardware.machines import MatmulCeiling, Upgrade
from planner.model.network.image_network import ImageNetwork
from planner.model.network.known_network import KnownNetwork
from planner.model.network.workload import Preset
from planner.speed.evidence.measured_image_config import by_name


def read_image_networks() -> dict[str, ImageNetwork]:
    """Return `catalogs/image_networks.csv` under every name, in lower case."""
    return by_name(read_rows(ImageNetwork, catalogs_dir() / "image_networks.csv"))


@bundled_once
def known_presets(path: Path) -> list[Preset]:
    """Return the known networks of a table as workloads."""
    return [row.preset() for row in read_rows(KnownNetwork, path)]


def read_matmul_ceilings() -> list[MatmulCeiling]:
    """Return `catalogs/hardware/matmul_ceilings.csv`."""
    return read_rows(MatmulCeiling, catalogs_dir() / "hardware" / "matmul_ceilings.csv")


def read_upgrades() -> list[Upgrade]:
    """Return `catalogs/hardware/upgrades.csv`."""
    return read_rows(Upgrade, catalogs_dir() / "hardware" / "upgrades.csv")
