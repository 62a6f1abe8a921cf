"""Selects the steady steps of a log: leaves out compilation, evaluation, checkpoints and stalls."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.adapters.trainer_logs.trainer_log import LogSpan, OtherWork

WARM_UP_FACTOR = 1.25
"""Multiple of the median above which first steps are compilation and warm-up."""
MOST_WARM_UP_SHARE = 0.3
"""Largest share of spans in warm-up. What is slow for longer is the training itself."""
MOST_WARM_UP_S = 1_800.0
"""Longest compilation and warm-up of one process in seconds. What is slow for longer is something else."""
UNEVEN_FACTOR = 1.5
"""Multiple of the median above which a step waits for something. Samples of unequal length vary by less."""
STALL_FACTOR = 3.0
"""Multiple of the median above which something ran that the log does not name."""
STOPPED_FACTOR = 100.0
"""Multiple of the median above which the training did not run: it waited for a resume, or the clock jumped."""
SKIP_FACTOR = 0.2
"""Share of the median below which a span counts steps that were not done: a resumed training jumps to its place."""
FEWEST_FOR_DRIFT = 12
"""Fewest spans for judging a trend."""
DRIFT_DEVIATIONS = 3.0
"""Standard errors by which the last third must differ from the first."""
MOST_STALLED_SHARE = 0.05
"""Largest share of stalled spans. If more are as slow, that is normal for this training, and they count."""


@dataclass(frozen=True)
class Steady:
    """Steps and seconds of steady training, and the seconds that were left out, by cause."""

    steps: int
    seconds: float
    tokens: float | None
    dropped_seconds: dict[str, float]
    dropped_steps: int
    uneven_share: float
    """Share of the kept seconds by which steps of over 1.5 times the median exceed it."""
    stalled_share: float
    """Share of spans over 3 times the median that still count, unless the training did not run."""
    drift: float | None = None
    """Seconds of a step in the last third over those in the first; None if the difference is noise."""


def steady(spans: Sequence[LogSpan], resolution_s: float = 0.0) -> Steady | None:
    """Return the steady part of a training; None if the log has no span.

    Leaves out spans with other named work (unless all are such), the first spans of each process that are slower than
    1.25 times the median, up to 5 % of spans over 3 times the median, all spans over 100 times, and steps that a
    resumed training did not repeat. Steps that two processes trained count twice, because both were timed.
    `resolution_s` is the clock's; each end of a span may be off by it.
    """
    if not spans:
        return None
    all_named = all(span.other_work for span in spans)
    timed = [_TimedSpan(span, None if all_named else span.other_work) for span in spans]
    median = statistics.median(timed_span.pace for timed_span in _kept(timed))
    for timed_span in _kept(timed):
        if timed_span.pace < SKIP_FACTOR * median:
            timed_span.left_out = OtherWork.SKIPPED
    _leave_out_warm_up(_kept(timed), median)
    rest = _kept(timed)
    slow = [
        timed_span
        for timed_span in rest
        if timed_span.span.seconds > STALL_FACTOR * median * timed_span.span.steps + 2 * resolution_s
    ]
    stalls = len(slow) > MOST_STALLED_SHARE * len(rest)
    for timed_span in slow:
        if not stalls or timed_span.span.seconds > STOPPED_FACTOR * median * timed_span.span.steps:
            timed_span.left_out = OtherWork.OTHER
    kept = _kept(timed)
    dropped = {
        what.value: _sums(timed_span for timed_span in timed if timed_span.left_out is what) for what in OtherWork
    }
    steps, seconds = _sums(kept)
    beyond = sum(
        timed_span.span.seconds - median * timed_span.span.steps
        for timed_span in kept
        if timed_span.pace > UNEVEN_FACTOR * median
    )
    tokens = [timed_span.span.tokens for timed_span in kept]
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
    """A span, and why it is left out."""

    span: LogSpan
    left_out: OtherWork | None
    """Cause; None if it counts."""

    @property
    def pace(self) -> float:
        """Seconds per step."""
        return self.span.seconds / self.span.steps


def _kept(timed: Sequence[_TimedSpan]) -> list[_TimedSpan]:
    return [timed_span for timed_span in timed if timed_span.left_out is None]


def _sums(timed: Iterable[_TimedSpan]) -> _Sums:
    spans = [timed_span.span for timed_span in timed]
    return _Sums(sum(span.steps for span in spans), sum(span.seconds for span in spans))


def _drift(timed: Sequence[_TimedSpan]) -> float | None:
    """Return mean seconds of a step in the last third / in the first, if over 3 standard errors apart."""
    third = len(timed) // 3
    if len(timed) < FEWEST_FOR_DRIFT:
        return None
    first, last = ([timed_span.pace for timed_span in part] for part in (timed[:third], timed[-third:]))
    error = math.sqrt((statistics.variance(first) + statistics.variance(last)) / third)
    before, after = statistics.fmean(first), statistics.fmean(last)
    return after / before if abs(after - before) > DRIFT_DEVIATIONS * error else None


def _leave_out_warm_up(timed: Sequence[_TimedSpan], median: float) -> None:
    """Leave out the slow spans with which each process begins."""
    most = int(MOST_WARM_UP_SHARE * len(timed))
    beginning, seconds, end = True, 0.0, -math.inf
    for timed_span in timed:
        if timed_span.span.begin < end:
            beginning, seconds = True, 0.0
        end = timed_span.span.end
        seconds += timed_span.span.seconds
        is_slow = timed_span.pace > WARM_UP_FACTOR * median and seconds <= MOST_WARM_UP_S
        beginning = beginning and is_slow and most > 0
        if beginning:
            timed_span.left_out = OtherWork.COMPILE
            most -= 1
