"""Which steps of a log are training in steady state: compilation, evaluation, checkpoints and stalls are left out."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner.adapters.trainer_logs.trainer_log import Beside, Span

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


def steady(spans: Sequence[Span], resolution_s: float = 0.0) -> Steady | None:
    """Return the steady part of a training; None where the log holds no span.

    Left out: spans beside which the log names other work (unless all are such), the first ones of each process that
    are slower than 1.25 times the median, up to 5 % of spans of over 3 times the median, all of over 100 times, and
    those of steps that a resumed training did not do again. Steps that two processes trained count twice: both were
    timed. `resolution_s` is that of the clock, by which both ends of a span may be off.
    """
    if not spans:
        return None
    named = [span for span in spans if span.beside is None]
    usable = list(named or [replace(span, beside=None) for span in spans])
    median = statistics.median(span.seconds / span.steps for span in usable)
    skipped = {span for span in usable if span.seconds / span.steps < SKIP_FACTOR * median}
    warm = _warm_up([span for span in usable if span not in skipped], median)
    rest = [span for span in usable if span not in warm and span not in skipped]
    slow = {span for span in rest if span.seconds > STALL_FACTOR * median * span.steps + 2 * resolution_s}
    stalled_share = len(slow) / len(rest)
    stalls = stalled_share > MOST_STALLED_SHARE
    if stalls:
        slow = {span for span in slow if span.seconds > STOPPED_FACTOR * median * span.steps}
    kept = [span for span in rest if span not in slow]
    left_out = [(span.beside, span) for span in spans if named and span.beside is not None]
    left_out += [(Beside.COMPILE, span) for span in warm] + [(Beside.OTHER, span) for span in slow]
    left_out += [(Beside.SKIPPED, span) for span in skipped]
    dropped: dict[str, float] = {}
    for what, span in left_out:
        assert what is not None
        dropped[what.value] = dropped.get(what.value, 0.0) + span.seconds
    steps, seconds = sum(span.steps for span in kept), sum(span.seconds for span in kept)
    uneven = [span for span in kept if span.seconds / span.steps > UNEVEN_FACTOR * median]
    counted = [span.tokens for span in kept]
    return Steady(
        steps=steps,
        seconds=seconds,
        tokens=None if None in counted else sum(tokens for tokens in counted if tokens is not None),
        dropped_seconds=dropped,
        dropped_steps=sum(span.steps for _, span in left_out),
        uneven_share=sum(max(0.0, span.seconds - median * span.steps) for span in uneven) / seconds if kept else 0.0,
        stalled_share=stalled_share if stalls else 0.0,
        drift=_drift(kept),
    )


def _drift(spans: Sequence[Span]) -> float | None:
    """Return mean seconds of a step in the last third / in the first, where over 3 standard errors part them."""
    third = len(spans) // 3
    if len(spans) < FEWEST_FOR_DRIFT:
        return None
    first, last = ([span.seconds / span.steps for span in part] for part in (spans[:third], spans[-third:]))
    error = math.sqrt((statistics.variance(first) + statistics.variance(last)) / third)
    before, after = statistics.fmean(first), statistics.fmean(last)
    return after / before if abs(after - before) > DRIFT_DEVIATIONS * error else None


def _warm_up(spans: Sequence[Span], median: float) -> set[Span]:
    """Return the slow spans with which each process begins."""
    warm: set[Span] = set()
    most = int(MOST_WARM_UP_SHARE * len(spans))
    beginning = True
    before: Span | None = None
    seconds = 0.0
    for span in spans:
        if before is not None and span.begin < before.end:
            beginning, seconds = True, 0.0
        seconds += span.seconds
        is_slow = span.seconds / span.steps > WARM_UP_FACTOR * median and seconds <= MOST_WARM_UP_S
        beginning = beginning and is_slow and len(warm) < most
        if beginning:
            warm.add(span)
        before = span
    return warm
