"""Seconds and gap of 1,000 runs in 20 groups over 200 options: `python -m benchmarks.campaign_speed`."""

from __future__ import annotations

import random
from time import monotonic

from planner.decide.placement.effort import Effort
from planner.decide.placement.instance import Bin, Group, Instance, Objective, Option, Way
from planner.decide.placement.solve import solve

EFFORT = 20.0


def large_instance(seed: int, *, deadline: float) -> Instance:
    """Return options with 1 to 8 sets of machines each, some available later. A run has 0.2 to 5 units of work."""
    draw = random.Random(seed)
    work = [draw.uniform(0.2, 5) for _ in range(20)]
    bins, options, ways = [], [], []
    for option in range(200):
        hours, price = draw.uniform(1, 30), draw.uniform(1, 100)
        options.append(Option(fixed_usd=draw.choice([0.0, 0.0, 50.0, 500.0])))
        bins.append(Bin(lanes=draw.choice([1, 1, 2, 4, 8]), opens=draw.choice([0.0, 0.0, 24.0, 100.0])))
        ways += [
            Way(group, option, option, units * hours + 0.3, units * hours * price / 5 * draw.uniform(0.9, 1.1))
            for group, units in enumerate(work)
        ]
    return Instance(tuple(Group(50) for _ in work), tuple(options), tuple(bins), tuple(ways), {}, deadline=deadline)


def main() -> None:
    """Print seconds, USD and gap for a few seeds."""
    for seed in range(3):
        for deadline in (400.0, 1000.0):
            begun = monotonic()
            found = solve(large_instance(seed, deadline=deadline), Objective.COST, Effort(EFFORT))
            text = "no plan" if found is None else f"{found.usd:,.0f} USD, gap {100 * found.gap:.2f} %"
            print(f"seed {seed}, {deadline:g} h: {monotonic() - begun:.1f} s, {text}")


if __name__ == "__main__":
    main()
