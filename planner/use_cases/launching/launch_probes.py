"""Chooses the micro-batches that a launched node tries besides the benchmark, as `planner bench` does here."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.errors import InputError
from planner.launcher.bench.bench import allowed_micro_batches, global_batch_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.plan.target import Target
from planner.model.catalog import Catalog
from planner.model.network.workload import BenchMode, BenchWorkload
from planner.use_cases.expectations import most_micro_batch, start_micro_batch

PROBE_MINUTES = 1.5
"""Minutes for imports, the first step and five more steps."""
MOST_PROBES_OF_A_SEARCH = 6
"""Most tries of a search. A good memory estimate needs two to four; a missing or wrong one needs more."""


@dataclass(frozen=True)
class Probes:
    """Micro-batches that a node tries."""

    asked: str | None
    """Argument for `workloads/run.sh`; None for no tries."""
    at_most: int
    """Most tries."""
    micro_batch: int | None
    """Micro-batch of the first spec; None for the workload's own."""

    @property
    def minutes(self) -> float:
        """Minutes that the tries may take."""
        return self.at_most * PROBE_MINUTES


def settings_on(target: Target, settings: BenchSettings) -> BenchSettings:
    """Return the settings with the target's device count. Raises InputError if it is needed and unknown."""
    if target.devices_per_node is not None:
        return replace(settings, devices=target.nodes * target.devices_per_node)
    if settings.global_batch is not None or settings.mode is BenchMode.TUNED:
        raise InputError(
            f"{target.id}: how many devices it has is not known, and a global batch is shared among them.",
            fix="Say how many there are: --gpus N.",
        )
    return settings


def probes_of(workload: BenchWorkload, settings: BenchSettings, target: Target, catalog: Catalog) -> Probes:
    """Return the tries: a search if asked for, else the doubled batch for a full measurement.

    Several nodes try nothing, because they would have to agree on each try. Raises InputError for a search on them.
    """
    share = None
    if (global_batch := global_batch_of(workload, settings)) is not None:
        share = global_batch // settings.devices
    of_share = "" if share is None else f" --share {share}"
    if settings.searches:
        if target.nodes > 1:
            raise InputError(
                f"{target.id}: a micro-batch is searched for on one node, and these are {target.nodes}.",
                fix="Search on one of them, then give --micro-batch for all.",
            )
        sizes = allowed_micro_batches(workload, settings)
        start = start_micro_batch(workload, target.accelerator, catalog, settings) or workload.micro_batch
        most = most_micro_batch(workload, target.accelerator, catalog, settings)
        up_to = "" if most is None else f" --most {most}"
        return Probes(f"search --start {start}{up_to}{of_share}", MOST_PROBES_OF_A_SEARCH, sizes[0])
    if settings.quick or target.nodes > 1:
        return Probes(None, 0, None)
    return Probes(f"double{of_share}", 2, None)
