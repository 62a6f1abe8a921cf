"""Computes the expected values of a benchmark run: peak, FLOPs, memory and first losses.

They depend on the result alone, so a result that was copied by hand is judged like one that was measured here.
"""

from __future__ import annotations

import math
import re

from pydantic import TypeAdapter

from planner.launcher.bench.bench import global_batch_of, lora_document
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.collect.expectations import Expected, GetExpected
from planner.launcher.collect.record import adapters_of
from planner.model.catalog import Catalog
from planner.model.evidence.node_shapes import NodeResult
from planner.model.network.architecture import Architecture, TextModel, is_same_network
from planner.model.network.trainer_memory import benchmark_trainer
from planner.model.network.workload import BenchWorkload, Checkpointing, Precision, Preset, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.device_fit import largest_micro_batch, usable_gib
from planner.speed.memory.memory import device_memory
from planner.speed.throughput.matching_runs import training_peak_tflops
from planner.speed.throughput.mfu import flops_by_convention

INIT_STD = 0.02
"""Standard deviation of the benchmark's initial weights (workloads/models/decoder.py), as in GPT-2."""
FIRST_LOSS_TOLERANCE = 0.02
"""Relative tolerance of the first loss from its formula. The tests measure 0.3 % on cpu-smoke."""
REFERENCE_TOLERANCE = {"fp32": 0.001, "tf32": 0.005, "bf16": 0.02, "fp16": 0.02, "float8": 0.05}
"""Relative tolerance of a reference curve made on a CPU. Other kernels add in another order; short formats round."""
OTHER_DEVICE_TOLERANCE = 0.02
"""Relative tolerance on another kind of device, which draws other random weights from the same seed."""
ESTIMATE_TOO_HIGH = 1.1
"""Factor by which a memory estimate may be too high. Estimates are within 10 % of the recorded H100 runs."""


def expect_from(catalog: Catalog) -> GetExpected:
    """Return the function that computes the expected values of a result on an accelerator of this catalog."""

    def expect(result: NodeResult, accelerator: str) -> Expected:
        spec = result.spec
        architecture = TypeAdapter[Architecture](Architecture).validate_python(spec["architecture"])
        seq_len = spec.get("seq_len")
        named = catalog.presets.get(str(spec["workload"]))
        is_preset = named and named.seq_len == seq_len and is_same_network(named.architecture, architecture)
        preset = named if is_preset else None
        known = catalog.accelerators.get(accelerator)
        full = spec.get("method", "full") == "full"
        losses, tolerance = _first_losses(result, preset, architecture)
        recomputes_all = spec.get("checkpointing") == Checkpointing.FULL.value
        as_usual = full and not recomputes_all and preset and preset.precision.value == spec["precision"]
        return Expected(
            flops_per_sample=flops_by_convention(architecture, seq_len=seq_len, adapters=not full),
            peak_tflop_per_s=training_peak_tflops(known, Precision(spec["precision"]))[0] if known else None,
            least_mfu=_least_mfu(preset, compiled=bool(spec.get("compile", False))) if as_usual else None,
            device_memory_gib=_memory(result, architecture) if full and result.device_type == "cuda" else None,
            first_losses=losses,
            loss_tolerance=tolerance,
        )

    return expect


def start_micro_batch(
    workload: BenchWorkload,
    accelerator: str | None,
    catalog: Catalog,
    settings: BenchSettings,
    *,
    overfull: float = 1.0,
) -> int | None:
    """Return the largest micro-batch that should fit, at which a search begins; None if the memory is unknown.

    `overfull` is the share of the usable memory that the estimate may take.
    """
    known = catalog.accelerators.get(accelerator or "")
    if known is None or known.hbm_gib is None:
        return None
    precision = settings.precision or workload.precision
    adapters = adapters_of(lora_document(settings.lora, precision))

    usable = overfull * usable_gib(known.hbm_gib)

    def fits(micro_batch: int) -> bool:
        need = device_memory(
            TrainingSetup(
                workload=workload.name,
                network=workload.architecture,
                seq_len=workload.seq_len,
                precision=precision,
                checkpointing=settings.checkpointing,
                strategy=settings.strategy,
                adapters=adapters,
                micro_batch=micro_batch,
            ),
            devices=settings.devices,
            trainer=benchmark_trainer(compiled=settings.compile, loss_chunks=settings.loss_chunks),
            accumulates=_accumulates(workload, settings, micro_batch),
        )
        return need.total_gib <= usable

    return max(1, largest_micro_batch(fits))


