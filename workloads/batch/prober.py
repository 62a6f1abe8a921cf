"""Probes of one benchmark: the search for a micro-batch (the smallest that is as good as the best), and the double.

The runner is passed in: `planner bench` and the launched node start processes in their own ways. A probe is a fresh
run of a few steps, because a rank that ran out of memory leaves an unusable process. Most of its time goes to imports
and compilation, so the search takes few probes: two or three if the memory estimate is good.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from ..batch.micro_batch_probe import (
    PROBE_ACCUMULATION,
    PROBE_WINDOW,
    ROOM_SHARE,
    ProbeResult,
    TriedBatch,
    failed_probe,
    probe_of,
    used_memory_share,
)

GAIN_FRACTION = 0.03
"""Smallest relative gain that counts. The spread from node to node is 0.6 to 2 % for one GPU."""
LARGEST_MICRO_BATCH = 4096

Probe = TypeVar("Probe", bound=TriedBatch)


@dataclass(frozen=True)
class BatchSearch(Generic[Probe]):
    """Probes in order, and the chosen micro-batch; None if not even the smallest fits."""

    chosen: Optional[int]
    probes: Tuple[Probe, ...]


def allowed_sizes(share: Optional[int]) -> Sequence[int]:
    """Return the allowed micro-batches: with a global batch, the divisors of a device's share of it."""
    if share is None:
        return range(1, LARGEST_MICRO_BATCH + 1)
    return [size for size in range(1, share + 1) if share % size == 0]


def search_micro_batch(
    probe: Callable[[int], Probe], *, start: int, allowed: Sequence[int], most: Optional[int] = None
) -> BatchSearch[Probe]:
    """Return the smallest micro-batch within 3 % of the best of those that were tried. No size is tried twice.

    1. Try `start`, the memory estimate's answer, and halve until a size fits.
    2. Double until a size does not fit or gains 3 % or less. Sizes over `most`, which the estimate rules out, are
       tried only if the size before used under half of the memory.
    3. Try half of the largest that fits, and its quarter if the half is within 3 % of the best.

    Sizes between one that fits and its double are not tried: they gain less than another probe costs.
    """
    sizes = sorted(set(allowed))
    if not sizes or sizes[0] < 1:
        raise ValueError(f"allowed must hold numbers from 1, got {list(allowed)}")
    tried: Dict[int, Probe] = {}

    def fits(size: int) -> bool:
        if size not in tried:
            tried[size] = probe(size)
        return tried[size].fits

    largest = _at_most(sizes, start)
    while not fits(largest):
        if largest == sizes[0]:
            return BatchSearch(None, tuple(tried.values()))
        largest = _at_most(sizes, largest // 2)
    while (doubled := _double(sizes, largest)) is not None:
        used = tried[largest].device_memory_fraction
        ruled_out = most is not None and doubled > most and (used is None or used >= ROOM_SHARE)
        too_large = any(size <= doubled and not outcome.fits for size, outcome in tried.items())
        if ruled_out or too_large or not fits(doubled):
            break
        gains = _rate(tried, doubled) > _rate(tried, largest) * (1 + GAIN_FRACTION)
        largest = doubled
        if not gains:
            break
    half = _at_most(sizes, largest // 2)
    if half < largest and fits(half) and _rate(tried, half) >= _best(tried) * (1 - GAIN_FRACTION):
        fits(_at_most(sizes, half // 2))
    enough = _best(tried) * (1 - GAIN_FRACTION)
    chosen = min(size for size, outcome in tried.items() if outcome.fits and _rate(tried, size) >= enough)
    return BatchSearch(chosen, tuple(tried.values()))


def _double(sizes: Sequence[int], size: int) -> Optional[int]:
    """Return the largest allowed size up to the double, or the next one if there is none; None after the last."""
    if size == sizes[-1]:
        return None
    return max(_at_most(sizes, 2 * size), sizes[bisect_right(sizes, size)])


def _at_most(sizes: Sequence[int], size: int) -> int:
    """Return the largest allowed size up to this one, or the smallest of all if there is none."""
    return sizes[max(0, bisect_right(sizes, size) - 1)]


def _rate(tried: Dict[int, Probe], size: int) -> float:
    return tried[size].samples_per_s or 0.0


def _best(tried: Dict[int, Probe]) -> float:
    return max(_rate(tried, size) for size, outcome in tried.items() if outcome.fits)


Run = Callable[[Dict[str, Any]], Mapping[str, Any]]
"""Function that runs a spec in separate processes and returns its result.json."""


@dataclass(frozen=True)
class Prober:
    """Common settings of the probes of one benchmark.

    `share` is the number of samples of a global batch on each device; None means no global batch and no accumulation.
    `failed` is the error that `run` raises if nothing was measured.
    """

    spec: Mapping[str, Any]
    share: Optional[int]
    run: Run
    failed: Type[Exception]
    say: Callable[[str], None]

    def search(
        self, *, start: int, most: Optional[int], allowed: Sequence[int]
    ) -> Tuple[Optional[int], List[ProbeResult]]:
        """Return the chosen micro-batch and all probes; None if not even the smallest fits.

        Raises `failed` if the first probes measured nothing for a reason that may not be memory.
        """
        fitting: List[int] = []

        def probe(size: int) -> ProbeResult:
            outcome = self._probe(size, may_die=bool(fitting))
            if outcome.fits:
                fitting.append(size)
            return outcome

        found = search_micro_batch(probe, start=start, allowed=allowed, most=most)
        if found.chosen is not None:
            self.say(f"micro-batch {found.chosen} is the smallest within {GAIN_FRACTION:.0%} of the best")
        return found.chosen, list(found.probes)

    def double(self, result: Mapping[str, Any]) -> List[ProbeResult]:
        """Return probes of a run's micro-batch and its double.

        Returns none if the run used half of the memory or more, or if the double does not divide the device's share of
        the global batch.
        """
        size = int(self.spec["micro_batch"])
        used = used_memory_share(result["memory"], result["environment"], devices_per_node=result["devices_per_node"])
        if used is None or used >= ROOM_SHARE or (self.share is not None and self.share % (2 * size)):
            return []
        self.say(f"under half of the memory was used: is micro-batch {2 * size} faster?")
        return [self._probe(tried, may_die=True) for tried in (size, 2 * size)]

    def _probe(self, size: int, *, may_die: bool) -> ProbeResult:
        """Run a few steps.

        With `may_die`, a run that leaves nothing was too large; otherwise it failed for another reason.
        """
        accumulation = min(PROBE_ACCUMULATION, accumulation_of(self.share, size))
        spec = {**self.spec, "micro_batch": size, "grad_accumulation": accumulation}
        try:
            outcome = probe_of({**self.run({**spec, "window": PROBE_WINDOW, "calibrate": False}), "spec": spec})
        except self.failed as error:
            if not may_die:
                raise
            outcome = failed_probe(spec, str(error))
        rate = "" if outcome.samples_per_s is None else f"{outcome.samples_per_s:.4g} samples/s"
        self.say(f"micro-batch {size}: {', '.join(part for part in (rate, outcome.refused) if part)}")
        return outcome


def accumulation_of(share: Optional[int], micro_batch: int) -> int:
    """Return the micro-batches of one step: share of the global batch / micro-batch; 1 without a global batch."""
    return 1 if share is None else share // micro_batch
