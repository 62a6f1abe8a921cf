"""How long `planner find` takes with 100,000 stored prices, beside the same without any. Asserts nothing.

Both in turn in one process: the catalog is opened, offers are chosen and compared. The stored rows are the bundled ones
under new instance names, as a refresh would have brought them. The last line of stdout is one JSON document.
Run: python -m benchmarks.find_speed [ROWS]
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.prices import made_of
from planner import clock
from planner.adapters.catalog import load_catalog
from planner.adapters.price_filter import NOTHING
from planner.adapters.price_store import PriceStore
from planner.model.plan.find_filters import FindFilters
from planner.model.prices.offer import PriceOrigin
from planner.use_cases import catalogs, find, plans

ROWS = 100_000
REPEATS = 3
TARGET_S = 2.0
WORKLOAD, TOKENS = "llama3-8b", 35e6


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    seconds: dict[str, list[float]] = {"none_stored": [], "stored": []}
    with tempfile.TemporaryDirectory() as empty, tempfile.TemporaryDirectory() as full:
        today = clock.today()
        dated = {"origin": PriceOrigin.GPUHUNT, "as_of": today, "fetched_at": today}
        PriceStore(Path(full)).add(row.model_copy(update=dated) for row in made_of(load_catalog(), rows))
        for _ in range(REPEATS):
            for name, home in (("none_stored", empty), ("stored", full)):
                start = time.process_time()
                found(home)
                seconds[name].append(time.process_time() - start)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in medians.items():
        print(f"{name}: {value:.2f} s")
    print(f"target: {TARGET_S:g} s with {rows:,} rows")
    document = {"benchmark": "find_speed", "rows": rows, "median_s": medians, "target_s": TARGET_S}
    print(json.dumps(document | {"over_none_stored": medians["stored"] / medians["none_stored"]}))


def found(home: str) -> None:
    """Find machines for one training, from opening the catalog to the comparison."""
    catalog = catalogs.open_catalog(home, wanted=NOTHING)
    plan = find.plan_of(
        WORKLOAD, catalog, FindFilters(), tokens=TOKENS, seq_len=None, precision=None, adapters=lambda _: None
    )
    catalog = catalogs.with_found_prices(plan, catalog, home)
    listed = plans.with_found_options(plan, catalog, today=clock.today())
    plans.compare(listed, catalog, today=clock.today())


if __name__ == "__main__":
    main()
