"""The search for a micro-batch: the smallest that is as good as the best. Pure; the probe is passed in.

A probe is a fresh run of a few steps: a rank that ran out of memory leaves a process that cannot be used again.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Callable, Dict, Generic, Optional, Sequence, Tuple, TypeVar

from workloads.batch.micro_batch_probe import Tried

GAIN_FRACTION = 0.03
"""Differences of 3 % and less are not told apart: node-to-node spread is 0.6 to 2 % for one GPU."""
SWEEP = (2, 4)
"""Beside the largest that fits, its half and its quarter are tried."""

Probe = TypeVar("Probe", bound=Tried)


@dataclass(frozen=True)
class BatchSearch(Generic[Probe]):
    """What was tried, in order, and what was chosen; None where not even the smallest micro-batch fits."""

    chosen: Optional[int]
    probes: Tuple[Probe, ...]


def search_micro_batch(probe: Callable[[int], Probe], *, start: int, allowed: Sequence[int]) -> BatchSearch[Probe]:
    """Find the largest of `allowed` that fits, then take the smallest within 3 % of the best of all that were tried.

    From `start` (the memory estimate's answer) it doubles until one does not fit, or halves until one does, and
    bisects between the two. Then half and a quarter of the largest are tried. Doubling ends early once a fourfold
    micro-batch gains 3 % or less: the sweep over B, B/2 and B/4 is then done, and a larger B would say the same.
    No micro-batch is tried twice; O(log(largest / smallest)) are tried.
    """
    sizes = sorted(set(allowed))
    if not sizes or sizes[0] < 1:
        raise ValueError(f"allowed must hold numbers from 1, got {list(allowed)}")
    tried: Dict[int, Probe] = {}

    def fits(size: int) -> bool:
        if size not in tried:
            tried[size] = probe(size)
        return tried[size].fits

    fitting, too_large = _doubled(fits, tried, sizes, _at_most(sizes, start))
    if fitting is not None and too_large is not None:
        fitting = _bisected(fits, sizes, fitting, too_large)
    if fitting is not None:
        for divisor in SWEEP:
            if fitting // divisor >= sizes[0]:
                fits(_at_most(sizes, fitting // divisor))
    return BatchSearch(chosen=_smallest_of_the_best(tried), probes=tuple(tried.values()))


def _doubled(
    fits: Callable[[int], bool], tried: Dict[int, Probe], sizes: Sequence[int], size: int
) -> Tuple[Optional[int], Optional[int]]:
    """Return (a size that fits, the next known one that does not); None for what there is not."""
    too_large = None
    while not fits(size):
        if size == sizes[0]:
            return None, size
        too_large, size = size, _at_most(sizes, size // 2)
    if too_large is not None:
        return size, too_large
    ladder = [size]
    while size != sizes[-1]:
        if len(ladder) > len(SWEEP) and _rate(tried, size) <= _rate(tried, ladder[-1 - len(SWEEP)]) * (
            1 + GAIN_FRACTION
        ):
            return size, None
        doubled = max(_at_most(sizes, 2 * size), sizes[bisect_right(sizes, size)])
        if not fits(doubled):
            return size, doubled
        size = doubled
        ladder.append(size)
    return size, None


def _bisected(fits: Callable[[int], bool], sizes: Sequence[int], fitting: int, too_large: int) -> int:
    low, high = sizes.index(fitting), sizes.index(too_large)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(sizes[middle]):
            low = middle
        else:
            high = middle
    return sizes[low]


def _at_most(sizes: Sequence[int], size: int) -> int:
    """Return the largest allowed size up to this one; the smallest of all where there is none."""
    return sizes[max(0, bisect_right(sizes, size) - 1)]


def _rate(tried: Dict[int, Probe], size: int) -> float:
    return tried[size].samples_per_s or 0.0


def _smallest_of_the_best(tried: Dict[int, Probe]) -> Optional[int]:
    rates = {size: _rate(tried, size) for size, probe in tried.items() if probe.fits}
    if not rates:
        return None
    best = max(rates.values())
    return min(size for size, rate in rates.items() if rate >= best * (1 - GAIN_FRACTION))
