"""Distribution of a training over its accelerators: strategy, split, micro-batch, checkpointing."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.network.workload import Checkpointing, Split, Strategy


@dataclass(frozen=True)
class ParallelConfig:
    """A parallel configuration that fits, with its speed: samples/s of all accelerators, 90 % range."""

    strategy: Strategy
    split: Split
    micro_batch: int
    accumulation: int
    checkpointing: Checkpointing
    hbm_gib: float
    samples_per_s: float = 0.0
    low: float = 0.0
    high: float = 0.0
    group: str = ""
    chunked_loss: bool = False
    """True if it fits only with a loss in chunks."""
