"""Points of a log by the process that wrote them: ranks that share a file, and resumed trainings that repeat steps."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

MOST_OPEN = 16
"""Processes that a point is compared with, the newest ones."""
MOST_OF_A_STEP = 4
"""Clocks of one step that the estimate of the pace looks at."""
SHARED_FILE = 0.3
"""Share of the steps that a log shows twice, from which several processes write it at once."""
TOO_EARLY = 0.8
"""A point that comes earlier than this share of the usual time of a process belongs to another one."""


class Point(NamedTuple):
    """A step with the clock at which it was done, and the clock at which the next one began."""

    step: int
    reached_s: float
    left_s: float
    """Later than `reached_s` where an evaluation stands between two steps."""


@dataclass
class Process:
    """Points that one process wrote, with the places of its first and last point in the log."""

    first: int
    last: int
    points: list[Point] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """How many steps lie between its first and its last point."""
        return self.points[-1].step - self.points[0].step

    def fits(self, point: Point) -> bool:
        """Return whether step and clock of a point come after those of the process."""
        return point.step > self.points[-1].step and point.reached_s > self.points[-1].left_s

    def expects(self, point: Point, pace: float) -> float:
        """Return the clock at which the process should reach a point, at `pace` seconds a step."""
        return self.points[-1].left_s + pace * (point.step - self.points[-1].step)


def processes_of(points: Sequence[Point]) -> list[Process]:
    """Return the processes that wrote the points of a log, in the order in which they begin.

    Of processes that write at the same time, as ranks do, the one with the most steps is kept: they do the same steps.
    A point that is in the log twice counts once.
    """
    if all(one.step < two.step and one.left_s < two.reached_s for one, two in pairwise(points)):
        return [Process(0, len(points) - 1, list(points))] if points else []
    pace, shared = _pace(points), _is_shared(points)
    found: list[Process] = []
    seen: set[tuple[int, float]] = set()
    for place, point in enumerate(points):
        if (point.step, point.reached_s) in seen:
            continue
        seen.add((point.step, point.reached_s))
        process = _process_of(point, found[-MOST_OPEN:], pace, shared=shared)
        if process is None:
            process = Process(place, place)
            found.append(process)
        process.points.append(point)
        process.last = place
    return _without_copies(found)


def _process_of(point: Point, candidates: Sequence[Process], pace: float | None, *, shared: bool) -> Process | None:
    """Return the process whose pace leads nearest to the point; None: it begins a new one."""
    fitting = [process for process in candidates if process.fits(point)]
    if not fitting:
        return None
    if pace is None:
        return min(fitting, key=lambda one: (point.step - one.points[-1].step, one.points[-1].left_s))
    nearest = min(fitting, key=lambda one: abs(point.reached_s - one.expects(point, pace)))
    usual = nearest.expects(point, pace) - nearest.points[-1].left_s
    if shared and point.reached_s - nearest.points[-1].left_s < TOO_EARLY * usual:
        return None
    return nearest


def _clocks(points: Sequence[Point]) -> dict[int, list[Point]]:
    of_step: dict[int, list[Point]] = defaultdict(list)
    for point in points:
        known = of_step[point.step]
        if len(known) < MOST_OF_A_STEP and all(point.reached_s != one.reached_s for one in known):
            known.append(point)
    return of_step


def _pace(points: Sequence[Point]) -> float | None:
    """Return seconds of a step: the median over all pairs of points of neighbouring steps.

    Pairs of two processes are off by the difference of their clocks, as often above as below, so that the median is
    that of pairs of one process.
    """
    of_step = _clocks(points)
    slopes = [
        (two.reached_s - one.left_s) / (after - before)
        for before, after in pairwise(sorted(of_step))
        for one in of_step[before]
        for two in of_step[after]
    ]
    pace = statistics.median(slopes) if slopes else 0.0
    return pace if pace > 0 else None


def _is_shared(points: Sequence[Point]) -> bool:
    of_step = _clocks(points)
    return sum(len(one) > 1 for one in of_step.values()) > SHARED_FILE * len(of_step)


def _without_copies(found: Sequence[Process]) -> list[Process]:
    kept: list[Process] = []
    for process in sorted(found, key=lambda one: -one.steps):
        if all(process.last < one.first or process.first > one.last for one in kept):
            kept.append(process)
    return sorted(kept, key=lambda one: one.first)
