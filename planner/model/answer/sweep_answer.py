"""Comparisons of measured runs: one workload on several counts, and two hardwares."""

from __future__ import annotations

from typing import Literal

from planner.model.base import Frozen
from planner.model.network.workload import BenchMode, Precision, Strategy
from planner.model.quantity import Quantity


class SweepRow(Frozen):
    """One run of a series: its rate, and the ratio to the smallest count's."""

    accelerators: int
    nodes: int
    run: str
    throughput: Quantity
    throughput_per_accelerator: Quantity
    speedup: float
    efficiency: float
    """Efficiency; 1 is perfect scaling from the smallest count."""


class SweepDocument(Frozen):
    """`planner bench --sweep-gpus --json` and `planner runs scaling --json`: one workload on several counts.

    A setting is null if the runs differ in it (`doubts` then says so) or do not state it.
    """

    schema_version: Literal[1] = 1
    kind: Literal["sweep"] = "sweep"
    workload: str
    accelerator: str
    strategy: Strategy | None
    precision: Precision | None
    seq_len: int | None
    micro_batch: int | None
    rows: tuple[SweepRow, ...]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]


class RatioDocument(Frozen):
    """`planner runs ratio --json`: how much faster one accelerator is than another, from two measured runs."""

    schema_version: Literal[1] = 1
    kind: Literal["ratio"] = "ratio"
    workload: str
    accelerator: str
    base_accelerator: str
    run: str
    base_run: str
    mode: BenchMode | None
    """Mode of the runs; null if they differ in it or do not state it."""
    ratio: Quantity
    """Ratio per accelerator."""
    doubts: tuple[str, ...]
