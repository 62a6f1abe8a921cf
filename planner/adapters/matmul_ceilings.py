"""Reads the measured matmul rates."""

from __future__ import annotations

from planner.adapters.csv_rows import read_rows
from planner.adapters.workspace import catalogs_dir
from planner.model.hardware.machines import MatmulCeiling


def read_matmul_ceilings() -> list[MatmulCeiling]:
    """Return `catalogs/hardware/matmul_ceilings.csv`."""
    return read_rows(MatmulCeiling, catalogs_dir() / "hardware" / "matmul_ceilings.csv")
