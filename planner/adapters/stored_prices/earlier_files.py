"""Reads the CSV files in which earlier versions kept prices:

`prices/observations/PROVIDER.csv`, `prices/read/lists.csv`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from planner.adapters.csv_rows import read_rows
from planner.adapters.documents import read_text
from planner.adapters.price_file import COLUMNS, PRICE_LIMIT_BYTES, parse_prices
from planner.model.prices.offer import Price, PriceOrigin
from planner.model.prices.price_list import ListRead


def has_earlier_files(folder: Path) -> bool:
    """Return whether the folder `prices` of a workspace has observations of an earlier version."""
    return (folder / "observations").is_dir()


def earlier_observations(folder: Path) -> Iterator[list[Price]]:
    """Yield the observations of each provider, in the order of adding. An incomplete last line is skipped."""
    for path in sorted((folder / "observations").glob("*.csv")):
        text = read_text(path, limit_bytes=PRICE_LIMIT_BYTES)
        whole = text[: text.rfind("\n") + 1] or ",".join(COLUMNS)
        rows = parse_prices(whole, where=str(path), origin=PriceOrigin.BUNDLED, duplicates=True)
        yield [row for _, row in rows]


def earlier_lists(folder: Path) -> list[ListRead]:
    """Return which complete lists were read."""
    path = folder / "read" / "lists.csv"
    return read_rows(ListRead, path) if path.exists() else []
