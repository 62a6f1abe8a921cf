"""Points of a log by the process that wrote them: ranks that share a file, and resumed trainings that repeat steps."""

from __future__ import annotations

import math
import statistics
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

MOST_OPEN = 16
"""Processes that a point is compared with, the newest ones."""
MOST_SILENT = 24
"""Points of other processes after which one that wrote none of them has ended."""
MOST_PAIRED = 1500
"""Points whose pairs with later ones the estimate of the pace looks at."""
PAIRS_OF_A_POINT = 24
LEAST_APART_S = 20.0
"""Seconds between the points of a pair, so that a clock of whole seconds is off by 5 % at most."""
SAME_PACE = 1.08
"""Ratio of the largest to the smallest pace that count as one."""
MOST_RESUMES = 3
MOST_FALLS = 0.02
"""Share of the points whose step is not above the one before, from which several processes write a log at once."""
SHORT_RISE = 4
"""Points from one fall to the next; where processes write at once fewer, where resumes follow each other more."""
TOO_EARLY = 0.8
"""A point that comes earlier than this share of the usual time of a process belongs to another one."""
TOO_LATE = 10.0
"""And one that comes later than this multiple: a resumed training that begins where another process stopped."""
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
        process = _writer(point, writing, pace) if shared else _continued(point, found)
        if process is None:
            process = Process(place, place)
            found.append(process)
        process.points.append(point)
        process.last = place
    return _without_copies(found)


def _continued(point: Point, found: Sequence[Process]) -> Process | None:
    """Return the newest process where the point continues it; None: the point begins a new one."""
    return found[-1] if found and found[-1].fits(point) else None


def _writer(point: Point, writing: Sequence[Process], pace: float | None) -> Process | None:
    """Return which of the processes that write at once is nearest to the point; None: it begins a new one."""
    fitting = [process for process in writing if process.fits(point)]
    if not fitting:
        return None
    if pace is None:
        return min(fitting, key=lambda one: (point.step - one.points[-1].step, one.points[-1].left_s))
    nearest = min(fitting, key=lambda one: abs(point.reached_s - one.expects(point, pace)))
    usual, took = pace * (point.step - nearest.points[-1].step), point.reached_s - nearest.points[-1].left_s
    too_early = took < min(TOO_EARLY * usual, usual - COARSE_S)
    too_late = took > TOO_LATE * usual + LEAST_APART_S
    return None if too_early or too_late else nearest


def _pace(points: Sequence[Point]) -> float | None:
    """Return seconds of a step: the pace that most pairs of near points have; None where no pair has one.

    Pairs of one process all have its pace. Pairs of two processes are off by the difference of their clocks, which is
    another one for each two processes, and a resume's wait is in the few pairs about it.
    """
    paces = sorted(_paces(points, LEAST_APART_S)) or sorted(_paces(points, 0.0))
    if not paces:
        return None
    ends = [bisect_right(paces, pace * SAME_PACE) for pace in paces]
    first = max(range(len(paces)), key=lambda place: ends[place] - place)
    return statistics.median(paces[first : ends[first]])


def _paces(points: Sequence[Point], apart_s: float) -> Iterator[float]:
    """Return the paces of pairs of points that are at least so many seconds apart."""
    lags = [*range(1, PAIRS_OF_A_POINT)]
    while lags[-1] < len(points):
        lags.append(math.ceil(1.5 * lags[-1]))
    for place in range(0, len(points), max(1, len(points) // MOST_PAIRED)):
        one, pairs = points[place], 0
        for lag in lags:
            if place + lag >= len(points) or pairs == PAIRS_OF_A_POINT:
                break
            two = points[place + lag]
            seconds = two.reached_s - one.left_s
            if two.step > one.step and seconds > 0 and seconds >= apart_s:
                yield seconds / (two.step - one.step)
                pairs += 1


def once_each(points: Iterable[Point]) -> list[Point]:
    """Leave out points whose step and clock stood before."""
    return list({(point.step, point.reached_s): point for point in points}.values())


def is_shared(points: Sequence[Point]) -> bool:
    """Return whether several processes write at once, so that steps fall again and again, and not at resumes alone.

    Between the falls of resumes the steps rise for many points. So they do where ranks write at once with the same
    coarse clock, since points that agree stand once (`once_each`): there falls are to the same step, a tick later.
    """
    falls = [place for place, (one, two) in enumerate(pairwise(points)) if two.step <= one.step]
    if len(falls) <= max(MOST_RESUMES, MOST_FALLS * len(points)):
        return False
    ticks = [
        two.step == one.step and abs(two.reached_s - one.left_s) <= COARSE_S
        for one, two in ((points[place], points[place + 1]) for place in falls)
    ]
    rises = [after - before for before, after in pairwise([-1, *falls])]
    return sum(ticks) > len(ticks) / 2 or statistics.median(rises) < SHORT_RISE


def _without_copies(found: Sequence[Process]) -> list[Process]:
    kept: list[Process] = []
    for process in sorted(found, key=lambda one: -one.steps):
        if all(process.last < one.first or process.first > one.last for one in kept):
            kept.append(process)
    return sorted(kept, key=lambda one: one.first)
