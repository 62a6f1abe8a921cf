"""Published image networks, under all of their names."""

from __future__ import annotations

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.network.image_network import ImageNetwork
from planner.speed.evidence.measured_image_config import by_name

FILE = "image_networks.csv"


def read_image_networks() -> dict[str, ImageNetwork]:
    """Return `catalogs/image_networks.csv` under every name, in lower case."""
    return by_name(read_rows(ImageNetwork, catalogs_dir() / FILE))
