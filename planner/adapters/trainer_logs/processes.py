"""Points of a log by the process that wrote them: ranks that share a file, and resumed trainings that repeat steps."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

MOST_OPEN = 16
"""Processes that a point is compared with, the newest ones."""
MOST_OF_A_STEP = 4
"""Clocks of one step that the estimate of the pace looks at."""
MOST_SILENT = 24
"""Points of other processes after which one that wrote none of them has ended."""
APART = 8
MOST_RESUMES = 3
MOST_FALLS = 0.02
"""Share of the points whose step is not above the one before, from which several processes write a log at once."""
TOO_EARLY = 0.8
"""A point that comes earlier than this share of the usual time of a process belongs to another one."""

COARSE_S = 1.0
"""By which a clock of whole seconds may be off."""


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
        """Return whether the step comes after those of the process, and the clock not before; clocks may be coarse."""
        return point.step > self.points[-1].step and point.reached_s >= self.points[-1].left_s

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
    once = once_each(points)
    pace, shared = _pace(once), is_shared(once)
    found: list[Process] = []
    for place, point in enumerate(once):
        writing = [process for process in found[-MOST_OPEN:] if place - process.last <= MOST_SILENT]
        process = _process_of(point, writing if shared else found[-1:], pace, shared=shared)
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
    usual, took = pace * (point.step - nearest.points[-1].step), point.reached_s - nearest.points[-1].left_s
    too_early = took < min(TOO_EARLY * usual, usual - COARSE_S)
    return None if shared and too_early else nearest


def _clocks(points: Sequence[Point]) -> dict[int, list[Point]]:
    of_step: dict[int, list[Point]] = defaultdict(list)
    for point in points:
        known = of_step[point.step]
        if len(known) < MOST_OF_A_STEP and all(point.reached_s != one.reached_s for one in known):
            known.append(point)
    return of_step


def _pace(points: Sequence[Point]) -> float | None:
    """Return seconds of a step: the median over all pairs of points that lie an eighth of the steps apart.

    So far apart a clock of whole seconds is fine enough. Pairs of two processes are off by the
    difference of their clocks, as often above as below, so that the median is that of pairs of one process.
    """
    of_step = _clocks(points)
    steps = sorted(of_step)
    slopes = [
        (two.reached_s - one.left_s) / (after - before)
        for before, after in zip(steps, steps[max(1, len(steps) // APART) :], strict=False)
        for one in of_step[before]
        for two in of_step[after]
    ]
    pace = statistics.median(slopes) if slopes else 0.0
    return pace if pace > 0 else None


def once_each(points: Iterable[Point]) -> list[Point]:
    """Leave out points whose step and clock stood before."""
    return list({(point.step, point.reached_s): point for point in points}.values())


def is_shared(points: Sequence[Point]) -> bool:
    """Return whether several processes write at once: the steps fall again and again, and not at a few resumes alone.

    Each point must stand once (`once_each`).
    """
    falls = sum(two.step <= one.step for one, two in pairwise(points))
    return falls > max(MOST_RESUMES, MOST_FALLS * len(points))


def _without_copies(found: Sequence[Process]) -> list[Process]:
    kept: list[Process] = []
    for process in sorted(found, key=lambda one: -one.steps):
        if all(process.last < one.first or process.first > one.last for one in kept):
            kept.append(process)
    return sorted(kept, key=lambda one: one.first)
