"""Probes of one benchmark: a search for its micro-batch before it, or the doubled micro-batch after it.

The runner is passed in: `planner bench` and the launched node start processes in their own ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Type

from ..batch.batch_search import GAIN_FRACTION, search_micro_batch
from ..batch.micro_batch_probe import (
    PROBE_ACCUMULATION,
    PROBE_WINDOW,
    ROOM_SHARE,
    ProbeResult,
    failed_probe,
    probe_of,
    used_memory_share,
)

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