def most_micro_batch(
    workload: BenchWorkload, accelerator: str | None, catalog: Catalog, settings: BenchSettings
) -> int | None:
    """Return the largest micro-batch that fits if the estimate is 10 % too high. A search tries none above it."""
    return start_micro_batch(workload, accelerator, catalog, settings, overfull=ESTIMATE_TOO_HIGH)


def first_loss(decoder: TextModel) -> float:
    """Return the loss before any learning, in nats.

    loss = ln V + hidden x std^2 / 2

    The last norm gives the hidden state a mean square of 1, so a logit is normal with variance hidden x std^2, and the
    logarithm of the mean of exp(logit) is half of that. The formula does not hold for a head tied to the input.
    """
    return math.log(decoder.vocab) + decoder.hidden * INIT_STD**2 / 2


def _first_losses(
    result: NodeResult, preset: Preset | None, architecture: Architecture
) -> tuple[tuple[float, ...], float]:
    """Return the preset's losses for this global batch, else the first loss of the formula, with their tolerance."""
    spec = result.spec
    same_training = spec.get("seed") == 0 and not spec.get("data") and spec.get("method", "full") == "full"
    references = {curve.global_batch: curve for curve in preset.first_losses} if preset and same_training else {}
    reference = references.get(result.global_batch or 0)
    if reference is not None:
        tolerance = REFERENCE_TOLERANCE[str(spec["precision"])]
        return reference.losses, tolerance if result.device_type == "cpu" else max(tolerance, OTHER_DEVICE_TOLERANCE)
    if architecture.sample != "tokens" or architecture.tied_head:
        return (), 0.0
    return (first_loss(architecture),), FIRST_LOSS_TOLERANCE


def _least_mfu(preset: Preset | None, *, compiled: bool) -> float | None:
    if preset is None:
        return None
    return (preset.least_mfu_compiled if compiled else None) or preset.least_mfu


def _memory(result: NodeResult, architecture: Architecture) -> float:
    """Return the estimated memory of one device in GiB."""
    spec = result.spec
    compiled, chunks = bool(spec.get("compile", False)), int(spec.get("loss_chunks", 1))
    return device_memory(
        TrainingSetup(
            workload=str(spec["workload"]),
            network=architecture,
            seq_len=spec.get("seq_len"),
            precision=Precision(spec["precision"]),
            checkpointing=Checkpointing(spec.get("checkpointing", "none")),
            strategy=Strategy(spec["strategy"]),
            micro_batch=int(spec["micro_batch"]),
        ),
        devices=result.world_size,
        trainer=benchmark_trainer(
            compiled=compiled, loss_chunks=chunks, fused_norms=has_fused_norms(str(result.environment.get("torch", "")))
        ),
        accumulates=int(spec.get("grad_accumulation", 1)) > 1,
    ).total_gib


def has_fused_norms(torch_version: str) -> bool:
    """Return True if this torch computes an RMSNorm in one CUDA kernel: 2.9 and newer, or an unknown version."""
    numbers = re.match(r"(\d+)\.(\d+)", torch_version)
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= (2, 9)


def _accumulates(workload: BenchWorkload, settings: BenchSettings, micro_batch: int) -> bool:
    """Return True if a step has several micro-batches on each device."""
    global_batch = global_batch_of(workload, settings)
    return global_batch is not None and global_batch > micro_batch * settings.devices
