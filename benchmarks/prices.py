"""How long 100,000 price rows take to load, filter and sort, beside reading the CSV alone. Asserts nothing.

The file is made of the bundled rows under new instance names; both ways read it in turn in one process.
The last line of stdout is one JSON document.  Run: python benchmarks/prices.py [ROWS]
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

from planner.adapters.catalog import load_catalog
from planner.adapters.price_file import as_csv, read_prices
from planner.model.offer import Price, PriceKind

ROWS = 100_000
REPEATS = 5
TARGET_S = 1.0


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prices.csv"
        path.write_text(as_csv(made_of(load_catalog().prices, rows)), encoding="utf-8")
        seconds: dict[str, list[float]] = {"csv_alone": [], "load": [], "filter_and_sort": []}
        for _ in range(REPEATS):
            seconds["csv_alone"].append(timed(lambda: sum(1 for _ in csv.reader(path.open(encoding="utf-8"))))[0])
            elapsed, prices = timed(lambda: read_prices(path))
            seconds["load"].append(elapsed)
            elapsed, found = timed(lambda prices=prices: cheapest_spot(prices))
            seconds["filter_and_sort"].append(elapsed)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    total = medians["load"] + medians["filter_and_sort"]
    print(
        f"{rows:,} rows: loaded in {medians['load']:.2f} s, filtered and sorted in {medians['filter_and_sort']:.3f} s"
    )
    print(f"{len(found):,} of them are spot; reading the CSV alone takes {medians['csv_alone']:.2f} s")
    print(f"load and filter: {total:.2f} s (target {TARGET_S:g} s)")
    document = {"benchmark": "prices", "rows": rows, "median_s": medians, "total_s": total, "target_s": TARGET_S}
    print(json.dumps(document | {"load_over_csv_alone": medians["load"] / medians["csv_alone"]}))


def made_of(prices: tuple[Price, ...], count: int) -> list[Price]:
    """Return as many rows, each of its own instance type."""
    repeated = islice(cycle(prices), count)
    return [row.model_copy(update={"instance_type": f"{row.instance_type}-{n}"}) for n, row in enumerate(repeated)]


def cheapest_spot(prices: list[Price]) -> list[Price]:
    """Filter by kind and sort by price."""
    spot = [row for row in prices if row.price_kind is PriceKind.SPOT and row.usd_per_hour is not None]
    return sorted(spot, key=lambda row: row.usd_per_hour or 0.0)


def timed(call):  # type: ignore[no-untyped-def]
    """Return the processor's seconds that a call took, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


if __name__ == "__main__":
    main()
