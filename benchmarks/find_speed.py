"""Times `planner find` with and without 100,000 stored prices. Asserts nothing.

Counts the user and system CPU seconds of the whole process, in alternation. The stored rows are the bundled ones with
new instance names, as a refresh would bring them. The last line of stdout is one JSON document.
Run: python -m benchmarks.find_speed [ROWS]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.prices import made_of
from planner.adapters.catalog import load_catalog
from planner.adapters.stored_prices.price_store import PriceStore

ROWS = 100_000
REPEATS = 3
TARGET_S = 2.0
WORKLOAD, TOKENS = "llama3-8b", "35e6"


def main() -> None:
    """Measure and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    seconds: dict[str, list[float]] = {"none_stored": [], "stored": []}
    folder = tempfile.TemporaryDirectory
    with folder() as empty, folder() as full, folder() as compiled:
        PriceStore(Path(full)).add(made_of(load_catalog(), rows))
        seconds_of(empty, compiled=compiled)  # compiles what it imports
        for _ in range(REPEATS):
            for name, home in (("none_stored", empty), ("stored", full)):
                seconds[name].append(seconds_of(home, compiled=compiled))
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    for name, value in medians.items():
        print(f"{name}: {value:.2f} s")
    print(f"target: {TARGET_S:g} s with {rows:,} rows")
    document = {"benchmark": "find_speed", "rows": rows, "median_s": medians, "target_s": TARGET_S}
    print(json.dumps(document | {"over_none_stored": medians["stored"] / medians["none_stored"]}))


def seconds_of(home: str, *, compiled: str) -> float:
    """Return the CPU seconds of `planner find` in a workspace, from its start to its end.

    `compiled` is the folder for Python's compiled files, which an installed planner keeps too.
    """
    before = os.times()
    command = [sys.executable, "-m", "planner.cli.main", "find", WORKLOAD, "--tokens", TOKENS]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PLANNER_HOME": home, "PYTHONPYCACHEPREFIX": compiled}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


if __name__ == "__main__":
    main()
