"""What may hold a training back: each cause with the setup in which it is mended, or in which it is at work unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from planner.model.evidence.run import RunRecord
from planner.model.hardware.machines import Link
from planner.model.network.workload import Checkpointing, Precision
from planner.quantity.divisors import divisors
from planner.speed.diagnosis.run_setup import RunSetup


class CauseCode(StrEnum):
    """Why a training may be slower than it could be."""

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
    """A cause: what mends it, whether that is free, and the settings that the physics compares."""

    code: CauseCode
    free: bool
    prior: float
    """How often it is at work unseen, of runs that people ask about. Assumed."""
    mended: Callable[[RunSetup], RunSetup | None] = lambda setup: None  # noqa: ARG005
    """The run without it, where the run says that it is so; None: it is not, or cannot be mended."""
    unseen: Callable[[RunSetup, RunRecord], RunSetup | None] = lambda setup, run: None  # noqa: ARG005
    """The run with it, where it says nothing or the contrary; None: it cannot be."""


SIXTEEN_BIT = (Precision.BF16, Precision.FP16)
SLOW_HOST = 3.0
"""Times the launches of a usual host."""
LARGEST_WANTED = 16
"""Samples of a pass beyond which no card gains much."""


def _sixteen_bit(setup: RunSetup) -> RunSetup | None:
    has = setup.accelerator.peak_tflops(Precision.BF16) or setup.accelerator.peak_tflops(Precision.FP16)
    return None if setup.precision not in (Precision.FP32, Precision.TF32) or not has else _in(setup, Precision.BF16)


def _fp32(setup: RunSetup, run: RunRecord) -> RunSetup | None:
    proven = sum(run.matmul_flops_by_dtype.values())
    return None if proven or setup.precision not in SIXTEEN_BIT else _in(setup, Precision.FP32)


def _in(setup: RunSetup, precision: Precision) -> RunSetup:
    return setup.changed(precision=precision)


def _larger_batch(setup: RunSetup) -> RunSetup | None:
    """Return the largest micro-batch that fits: out of accumulation where there is any, else with a larger batch."""
    largest = min(setup.largest_micro_batch(), max(LARGEST_WANTED, setup.micro_batch * 4))
    if setup.accumulation > 1:
        factor = max(divisors(setup.accumulation, most=largest // setup.micro_batch), default=1)
        if factor > 1:
            return setup.changed(micro_batch=setup.micro_batch * factor, accumulation=setup.accumulation // factor)
    return setup.changed(micro_batch=largest, accumulation=1) if largest > setup.micro_batch else None


def _less_recomputed(setup: RunSetup) -> RunSetup | None:
    """Return the least recomputation that fits, at the same micro-batch or at half of it, accumulated twice."""
    ways = list(Checkpointing)[: list(Checkpointing).index(setup.checkpointing)]
    half = setup.changed(micro_batch=setup.micro_batch // 2, accumulation=2 * setup.accumulation)
    setups = (setup, half) if setup.micro_batch > 1 else (setup,)
    tried = (one.changed(checkpointing=way) for way in ways for one in setups)
    return next((one for one in tried if one.fits()), None)


def _recomputed(setup: RunSetup, run: RunRecord) -> RunSetup | None:
    silent = run.checkpointing is None and setup.checkpointing is Checkpointing.NONE
    return setup.changed(checkpointing=Checkpointing.FULL) if silent else None


def _better_link(setup: RunSetup) -> RunSetup | None:
    if setup.devices == 1 or setup.node.link not in (Link.PCIE, Link.PCIE_NO_P2P):
        return None
    link = Link.PCIE if setup.node.link is Link.PCIE_NO_P2P else Link.NVLINK
    if link is Link.NVLINK and setup.accelerator.link_gb_per_s is None:
        return None
    return setup.changed(node=setup.node.model_copy(update={"link": link}))


def _worse_link(setup: RunSetup, run: RunRecord) -> RunSetup | None:  # noqa: ARG001  as the rules want it
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
