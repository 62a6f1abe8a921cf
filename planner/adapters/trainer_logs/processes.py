"""Assigns points of a log to the processes that wrote them: ranks that share a file, and resumed trainings."""

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
"""Points of other processes after which a silent process counts as ended."""
MOST_PAIRED = 1500
"""Points whose pairs with later ones are used to estimate the pace."""
PAIRS_OF_A_POINT = 24
LEAST_APART_S = 20.0
"""Minimum seconds between the points of a pair, so that a clock of whole seconds is off by at most 5 %."""
SAME_PACE = 1.08
"""Largest ratio of two paces that count as the same."""
MOST_RESUMES = 3
MOST_FALLS = 0.02
"""Share of points with a falling step from which several processes write a log at once."""
SHORT_RISE = 4
"""Points from one fall to the next. There are fewer if processes write at once, more between resumes."""
TOO_EARLY = 0.8
"""Share of a process's usual time before which a point belongs to another process."""
TOO_LATE = 10.0
"""Multiple of a process's usual time after which a point belongs to a resumed training."""
COARSE_S = 1.0
"""Error of a clock of whole seconds."""


class Point(NamedTuple):
    """A step with the clock at which it was done, and the clock at which the next one began."""

    step: int
    reached_s: float
    left_s: float
    """Later than `reached_s` if an evaluation is between two steps."""


@dataclass
class Process:
    """Points that one process wrote, with the places of its first and last point in the log."""

    first: int
    last: int
    points: list[Point] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """Number of steps between its first and its last point."""
        return self.points[-1].step - self.points[0].step

    def fits(self, point: Point) -> bool:
        """Return whether the step follows those of the process, and the clock is not earlier. Clocks may be coarse."""
        return point.step > self.points[-1].step and point.reached_s >= self.points[-1].left_s

    def expects(self, point: Point, pace: float) -> float:
        """Return the clock at which the process should reach a point, at `pace` seconds a step."""
        return self.points[-1].left_s + pace * (point.step - self.points[-1].step)


def processes_of(points: Sequence[Point]) -> list[Process]:
    """Return the processes that wrote the points of a log, in the order in which they begin.

    If processes write at the same time, as ranks do, the one with the most steps is kept, because they do the same
    steps. A repeated point counts once.
    """
    if all(point.step < following.step and point.left_s < following.reached_s for point, following in pairwise(points)):
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
    """Return the newest process if the point continues it; None if the point begins a new one."""
    return found[-1] if found and found[-1].fits(point) else None


def _writer(point: Point, writing: Sequence[Process], pace: float | None) -> Process | None:
    """Return the concurrent process that is nearest to the point; None if it begins a new one."""
    fitting = [process for process in writing if process.fits(point)]
    if not fitting:
        return None
    if pace is None:
        return min(fitting, key=lambda process: (point.step - process.points[-1].step, process.points[-1].left_s))
    nearest = min(fitting, key=lambda process: abs(point.reached_s - process.expects(point, pace)))
    usual, took = pace * (point.step - nearest.points[-1].step), point.reached_s - nearest.points[-1].left_s
    too_early = took < min(TOO_EARLY * usual, usual - COARSE_S)
    too_late = took > TOO_LATE * usual + LEAST_APART_S
    return None if too_early or too_late else nearest


def _pace(points: Sequence[Point]) -> float | None:
    """Return the seconds of a step: the most common pace among pairs of nearby points; None if no pair has one.

    Pairs of one process all have its pace. Pairs of two processes are off by the difference of their clocks, which
    differs for every two processes. A resume's wait affects only the few pairs around it.
    """
    paces = sorted(_paces(points, LEAST_APART_S)) or sorted(_paces(points, 0.0))
    if not paces:
        return None
    ends = [bisect_right(paces, pace * SAME_PACE) for pace in paces]
    first = max(range(len(paces)), key=lambda place: ends[place] - place)
    return statistics.median(paces[first : ends[first]])


def _paces(points: Sequence[Point], apart_s: float) -> Iterator[float]:
    """Return the paces of pairs of points that are at least `apart_s` seconds apart."""
    lags = [*range(1, PAIRS_OF_A_POINT)]
    while lags[-1] < len(points):
        lags.append(math.ceil(1.5 * lags[-1]))
    for place in range(0, len(points), max(1, len(points) // MOST_PAIRED)):
        start, pairs = points[place], 0
        for lag in lags:
            if place + lag >= len(points) or pairs == PAIRS_OF_A_POINT:
                break
            following = points[place + lag]
            seconds = following.reached_s - start.left_s
            if following.step > start.step and seconds > 0 and seconds >= apart_s:
                yield seconds / (following.step - start.step)
                pairs += 1


def once_each(points: Iterable[Point]) -> list[Point]:
    """Remove points whose step and clock appeared before."""
    return list({(point.step, point.reached_s): point for point in points}.values())


def is_shared(points: Sequence[Point]) -> bool:
    """Return whether several processes write at once, so that steps fall again and again, not only at resumes.

    Between the falls of resumes the steps rise for many points. They also do so if ranks write at once with the same
    coarse clock, since points that agree are kept once (`once_each`). There falls are to the same step, a tick later.
    """
    falls = [place for place, (point, following) in enumerate(pairwise(points)) if following.step <= point.step]
    if len(falls) <= max(MOST_RESUMES, MOST_FALLS * len(points)):
        return False
    ticks = [
        following.step == point.step and abs(following.reached_s - point.left_s) <= COARSE_S
        for point, following in ((points[place], points[place + 1]) for place in falls)
    ]
    rises = [after - before for before, after in pairwise([-1, *falls])]
    return sum(ticks) > len(ticks) / 2 or statistics.median(rises) < SHORT_RISE


def _without_copies(found: Sequence[Process]) -> list[Process]:
    kept: list[Process] = []
    for process in sorted(found, key=lambda process: -process.steps):
        if all(process.last < other.first or process.first > other.last for other in kept):
            kept.append(process)
    return sorted(kept, key=lambda process: process.first)
