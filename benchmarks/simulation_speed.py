"""Time the samples of a campaign of 50 runs, on one option and as a mix of two. Asserts nothing.

Half of the runs are on spot machines with about ten preemptions per run. The last line of stdout is one JSON
document. Run: python -m benchmarks.simulation_speed
"""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import replace

from planner.decide.outcomes.play import PlayedOption, play, side_by_side
from planner.duration.goodput import Interruptions
from planner.quantity.interval import Interval

RUNS, REPEATS, TARGET_S = 50, 3, 10.0
STEPS_HOURS = 60.0
SPOT = PlayedOption(
    option="spot",
    lanes=side_by_side(RUNS, 4, steps_hours=STEPS_HOURS),
    launch_hours=0.25,
    lost=Interruptions(interval_hours=0.5, preemptions_per_hour=1 / 6, failures_per_hour=1e-3, restart_hours=0.2),
    speed_error=Interval.within_factor(1.0, 1.5),
    convergence=0.1,
    usd=10_000.0,
    price_error=Interval.within_factor(1.0, 1.3),
)
OWN = replace(SPOT, option="own", lost=Interruptions(interval_hours=0.5, failures_per_hour=1e-3, restart_hours=0.2))
HALF = [
    replace(SPOT, lanes=side_by_side(RUNS // 2, 4, steps_hours=STEPS_HOURS)),
    replace(OWN, lanes=side_by_side(RUNS // 2, 1, steps_hours=STEPS_HOURS)),
]
CAMPAIGNS = {"spot": [SPOT], "mix": HALF}


def main() -> None:
    """Measure and print."""
    medians = {}
    for name, streams in CAMPAIGNS.items():
        seconds = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            play(streams)
            seconds.append(time.perf_counter() - start)
        medians[name] = statistics.median(seconds)
        print(f"{name}: {medians[name]:.2f} s")
    print(f"target: {TARGET_S:g} s")
    print(json.dumps({"benchmark": "simulation_speed", "median_s": medians, "target_s": TARGET_S}))


if __name__ == "__main__":
    main()
