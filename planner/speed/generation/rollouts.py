"""Time in which copies of a network write the completions of one step, whose lengths differ.

A batch drains towards its end: the last stretch is a few long answers alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, lru_cache
from heapq import heappop, heappush
from statistics import NormalDist
from typing import NamedTuple

from planner.speed.generation.engine import EngineConstants, EngineCopy, decoding_step, prompt_seconds

NORMAL = NormalDist()
SPREAD = 0.6
"""Standard deviation of ln(length) before the limit stops an answer. Source: logs that state mean, limit and the share
that was stopped (docs/decisions/2026-11-27-preferences-and-rollouts.md)."""
USUAL_MOST = 4.0
"""Ratio of the limit to the mean, if the limit is not stated."""
HALVINGS = 60
ALL_STOPPED = 0.995
"""Ratio of the mean to the limit from which every answer counts as stopped at the limit."""


@dataclass(frozen=True)
class CompletionLengths:
    """Log-normal lengths in tokens, stopped at `most`. `mean` is the mean of the stopped lengths."""

    mean: float
    most: float
    spread: float = SPREAD

    def quantile(self, share: float) -> float:
        """Return the length that a `share` of the completions does not exceed."""
        if self.mean >= ALL_STOPPED * self.most:
            return self.mean
        return min(self.most, math.exp(_centre(self) + self.spread * NORMAL.inv_cdf(share)))

    def of_batch(self, count: int) -> list[float]:
        """Return the lengths of `count` typical completions, the shortest first: quantiles at (i + 1/2) / count.

        The quantiles of a few completions miss the mean, so they are scaled to it. None exceeds the limit.
        """
        lengths = [self.quantile((place + 0.5) / count) for place in range(count)]
        factor = self.mean * count / sum(lengths)
        return [min(self.most, length * factor) for length in lengths]

    def longest(self, count: float) -> float:
        """Return the expected longest of `count` completions: the quantile at 1 - 1 / (2 count)."""
        return self.quantile(1 - 0.5 / max(1.0, count))

    def scaled(self, factor: float) -> CompletionLengths:
        """Return completions that are `factor` times as long, with a limit scaled alike."""
        return CompletionLengths(self.mean * factor, self.most * factor, self.spread)


@cache
def _centre(lengths: CompletionLengths) -> float:
    """Return the mean of ln(length) before the limit, by bisection on the mean of the stopped lengths.

    E[min(X, c)] = exp(m + s^2 / 2) Phi((ln c - m - s^2) / s) + c (1 - Phi((ln c - m) / s)) for X log-normal.
    """
    limit, s = math.log(lengths.most), lengths.spread
    low, high = math.log(lengths.mean) - s * s, limit + 6 * s
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        within = math.exp(middle + s * s / 2) * NORMAL.cdf((limit - middle - s * s) / s)
        stopped = lengths.most * (1 - NORMAL.cdf((limit - middle) / s))
        low, high = (low, middle) if within + stopped > lengths.mean else (middle, high)
    return low


MOST_FOLLOWED = 2048
"""Largest number of sequences that a schedule follows singly. Beyond it, every n-th sequence stands for n."""
SIMILAR_BATCH = 0.97
"""Ratio of two batches from which their stretches are joined into one."""


@dataclass(frozen=True)
class Rollouts:
    """Prompts of one step, their completions, and the lengths of both."""

    prompts: int
    group: int
    """Completions of one prompt."""
    prompt_tokens: float
    lengths: CompletionLengths

    @property
    def sequences(self) -> int:
        """Completions of one step."""
        return self.prompts * self.group

    @property
    def tokens(self) -> float:
        """Tokens of all completions, each with its prompt."""
        return self.sequences * (self.prompt_tokens + self.lengths.mean)


@dataclass(frozen=True)
class GenerationTime:
    """Seconds of generation by part, on a copy with the usual share of the work."""

    prompts: float
    decoding: float
    waiting: float
    """Extra seconds of the slowest copy, which writes the longest answer of all."""
    at_once: int
    """Sequences that a copy writes at a time."""
    cache_bytes: float
    """Bytes that the cache of a full batch takes on each device."""

    @property
    def seconds(self) -> float:
        """Seconds until the last completion is written."""
        return self.prompts + self.decoding + self.waiting


def generation_time(
    rollouts: Rollouts, copy: EngineCopy, constants: EngineConstants, *, copies: int, free_bytes: float
) -> GenerationTime | None:
    """Return the seconds in which `copies` write the completions, or None if no sequence fits in `free_bytes`.

    decoding = sum over stretches of a draining batch: steps x seconds of a step (`decoding_step`)
    waiting = (longest of all completions - longest of one copy's) x seconds of a step with one sequence
    """
    lengths = rollouts.lengths
    context = rollouts.prompt_tokens + lengths.mean
    room = int(copy.largest_batch(free_bytes, context))
    sequences = -(-rollouts.sequences // copies)
    at_once = min(room, constants.most_sequences, sequences)
    if at_once < 1:
        return None
    decoding = _decoding_seconds(rollouts, copy, constants, sequences=sequences, at_once=at_once)
    computed = max(1.0, sequences / rollouts.group) if constants.shares_prompts else sequences
    prompts = prompt_seconds(copy, constants, prompts=computed, tokens=rollouts.prompt_tokens)
    alone = decoding_step(copy, constants, batch=1, context=context).seconds
    longer = lengths.longest(rollouts.sequences) - lengths.longest(sequences)
    return GenerationTime(
        prompts=prompts,
        decoding=decoding,
        waiting=max(0.0, longer) * alone,
        at_once=at_once,
        cache_bytes=min(at_once * context * copy.token_cache, free_bytes),
    )


@lru_cache(maxsize=1024)
def _decoding_seconds(
    rollouts: Rollouts, copy: EngineCopy, constants: EngineConstants, *, sequences: int, at_once: int
) -> float:
    """Return the seconds of all decoding steps of one copy.

    The result is cached because most strategies of a machine ask for the same schedule.
    """
    schedule = batch_schedule(rollouts.lengths, sequences=sequences, at_once=at_once, refills=constants.refills)
    return sum(
        stretch.steps
        * decoding_step(copy, constants, batch=stretch.batch, context=rollouts.prompt_tokens + stretch.written).seconds
        for stretch in schedule
    )


class Stretch(NamedTuple):
    """Decoding steps with the same number of sequences, and the mean tokens that each sequence has written by then."""

    steps: float
    batch: float
    written: float


@cache
def batch_schedule(
    lengths: CompletionLengths, *, sequences: int, at_once: int, refills: bool = True
) -> tuple[Stretch, ...]:
    """Return the stretches in which one copy of the network writes `sequences` completions, `at_once` at a time.

    With `refills`, a sequence that ends makes room for the next one (continuous batching, Yu et al. 2022). Then the
    batch drains, and the longest answers are written with a nearly empty batch. Without `refills`, each batch of
    `at_once` lasts as long as its longest answer, and the engine keeps computing the sequences that have ended.
    """
    every = -(-sequences // MOST_FOLLOWED)
    count, room = -(-sequences // every), max(1, at_once // every)
    scale = sequences / count
    ordered = lengths.of_batch(count)
    mixed = [ordered[place] for place in _mixed(count)]
    stretches = _continuous(mixed, room) if refills else _static(mixed, room)
    return tuple(_joined([stretch._replace(batch=stretch.batch * scale) for stretch in stretches]))


def _continuous(lengths: list[float], room: int) -> list[Stretch]:
    """Follow a batch that is refilled, from one end of a sequence to the next."""
    waiting, running = iter(lengths[room:]), sorted((length, 0.0) for length in lengths[:room])
    now, stretches = 0.0, []
    begun = 0.0
    """Sum of the times at which the running sequences began."""
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
    """Return one stretch for each batch, which lasts as long as its longest answer."""
    batches = [lengths[place : place + room] for place in range(0, len(lengths), room)]
    return [Stretch(max(batch), len(batch), max(batch) / 2) for batch in batches]


def _mixed(count: int) -> list[int]:
    """Return the places from 0 to count - 1 in an order that mixes low and high ones throughout.

    The order sorts places by their reversed bits (van der Corput 1935).
    """
    bits = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda place: int(f"{place:0{bits}b}"[::-1], 2))


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Join consecutive stretches whose batches are nearly equal, and keep their sum of steps x batch."""
    joined: list[Stretch] = []
    first_batch = 0.0
    for stretch in stretches:
        if joined and min(stretch.batch, first_batch) >= SIMILAR_BATCH * max(stretch.batch, first_batch):
            last = joined[-1]
            steps = last.steps + stretch.steps
            tokens = last.steps * last.batch + stretch.steps * stretch.batch
            written = last.steps * last.batch * last.written + stretch.steps * stretch.batch * stretch.written
            joined[-1] = Stretch(steps, tokens / steps, written / tokens)
        else:
            joined.append(stretch)
            first_batch = stretch.batch
    return joined
