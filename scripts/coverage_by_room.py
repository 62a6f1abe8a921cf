"""Prints the coverage of each room and of the whole. Fails if a room of the core has too little.

`python scripts/coverage_by_room.py build/coverage.json`. Lines and branches have the same weight. Code that tests
run in other processes (torchrun, SkyPilot, commands that are killed) is not counted.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

CORE = {"quantity", "network", "scenario", "speed", "duration", "cost", "decide", "model"}
FLOOR_PERCENT = 95.0

Counts = tuple[int, int]


def counts_by_room(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, Counts]:
    """Add up (covered, all) lines and branches of each package, and of each room of `planner`."""
    rooms: dict[str, Counts] = defaultdict(lambda: (0, 0))
    for name, file in report["files"].items():
        package, *inner = Path(name).parts
        room = f"{package}/{inner[0]}" if package == "planner" and len(inner) > 1 else package
        summary = file["summary"]
        covered, every = rooms[room]
        rooms[room] = (
            covered + summary["covered_lines"] + summary["covered_branches"],
            every + summary["num_statements"] + summary["num_branches"],
        )
    return dict(rooms)


def total(rooms: dict[str, Counts]) -> Counts:
    """Add up the counts of rooms."""
    return sum(covered for covered, _ in rooms.values()), sum(every for _, every in rooms.values())


def percent(counts: Counts) -> float:
    """Return the covered share in percent."""
    covered, every = counts
    return 100 * covered / every


def main() -> int:
    """Print the table and return the exit code."""
    rooms = counts_by_room(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    core = {room: counts for room, counts in rooms.items() if room.removeprefix("planner/") in CORE}
    for room, counts in sorted(rooms.items()):
        print(f"{room:20} {percent(counts):6.1f} %  {'core' if room in core else ''}".rstrip())
    print(f"{'core':20} {percent(total(core)):6.1f} %")
    print(f"{'total':20} {percent(total(rooms)):6.1f} %")
    low = [room for room, counts in core.items() if percent(counts) < FLOOR_PERCENT]
    missing = CORE - {room.removeprefix("planner/") for room in core}
    if low or missing:
        print(f"below {FLOOR_PERCENT:g} % or not measured: {', '.join(sorted([*low, *missing]))}", file=sys.stderr)
    return 1 if low or missing else 0


if __name__ == "__main__":
    sys.exit(main())
