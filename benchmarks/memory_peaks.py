"""Published peaks of memory: their trainings, their estimates, and constants fitted to other sources."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from planner.model.base import Count, Frozen, Positive, Text
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Decoder, MoeDecoder, TextModel
from planner.model.network.trainer_memory import Kernels, Loss, Offload, Optimizer, TrainerMemory, WeightFormat
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import FITTED, MemoryConstants
from planner.speed.memory.device_memory import CONTEXT_GIB, DeviceMemory
from planner.speed.memory.memory import device_parts
from planner.speed.memory.planned_settings import PossibleNeed, chance_within


class MemoryPeak(Frozen):
    """One row of `catalogs/memory/peaks.csv`."""

    id: Text
    source: Text
    source_ref: Text
    source_date: Text
    said: Text
    """The source's own words."""
    model: Text
    kind: Literal["decoder", "moe_decoder"]
    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    ffn_hidden: Count
    experts: Count | None = None
    experts_per_token: Count | None = None
    mlp: Literal["gelu", "swiglu"]
    vocab: Count
    tied_head: bool
    gpu: Text
    devices: Count
    seq_len: Count
    micro_batch: Count
    precision: Precision
    checkpointing: Checkpointing
    strategy: Strategy
    rank: Count | None = None
    """Rank of the adapters; None if all weights are trained."""
    frozen: FrozenFormat | None = None
    loss: Loss
    kernels: Kernels
    optimizer: Optimizer
    weights: WeightFormat
    offload: Offload
    fused_step: bool
    eager_attention: bool
    wide_stream: bool
    step_in_backward: bool
    whole_gradients: bool
    accumulates: bool
    keeps_pieces: bool = False
    narrow_adapters: bool = False
    double_quantized: bool = False
    one_map_at_a_time: bool = False
    offloads_inputs: bool = False
    measured_as: Literal["allocated", "reserved", "driver", "failed"]
    """Kind of the peak: torch's tensors, memory that its allocator reserved, memory that the driver shows. A "failed"
    run has no peak."""
    peak_gib: Positive | None = None

    @property
    def architecture(self) -> TextModel:
        """Network with the norms and positions that usually go with its kind of MLP."""
        old = self.mlp == "gelu"
        shape = {
            "layers": self.layers, "hidden": self.hidden, "heads": self.heads, "kv_heads": self.kv_heads,
            "head_dim": self.hidden // self.heads, "mlp": self.mlp, "norm": "layernorm" if old else "rmsnorm",
            "bias": old, "positions": "learned" if old else "rope", "max_positions": self.seq_len, "vocab": self.vocab,
            "tied_head": self.tied_head,
        }  # fmt: skip
        if self.kind == "decoder":
            return Decoder.model_validate(shape | {"ffn_hidden": self.ffn_hidden})
        of_experts = {"experts": self.experts, "experts_per_token": self.experts_per_token}
        return MoeDecoder.model_validate(
            shape | of_experts | {"kind": "moe_decoder", "moe_ffn_hidden": self.ffn_hidden}
        )

    @property
    def trainer(self) -> TrainerMemory:
        """Settings of the trainer."""
        stated = TrainerMemory.model_fields.keys() & MemoryPeak.model_fields.keys()
        return TrainerMemory.model_validate({name: getattr(self, name) for name in stated})


class ScoredPeak(NamedTuple):
    """Peak with its estimate."""

    peak: MemoryPeak
    estimated_gib: float
    """Estimate of the same figure as the peak."""
    needed_gib: float
    """Estimate of the device's memory, context and allocator included."""

    @property
    def error(self) -> float:
        """Relative error of the estimate."""
        assert self.peak.peak_gib is not None, "a failed run has no error"
        return self.estimated_gib / self.peak.peak_gib - 1


def estimate(peak: MemoryPeak, constants: MemoryConstants = FITTED) -> ScoredPeak:
    """Return a peak with its estimate by some constants."""
    parts = device_parts(
        TrainingSetup(
            workload=peak.id,
            network=peak.architecture,
            seq_len=peak.seq_len,
            precision=peak.precision,
            checkpointing=peak.checkpointing,
            strategy=peak.strategy,
            adapters=None if peak.rank is None else Adapters(rank=peak.rank, frozen=peak.frozen),
            micro_batch=peak.micro_batch,
        ),
        devices=peak.devices,
        trainer=peak.trainer,
        constants=constants,
    )
    need = parts.fullest(accumulates=peak.accumulates)
    return ScoredPeak(peak, gib_as_measured(need, peak.measured_as), need.total_gib)


def gib_as_measured(need: DeviceMemory, measured_as: str) -> float:
    """Return the part of an estimate that a measurement of some kind shows."""
    figures = {"allocated": need.tensors_gib, "reserved": need.total_gib - CONTEXT_GIB}
    return figures.get(measured_as, need.total_gib)


def score_left_out(
    peaks: Sequence[MemoryPeak], fit: Callable[[Sequence[MemoryPeak]], MemoryConstants]
) -> list[ScoredPeak]:
    """Return every peak with its estimate by constants that were fitted to the other sources."""
    scored = []
    for source in sorted({peak.source for peak in peaks}):
        constants = fit([peak for peak in peaks if peak.source != source])
        scored += [estimate(peak, constants) for peak in peaks if peak.source == source]
    return scored


def mean_log_error(peaks: Iterable[MemoryPeak], constants: MemoryConstants) -> float:
    """Return the mean of |ln(estimated / measured)| of each source, averaged over sources."""
    of_source: dict[str, list[float]] = defaultdict(list)
    for peak in peaks:
        if peak.peak_gib is not None:
            of_source[peak.source].append(abs(math.log(1 + estimate(peak, constants).error)))
    return sum(sum(errors) / len(errors) for errors in of_source.values()) / len(of_source)


FREE = ("saved_fused", "sharded_adapters")
"""Fitted constants. All others follow from counting."""


def scaled(factors: Sequence[float]) -> MemoryConstants:
    """Return the constants with those of `FREE` multiplied by `factors`."""
    return replace(FITTED, **{name: getattr(FITTED, name) * factor for name, factor in zip(FREE, factors, strict=True)})


class PeakBin(NamedTuple):
    """Cases whose chance lies in a tenth, and the share of them that fitted."""

    low: float
    cases: int
    mean_chance: float
    fitted: float


def calibration_bins(scored: Sequence[ScoredPeak], sizes_gib: Sequence[float]) -> list[PeakBin]:
    """Return ten bins of the chance that a run fits a device, over all runs and sizes.

    A run fits a size if its memory, as the driver would show it, is at most that size. This memory is the estimated
    need / (1 + relative error of the estimate). A failed run is one case: it does not fit its device.
    """
    cases: list[tuple[float, bool]] = []
    for run in scored:
        if run.peak.peak_gib is None:
            cases.append((_chance(run, FAILED_ON_GIB), False))
            continue
        taken = run.needed_gib / (1 + run.error)
        cases += [(_chance(run, size), taken <= size) for size in sizes_gib]
    bins = []
    for tenth in range(10):
        inside = [(chance, fits) for chance, fits in cases if min(9, int(chance * 10)) == tenth]
        if inside:
            count = len(inside)
            mean = sum(chance for chance, _ in inside) / count
            bins.append(PeakBin(tenth / 10, count, mean, sum(fits for _, fits in inside) / count))
    return bins


FAILED_ON_GIB = 80.0
"""DeviceMemory of the A100 on which the bundled runs failed."""


def _chance(scored: ScoredPeak, size_gib: float) -> float:
    return chance_within([PossibleNeed(1.0, scored.needed_gib)], size_gib)
