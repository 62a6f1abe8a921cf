"""How full a batch is while answers end at different times: its last stretch is a few long answers alone."""

from __future__ import annotations

from functools import cache
from heapq import heappop, heappush
from typing import NamedTuple

from planner.speed.generation.lengths import CompletionLengths

MOST_FOLLOWED = 2048
"""Sequences that are followed one by one; of more, every n-th stands for n of them."""
ALIKE = 0.97
"""Stretches whose batches differ by less than this are one."""


class Stretch(NamedTuple):
    """Decoding steps with the same number of sequences, and the mean tokens that each has written by then."""

    steps: float
    batch: float
    written: float


@cache
def batch_schedule(
    lengths: CompletionLengths, *, sequences: int, at_once: int, refills: bool = True
) -> tuple[Stretch, ...]:
    """Return the stretches in which one copy of the network writes `sequences` completions, `at_once` at most.

    A sequence that ends makes room for the next one (continuous batching, Yu et al. 2022). Then the batch drains, and
    the longest answers are written with a nearly empty batch. `refills` false: batches of `at_once`, each as long as
    its longest, in which ended sequences are computed on.
    """
    every = -(-sequences // MOST_FOLLOWED)
    count, room = -(-sequences // every), max(1, at_once // every)
    scale = sequences / count
    ordered = lengths.of_batch(count)
    mixed = [ordered[place] for place in _mixed(count)]
    stretches = _continuous(mixed, room) if refills else _static(mixed, room)
    return tuple(_joined([Stretch(one.steps, one.batch * scale, one.written) for one in stretches]))


def _continuous(lengths: list[float], room: int) -> list[Stretch]:
    """Follow a batch that is refilled, from one end of a sequence to the next."""
    waiting, running = iter(lengths), [(length, 0.0) for length in lengths[:room]]
    for _ in running:
        next(waiting)
    running.sort()
    now, stretches = 0.0, []
    begun = 0.0
    """Sum of the times at which the running ones began."""
    while running:
        end, start = running[0]
        if end > now:
            batch = len(running)
            stretches.append(Stretch(end - now, batch, (now + end) / 2 - begun / batch))
            now = end
        heappop(running)
        begun -= start
        following = next(waiting, None)
        if following is not None:
            heappush(running, (now + following, now))
            begun += now
    return stretches


def _static(lengths: list[float], room: int) -> list[Stretch]:
    """Return one stretch for each batch, which lasts as long as its longest."""
    batches = [lengths[place : place + room] for place in range(0, len(lengths), room)]
    return [Stretch(max(batch), len(batch), max(batch) / 2) for batch in batches]


def _mixed(count: int) -> list[int]:
    """Return places from 0 to count - 1 in an order that has long and short ones throughout.

    Sorted by the bits of the place from the last to the first (van der Corput 1935).
    """
    bits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Join stretches that follow each other with nearly the same batch; steps x batch is kept."""
    joined: list[Stretch] = []
    first = 0.0
    """Batch of the first of those that are being joined."""
    for one in stretches:
        if joined and min(one.batch, first) >= ALIKE * max(one.batch, first):
            last = joined[-1]
            steps = last.steps + one.steps
            tokens = last.steps * last.batch + one.steps * one.batch
            written = last.steps * last.batch * last.written + one.steps * one.batch * one.written
            joined[-1] = Stretch(steps, tokens / steps, written / tokens)
        else:
            joined.append(one)
            first = one.batch
    return joined
