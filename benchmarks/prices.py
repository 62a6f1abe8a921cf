"""Times selections among 300,000 stored prices, compared with reading the same rows as CSV. Asserts nothing.

One process alternates between a search for the cheapest machines, the prices of one accelerator, all prices, and the
cells of a CSV file of the same rows, which a store of text files would have to read before any selection. The stored
rows are the bundled ones with new instance names. The last line of stdout is one JSON document.
Run: python -m benchmarks.prices [ROWS]
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

from planner import clock
from planner.adapters.catalog import load_catalog
from planner.adapters.price_file import as_csv
from planner.adapters.stored_prices.price_filter import PriceFilter, PriceSearch
from planner.adapters.stored_prices.price_store import PriceStore
from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, PriceOrigin

ROWS = 300_000
REPEATS = 5
TARGET_S = 0.3


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    catalog = load_catalog()
    h100 = PriceFilter(accelerators=frozenset({"H100-SXM", "H100-PCIe", "H100-NVL"}))
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        path, store = Path(folder) / "prices.csv", PriceStore(Path(folder))
        prices = made_of(catalog, rows)
        path.write_text(as_csv(prices), encoding="utf-8")
        adding, _ = timed(lambda: store.add(prices))
        ways: dict[str, Callable[[], Any]] = {
            "csv_alone": lambda: sum(1 for _ in csv.reader(path.open(encoding="utf-8"))),
            "search": lambda: store.search(PriceSearch().for_catalog(catalog))[0],
            "search_eu": lambda: store.search(PriceSearch(regions=frozenset({"eu"})).for_catalog(catalog))[0],
            "search_available": lambda: store.search(PriceSearch(said_on=clock.today()).for_catalog(catalog))[0],
            "h100": lambda: store.current(h100),
            "everything": store.current,
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
        print(f"{name}: {value:.2f} s, {ratios[name]:.2f} times the CSV alone; {counts[name]:,} rows")
    print(f"added in {adding:.1f} s; target of the search: {TARGET_S:g} s with {rows:,} rows")
    document = {"benchmark": "prices", "rows": rows, "found": counts, "median_s": medians, "target_s": TARGET_S}
    print(json.dumps(document | {"over_csv_alone": ratios, "added_s": adding}))


def made_of(catalog: Catalog, count: int) -> list[Price]:
    """Return a number of prices of today, each of its own instance type with stated accelerators, like fetched rows."""
    rows, today = [], clock.today()
    fetched = {"origin": PriceOrigin.GPUHUNT, "as_of": today, "fetched_at": today}
    for number, row in enumerate(
        islice(cycle(row for row in catalog.prices if row.node in catalog.nodes and row.amount), count)
    ):
        node = catalog.nodes[row.node]
        name, cards = f"{row.instance_type}-{number}", {"accelerator": node.accelerator}
        rows.append(row.model_copy(update={"instance_type": name, "accelerators": node.accelerators} | cards | fetched))
    return rows


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds of a call, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
