"""Checks by the estimate of `planner memory` whether a run fits, must have recomputed, and reported its memory."""

from __future__ import annotations

from planner.audit.findings import Fact, doubtful, impossible, note
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import Finding
from planner.model.network.trainer_memory import Kernels, Loss, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import FAILS_UP_TO, PossibleNeed, chance_within

LEANEST = TrainerMemory(loss=Loss.CHUNKED, kernels=Kernels.FUSED)
PLAIN = TrainerMemory(loss=Loss.FUSED, kernels=Kernels.EAGER)
"""Settings of a run that names no compiled or fused kernels, with the loss in its favour."""
HARDLY = 0.02
"""Chance to fit below which a run is called impossible as stated."""
ALL_OR_NOTHING = (Strategy.ZERO1, Strategy.ZERO2, Strategy.ZERO3)
"""Strategies of DeepSpeed, under which trainers recompute all layers or none."""
FAR_OFF, FAR_OFF_PLAIN = 0.8, 0.2
"""Ratios of reported to needed memory, at the leanest and without recomputation, below which they describe different
runs.
"""
MUCH_LARGER = 2
REPORTED = ("used_fraction", "used_gib", "peak_reserved_gib", "peak_allocated_gib", "peak_device_gib")


def need_gib(
    run: StatedRun, *, checkpointing: Checkpointing, trainer: TrainerMemory, micro_batch: int, strategy: Strategy | None
) -> float | None:
    """Return the estimated GiB on one device; None if the record lacks facts."""
    record = run.record
    if record is None or record.architecture is None or record.architecture.sample == "image":
        return None
    if record.seq_len is None or record.method == "lora":
        return None
    return device_memory(
        TrainingSetup(
            workload=record.workload,
            network=record.architecture,
            seq_len=record.seq_len,
            precision=record.precision or Precision.BF16,
            checkpointing=checkpointing,
            strategy=strategy or Strategy.FSDP2,
            micro_batch=micro_batch,
        ),
        devices=run.devices,
        trainer=trainer,
    ).total_gib


def least_gib(run: StatedRun, *, micro_batch: int) -> float | None:
    """Return the estimated GiB at the leanest: everything recomputed, chunked loss, fused kernels."""
    strategy = (run.record.strategy if run.record else None) or Strategy.FSDP2
    return need_gib(run, checkpointing=Checkpointing.FULL, trainer=LEANEST, micro_batch=micro_batch, strategy=strategy)


def memory_findings(run: StatedRun) -> tuple[list[Finding], bool]:
    """Return the findings on memory, and whether the run must have recomputed all of its layers."""
    record, accelerator = run.record, run.accelerator
    if record is None or accelerator is None or accelerator.hbm_gib is None or record.micro_batch is None:
        return [], False
    batch, hbm, strategy = record.micro_batch, accelerator.hbm_gib, record.strategy
    least = least_gib(run, micro_batch=batch)
    trainer = LEANEST if record.compiled else PLAIN
    plain = need_gib(run, checkpointing=Checkpointing.NONE, trainer=trainer, micro_batch=batch, strategy=strategy)
    if least is None or plain is None:
        return [], False
    device: Fact = ("device", hbm, "GiB", accelerator.source)
    findings, forced = [], False
    if chance_within([PossibleNeed(1.0, least)], hbm) < HARDLY:
        says = f"With everything recomputed a device needs about {least:.0f} GiB, and has {hbm:g}."
        needed: Fact = ("needed", least, "GiB", "planner memory, full checkpointing, chunked loss, fused kernels")
        fix = "Record strategy, offload, optimizer and adapters; or see planner memory."
        findings.append(impossible("memory_above_capacity", says, needed, device, fix=fix))
    elif (
        chance_within([PossibleNeed(1.0, plain)], hbm) <= FAILS_UP_TO and record.checkpointing is not Checkpointing.FULL
    ):
        says = f"Without recomputation batch {batch} needs about {plain:.0f} GiB of {hbm:g}: it must have recomputed."
        needed = ("needed", plain, "GiB", "planner memory, no checkpointing, eager kernels, fused loss")
        findings.append(note("memory_forces_recomputation", says, needed, device))
        forced = strategy in ALL_OR_NOTHING and record.checkpointing is None
    elif chance_within([PossibleNeed(1.0, _times(run, MUCH_LARGER, trainer) or hbm)], hbm) > 1 - FAILS_UP_TO:
        says = f"Batch {batch} fills about {plain / hbm:.0%} of the device: {MUCH_LARGER * batch} and more would fit."
        needed = ("needed", plain, "GiB", "planner memory, no checkpointing")
        fix = f"planner launch {record.workload} --mode tuned --on TARGET"
        findings.append(note("batch_far_below_memory", says, needed, device, fix=fix))
    if strategy not in (None, Strategy.DDP) and not any(
        finding.code == "memory_above_capacity" for finding in findings
    ):
        findings += _sharding(run, trainer, hbm)
    return findings + _reported(run, least, plain, hbm), forced


def _times(run: StatedRun, factor: int, trainer: TrainerMemory) -> float | None:
    assert run.record is not None
    assert run.record.micro_batch is not None
    return need_gib(
        run,
        checkpointing=Checkpointing.NONE,
        trainer=trainer,
        micro_batch=run.record.micro_batch * factor,
        strategy=run.record.strategy,
    )


def _sharding(run: StatedRun, trainer: TrainerMemory, hbm: float) -> list[Finding]:
    assert run.record is not None
    sample_gib = need_gib(run, checkpointing=Checkpointing.FULL, trainer=trainer, micro_batch=1, strategy=Strategy.DDP)
    if sample_gib is None or chance_within([PossibleNeed(1.0, sample_gib)], hbm) <= 1 - FAILS_UP_TO:
        return []
    says = f"The network fits one device without sharding ({sample_gib:.0f} of {hbm:g} GiB): ddp communicates less."
    fix = f"planner launch {run.record.workload} --strategy ddp --on TARGET"
    needed: Fact = ("needed", sample_gib, "GiB", "planner memory, ddp, one sample, full checkpointing")
    return [note("sharding_not_needed", says, needed, fix=fix)]


def _reported(run: StatedRun, least: float, plain: float, hbm: float) -> list[Finding]:
    assert run.record is not None
    memory = run.record.memory
    reported = [(key, value) for key in REPORTED if (value := memory.get(key)) is not None]
    if not reported:
        return []
    key, value = reported[0]
    used = value * hbm if key == "used_fraction" else value
    facts: tuple[Fact, ...] = (
        ("reported", used, "GiB", f"the record: memory.{key}"),
        ("needed", least, "GiB", "planner memory at its leanest"),
        ("needed_without_recomputation", plain, "GiB", "planner memory, no checkpointing"),
    )
    if used > hbm * 1.02:
        return [impossible("memory_above_capacity", f"It reports {used:.1f} GiB used of {hbm:g}.", *facts)]
    if used >= FAR_OFF * least and (used >= FAR_OFF_PLAIN * plain or run.record.checkpointing is not None):
        return []
    says = (
        f"It reports {used:.1f} GiB used, and needs about {plain:.0f} without recomputation, {least:.0f} with it: "
        "samples were short, or the share of time in which memory was busy was read as occupancy."
    )
    return [doubtful("memory_unlike_reported", says, *facts, fix="Record torch.cuda.max_memory_reserved().")]
