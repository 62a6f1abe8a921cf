"""How long 100,000 price rows take to load and filter, beside reading the CSV alone. Asserts nothing.

Three ways in turn in one process: by the cells, as commands read what refreshes have brought (all accelerators of one
kind, spot alone); and every row built and checked first. The file holds the bundled rows under new instance names.
The last line of stdout is one JSON document.  Run: python benchmarks/prices.py [ROWS]
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from planner.adapters.catalog import load_catalog
from planner.adapters.price_file import as_csv, read_prices
from planner.adapters.price_filter import PriceFilter
from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, PriceKind

ROWS = 100_000
REPEATS = 5
SPOT = PriceKind.SPOT
TARGET_S = 1.0


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    catalog = load_catalog()
    h100 = PriceFilter(accelerators=frozenset({"H100-SXM", "H100-PCIe", "H100-NVL"}))
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prices.csv"
        path.write_text(as_csv(made_of(catalog, rows)), encoding="utf-8")
        ways: dict[str, Callable[[], Any]] = {
            "csv_alone": lambda: sum(1 for _ in csv.reader(path.open(encoding="utf-8"))),
            "h100": lambda: sorted(read_prices(path, wanted=h100), key=amount),
            "spot": lambda: sorted(read_prices(path, wanted=PriceFilter(kinds=frozenset({"spot"}))), key=amount),
            "all_then_spot": lambda: sorted((row for row in read_prices(path) if row.price_kind is SPOT), key=amount),
        }
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(REPEATS):
            for name, way in ways.items():
                elapsed, result = timed(way)
                seconds[name].append(elapsed)
                counts[name] = result if isinstance(result, int) else len(result)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratios = {name: value / medians["csv_alone"] for name, value in medians.items()}
    for name, value in medians.items():
        print(f"{name}: {value:.2f} s, {ratios[name]:.1f} times the CSV alone; {counts[name]:,} rows")
    print(f"target: {TARGET_S:g} s to load and filter {rows:,} rows")
    document = {"benchmark": "prices", "rows": rows, "found": counts, "median_s": medians, "target_s": TARGET_S}
    print(json.dumps(document | {"over_csv_alone": ratios}))


def amount(row: Price) -> float:
    """Return what rows are ordered by."""
    return row.usd_per_hour or 0.0


def made_of(catalog: Catalog, count: int) -> list[Price]:
    """Return as many rows, each of its own instance type that says what it carries, as fetched rows do."""
    rows = []
    for number, row in enumerate(islice(cycle(row for row in catalog.prices if row.node in catalog.nodes), count)):
        node = catalog.nodes[row.node]
        name, cards = f"{row.instance_type}-{number}", {"accelerator": node.accelerator}
        rows.append(row.model_copy(update={"instance_type": name, "accelerators": node.accelerators} | cards))
    return rows


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor's seconds that a call took, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
