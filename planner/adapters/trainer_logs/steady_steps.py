"""Which steps of a log are training in steady state: compilation, evaluation, checkpoints and stalls are left out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.adapters.trainer_logs.trainer_log import Beside, LogSpan

WARM_UP_FACTOR = 1.25
"""First steps slower than so many times the median are compilation and warm-up."""
MOST_WARM_UP_SHARE = 0.3
"""Of the spans; what is slow for longer is the training itself."""
MOST_WARM_UP_S = 1_800.0
"""Seconds of compilation and warm-up of one process; what is slow for longer is something else."""
UNEVEN_FACTOR = 1.5
"""Steps of samples of unlike lengths differ by less; what is longer waits for something."""
STALL_FACTOR = 3.0
"""Longer steps than so many times the median have something beside them that the log does not name."""
STOPPED_FACTOR = 100.0
"""From here on the training did not run: it waited for a resume, or the clock jumped."""
SKIP_FACTOR = 0.2
"""A span under so much of the median a step counts steps that were not done: a resumed training jumps to its place."""
FEWEST_FOR_DRIFT = 12
"""Spans; of fewer no trend is told."""
DRIFT_DEVIATIONS = 3.0
"""Standard errors by which the last third must differ from the first."""
MOST_STALLED_SHARE = 0.05
"""Of the spans; where more are as slow, that is how this training runs, and they count."""


@dataclass(frozen=True)
class Steady:
    """Steps and seconds of steady training, and the seconds that were left out, by what went on there."""

    steps: int
    seconds: float
    tokens: float | None
    dropped_seconds: dict[str, float]
    dropped_steps: int
    uneven_share: float
    """Of the kept seconds what steps of over 1.5 times the median take beyond it."""
    stalled_share: float
    """Of the spans, over 3 times the median and yet counted, unless the training did not run."""
    drift: float | None = None
    """Seconds of a step in the last third over those in the first; None where the difference is scatter."""


def steady(spans: Sequence[LogSpan], resolution_s: float = 0.0) -> Steady | None:
    """Return the steady part of a training; None where the log holds no span.

    Left out: spans beside which the log names other work (unless all are such), the first ones of each process that
    are slower than 1.25 times the median, up to 5 % of spans of over 3 times the median, all of over 100 times, and
    those of steps that a resumed training did not do again. Steps that two processes trained count twice: both were
    timed. `resolution_s` is that of the clock, by which both ends of a span may be off.
    """
    if not spans:
        return None
    all_named = all(span.beside for span in spans)
    timed = [_TimedSpan(span, None if all_named else span.beside) for span in spans]
    median = statistics.median(one.pace for one in _kept(timed))
    for one in _kept(timed):
        if one.pace < SKIP_FACTOR * median:
            one.left_out = Beside.SKIPPED
    _leave_out_warm_up(_kept(timed), median)
    rest = _kept(timed)
    slow = [one for one in rest if one.span.seconds > STALL_FACTOR * median * one.span.steps + 2 * resolution_s]
    stalls = len(slow) > MOST_STALLED_SHARE * len(rest)
    for one in slow:
        if not stalls or one.span.seconds > STOPPED_FACTOR * median * one.span.steps:
            one.left_out = Beside.OTHER
    kept = _kept(timed)
    dropped = {what.value: _sums(one for one in timed if one.left_out is what) for what in Beside}
    steps, seconds = _sums(kept)
    beyond = sum(one.span.seconds - median * one.span.steps for one in kept if one.pace > UNEVEN_FACTOR * median)
    tokens = [one.span.tokens for one in kept]
    return Steady(
        steps=steps,
        seconds=seconds,
        tokens=None if None in tokens else sum(filter(None, tokens)),
        dropped_seconds={what: left.seconds for what, left in dropped.items() if left.steps},
        dropped_steps=sum(left.steps for left in dropped.values()),
        uneven_share=beyond / seconds if kept else 0.0,
        stalled_share=len(slow) / len(rest) if stalls else 0.0,
        drift=_drift(kept),
    )


class _Sums(NamedTuple):
    steps: int
    seconds: float


@dataclass
class _TimedSpan:
    """A span, and why it does not count."""

    span: LogSpan
    left_out: Beside | None
    """None: it counts."""

    @property
    def pace(self) -> float:
        """Seconds a step."""
        return self.span.seconds / self.span.steps


def _kept(timed: Sequence[_TimedSpan]) -> list[_TimedSpan]:
    return [one for one in timed if one.left_out is None]


def _sums(timed: Iterable[_TimedSpan]) -> _Sums:
    spans = [one.span for one in timed]
    return _Sums(sum(span.steps for span in spans), sum(span.seconds for span in spans))


def _drift(timed: Sequence[_TimedSpan]) -> float | None:
    """Return mean seconds of a step in the last third / in the first, where over 3 standard errors part them."""
    third = len(timed) // 3
    if len(timed) < FEWEST_FOR_DRIFT:
        return None
    first, last = ([one.pace for one in part] for part in (timed[:third], timed[-third:]))
    error = math.sqrt((statistics.variance(first) + statistics.variance(last)) / third)
    before, after = statistics.fmean(first), statistics.fmean(last)
    return after / before if abs(after - before) > DRIFT_DEVIATIONS * error else None


def _leave_out_warm_up(timed: Sequence[_TimedSpan], median: float) -> None:
    """Leave out the slow spans with which each process begins."""
    most = int(MOST_WARM_UP_SHARE * len(timed))
    beginning, seconds, end = True, 0.0, -math.inf
    for one in timed:
        if one.span.begin < end:
            beginning, seconds = True, 0.0
        end = one.span.end
        seconds += one.span.seconds
        is_slow = one.pace > WARM_UP_FACTOR * median and seconds <= MOST_WARM_UP_S
        beginning = beginning and is_slow and most > 0
        if beginning:
            one.left_out = Beside.COMPILE
            most -= 1
