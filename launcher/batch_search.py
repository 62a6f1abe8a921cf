"""Knows which micro-batch to take: the smallest that is as good as the best. Pure; the probe is passed in.

A probe is a fresh run with a short window: a rank that ran out of memory leaves a process that cannot be used again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

GAIN_FRACTION = 0.03
"""Differences of 3 % and less are not told apart: node-to-node spread is 0.6 to 2 % for one GPU."""


@dataclass(frozen=True)
class BatchSearch:
    """What was tried, in order, as (micro-batch, samples/s or None for out of memory), and what was chosen.

    `chosen` is None when not even a micro-batch of 1 fits.
    """

    chosen: int | None
    probes: tuple[tuple[int, float | None], ...]


def search_micro_batch(probe: Callable[[int], float | None], *, start: int, limit: int = 4096) -> BatchSearch:
    """Double from `start` while it pays, then take the smallest micro-batch within 3 % of the best.

    It stops when throughput rises by 3 % or less, when memory ends, or at `limit`. Where `start` itself does not
    fit, it halves until one fits. `probe` returns samples/s of the whole world, or None for out of memory.
    """
    if not 1 <= start <= limit:
        raise ValueError(f"start must be between 1 and limit ({limit}), got {start}")
    probes: list[tuple[int, float | None]] = []

    def samples_per_s(micro_batch: int) -> float | None:
        measured = probe(micro_batch)
        probes.append((micro_batch, measured))
        return measured

    micro_batch = start
    last = samples_per_s(micro_batch)
    if last is None:
        while last is None and micro_batch > 1:
            micro_batch //= 2
            last = samples_per_s(micro_batch)
    else:
        while last is not None and micro_batch * 2 <= limit:
            micro_batch *= 2
            doubled = samples_per_s(micro_batch)
            if doubled is not None and doubled <= last * (1 + GAIN_FRACTION):
                break
            last = doubled
    return BatchSearch(chosen=_smallest_of_the_best(probes), probes=tuple(probes))


def _smallest_of_the_best(probes: list[tuple[int, float | None]]) -> int | None:
    fitting = [(micro_batch, measured) for micro_batch, measured in probes if measured is not None]
    if not fitting:
        return None
    best = max(measured for _, measured in fitting)
    return min(micro_batch for micro_batch, measured in fitting if measured >= best * (1 - GAIN_FRACTION))
