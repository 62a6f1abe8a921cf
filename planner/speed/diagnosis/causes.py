"""Causes that may slow a training: each with the setup without it, and the setup in which it acts unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Link
from planner.model.network.workload import Checkpointing, Precision
from planner.speed.diagnosis.run_setup import RunSetup
from planner.speed.throughput.strategy_space import divisors


class CauseCode(StrEnum):
    """Causes of slow trainings."""

    FP32 = "fp32"
    PADDING = "padding"
    SMALL_BATCH = "small_batch"
    DATA_WAIT = "data_wait"
    SLOW_RANK = "slow_rank"
    LOGITS = "logits"
    LINK = "link"
    RECOMPUTATION = "recomputation"
    HOST = "host"
    UNFUSED = "unfused"


@dataclass(frozen=True)
class CauseRule:
    """Cause with its remedy and the settings that the physics compares."""

    code: CauseCode
    free: bool
    """True if the remedy costs nothing."""
    prior: float
    """Assumed share of diagnosed runs in which the cause acts unnoticed."""
    mended: Callable[[RunSetup], RunSetup | None] = lambda setup: None  # noqa: ARG005
    """Return the run without the cause that its settings state, or None if they do not or there is no remedy."""
    unseen: Callable[[RunSetup, RunRecord], RunSetup | None] = lambda setup, run: None  # noqa: ARG005
    """Return the run with the cause that its settings do not state, or None if the cause is impossible."""


SIXTEEN_BIT = (Precision.BF16, Precision.FP16)
SLOW_HOST = 3.0
"""Launch time of a slow host over that of a usual one."""
LARGEST_WANTED = 16
"""Samples of a pass beyond which no card gains much."""


def _sixteen_bit(setup: RunSetup) -> RunSetup | None:
    is_wide = setup.precision in (Precision.FP32, Precision.TF32)
    has_narrow = any(setup.accelerator.peak_tflops(precision) for precision in SIXTEEN_BIT)
    return setup.changed(precision=Precision.BF16) if is_wide and has_narrow else None


def _fp32(setup: RunSetup, run: RunRecord) -> RunSetup | None:
    is_proven = sum(run.matmul_flops_by_dtype.values()) > 0
    is_possible = setup.precision in SIXTEEN_BIT and not is_proven
    return setup.changed(precision=Precision.FP32) if is_possible else None


def _larger_batch(setup: RunSetup) -> RunSetup | None:
    """Return the run with the largest micro-batch that fits, with less accumulation or else a larger global batch."""
    largest = min(setup.largest_micro_batch(), max(LARGEST_WANTED, setup.micro_batch * 4))
    if setup.accumulation > 1:
        factor = max(divisors(setup.accumulation, most=largest // setup.micro_batch), default=1)
        if factor > 1:
            return setup.changed(micro_batch=setup.micro_batch * factor, accumulation=setup.accumulation // factor)
    return setup.changed(micro_batch=largest, accumulation=1) if largest > setup.micro_batch else None


def _less_recomputed(setup: RunSetup) -> RunSetup | None:
    """Return the run with the least recomputation that fits, at its micro-batch or at half of it, accumulated twice."""
    ways = list(Checkpointing)[: list(Checkpointing).index(setup.checkpointing)]
    half = setup.changed(micro_batch=setup.micro_batch // 2, accumulation=2 * setup.accumulation)
    batches = (setup, half) if setup.micro_batch > 1 else (setup,)
    candidates = (batch.changed(checkpointing=way) for way in ways for batch in batches)
    return next((candidate for candidate in candidates if candidate.fits()), None)


def _recomputed(setup: RunSetup, run: RunRecord) -> RunSetup | None:
    is_unstated = run.checkpointing is None and setup.checkpointing is Checkpointing.NONE
    return setup.changed(checkpointing=Checkpointing.FULL) if is_unstated else None


def _better_link(setup: RunSetup) -> RunSetup | None:
    if setup.devices == 1 or setup.node.link not in (Link.PCIE, Link.PCIE_NO_P2P):
        return None
    link = Link.PCIE if setup.node.link is Link.PCIE_NO_P2P else Link.NVLINK
    if link is Link.NVLINK and setup.accelerator.link_gb_per_s is None:
        return None
    return setup.changed(node=setup.node.model_copy(update={"link": link}))


def _worse_link(setup: RunSetup, run: RunRecord) -> RunSetup | None:  # noqa: ARG001  (every rule gets the run)
    if setup.per_node == 1 or setup.node.link is Link.PCIE_NO_P2P:
        return None
    return setup.changed(node=setup.node.model_copy(update={"link": Link.PCIE_NO_P2P}))


def _without_launches(setup: RunSetup) -> RunSetup | None:
    return setup.changed(overrides={"host_scale": 0.05})


def _slow_host(setup: RunSetup, run: RunRecord) -> RunSetup | None:  # noqa: ARG001
    return setup.changed(overrides={"host_scale": SLOW_HOST})


def _fused(setup: RunSetup) -> RunSetup | None:
    config = setup.config()
    return None if config is None or config["fused"] >= 1 else setup.changed(overrides={"fused": 1.0, "compiled": 1.0})


def _unfused(setup: RunSetup, run: RunRecord) -> RunSetup | None:  # noqa: ARG001
    config = setup.config()
    return None if not config or not config["fused"] else setup.changed(overrides={"fused": 0.0, "compiled": 0.0})


RULES = (
    CauseRule(CauseCode.FP32, True, 0.15, _sixteen_bit, _fp32),
    CauseRule(CauseCode.PADDING, True, 0.10),
    CauseRule(CauseCode.SMALL_BATCH, True, 0.0, _larger_batch),
    CauseRule(CauseCode.DATA_WAIT, True, 0.10),
    CauseRule(CauseCode.SLOW_RANK, False, 0.04),
    CauseRule(CauseCode.LOGITS, True, 0.0, _fused),
    CauseRule(CauseCode.LINK, False, 0.05, _better_link, _worse_link),
    CauseRule(CauseCode.RECOMPUTATION, True, 0.10, _less_recomputed, _recomputed),
    CauseRule(CauseCode.HOST, True, 0.05, _without_launches, _slow_host),
    CauseRule(CauseCode.UNFUSED, True, 0.03, _fused, _unfused),
)
