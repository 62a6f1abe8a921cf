"""Times `planner estimate --json` end to end, compared with a Python that does nothing. Asserts nothing.

All commands start as fresh processes, alternately, so that a busy machine slows all of them. It compares the medians.
The last line of stdout is one JSON document.  Run: python benchmarks/startup.py [REPEATS]
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAN = ROOT / "examples" / "dgx_station_v100.yaml"
TARGET_S = 0.5
REPEATS = 15
COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "help": [sys.executable, "-m", "planner.cli.main", "--help"],
    "estimate": [sys.executable, "-m", "planner.cli.main", "estimate", str(PLAN), "--json"],
    "compare": [sys.executable, "-m", "planner.cli.main", "compare", str(PLAN), "--json"],
}


def main() -> None:
    """Measure and print."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else REPEATS
    for command in COMMANDS.values():  # the first start also compiles and fills the disk cache
        seconds_of(command)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(repeats):
        for name, command in COMMANDS.items():
            times[name].append(seconds_of(command))
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, median in medians.items():
        spread = f"{min(times[name]):.3f} to {max(times[name]):.3f}"
        print(f"{name:10} {median:.3f} s ({spread}), {median / medians['python']:.1f}x a bare python")
    print(
        json.dumps(
            {
                "schema_version": 1,
                "kind": "startup",
                "repeats": repeats,
                "median_s": {name: round(median, 4) for name, median in medians.items()},
                "ratio_to_bare_python": {name: round(m / medians["python"], 2) for name, m in medians.items()},
                "target_s": TARGET_S,
                "python": platform.python_version(),
                "cpu_cores": os.cpu_count(),
            }
        )
    )


def seconds_of(command: list[str]) -> float:
    """Return the wall-clock seconds of one process, from start to exit."""
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
