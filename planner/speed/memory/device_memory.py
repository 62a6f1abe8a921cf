"""Phases of a training step, the phase that needs the most memory, and memory beside it: hosts and generation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from planner.model.network.trainer_memory import Offload
from planner.model.network.training_method import NEXT_TOKEN, Engine, Generation, MethodSettings
from planner.quantity.formula import formula
from planner.scenario.candidate import Candidate
from planner.scenario.frameworks import framework_family, planned_family
from planner.scenario.job import Job
from planner.speed.memory.activations import SavedBytes
from planner.speed.memory.constants import FITTED
from planner.speed.memory.states import States, device_states

GIB = 2**30
CONTEXT_GIB = 1.0
"""CUDA context and NCCL channels. Published runs show 1 to 3 GiB, including memory that the allocator cannot use."""
COMPUTED_BY_MEMORY = "the first lines of planner memory --details compute it"
PART_SOURCES = {
    "weights": ("bytes", f"weights on one device: {COMPUTED_BY_MEMORY}"),
    "gradients": ("bytes", f"gradients on one device: {COMPUTED_BY_MEMORY}"),
    "moments": ("bytes", f"moments of the optimizer on one device: {COMPUTED_BY_MEMORY}"),
    "step": ("bytes", "temporary tensors of the optimizer's step: planner/speed/memory/states.py"),
    "kept": ("bytes", f"activations that stay until the backward pass needs them: {COMPUTED_BY_MEMORY}"),
    "working": ("bytes", "the layer that the backward pass recomputes: planner/speed/memory/activations.py"),
    "last": ("bytes", "last layer of the backward pass: planner/speed/memory/activations.py"),
    "logits": ("bytes", f"logits and their gradients: {COMPUTED_BY_MEMORY}"),
    "buffers": ("bytes", "buffers of the strategy, for communication and copies: planner/speed/memory/buffers.py"),
    "slack": ("", "memory that the allocator reserves / memory that tensors use: planner/speed/memory/constants.py"),
    "engine_training": ("bytes", "generation engine during training: planner/speed/memory/device_memory.py"),
    "engine_generating": ("bytes", "generation engine during generation: planner/speed/memory/device_memory.py"),
}
"""Unit of each part of the memory, and its meaning with the place of its computation."""


class Phase(StrEnum):
    """Phases of a step in which memory can peak."""

    LOSS = "loss"
    """All activations and the logits."""
    BACKWARD = "backward"
    """All activations and one recomputed layer."""
    GRADIENTS = "gradients"
    """End of the backward pass, with all gradients."""
    STEP = "step"
    """All gradients, and temporary tensors of the optimizer's step."""
    GENERATION = "generation"
    """Weights, moments, and an engine that is generating."""


@dataclass(frozen=True)
class Parts:
    """Bytes on one device at one micro-batch, by purpose."""

    states: States
    saved: SavedBytes
    logits: float
    buffers: float
    slack: float
    """Memory reserved by the allocator / memory used by tensors."""
    keeps_gradients: bool = False
    """True if gradients stay allocated between steps (`keeps_gradients`)."""
    engine_training: float = 0.0
    """Bytes of a generation engine on the same device while the device trains."""
    engine_generating: float = 0.0
    """Bytes of that engine while it generates."""

    @formula("GiB", inputs=PART_SOURCES)
    def fullest(self, *, accumulates: bool = False) -> DeviceMemory:
        """Return the phase with the largest sum.

        loss = weights + moments + kept activations + logits + buffers.
        backward = the same, with the working layer in place of the logits.
        gradients = all states + the last layer + buffers.
        step = all states + temporary tensors of the step.
        generation = weights + moments.

        Gradients also count in the first two phases if they are kept between steps, or if earlier micro-batches
        produced some (`accumulates`). DistributedDataParallel needs two sets then, because it accumulates outside its
        buckets. An engine on the same device is added to the buffers.
        """
        states, saved = self.states, self.saved
        sets = int(accumulates) + int(self.keeps_gradients)
        before = states.weights + states.moments + sets * states.gradients
        beside_buckets = states.gradients if sets > 1 else 0.0
        moments = {
            Phase.LOSS: (before, saved.kept, self.logits, self.buffers),
            Phase.BACKWARD: (before, saved.kept + saved.working, 0.0, self.buffers),
            Phase.GRADIENTS: (states.after_backward + beside_buckets, saved.last, 0.0, self.buffers),
            Phase.STEP: (states.after_backward + states.step, 0.0, 0.0, 0.0),
            Phase.GENERATION: (states.weights + states.moments, 0.0, 0.0, 0.0),
        }
        engine = dict.fromkeys(Phase, self.engine_training) | {Phase.GENERATION: self.engine_generating}
        phase = max(moments, key=lambda name: self.slack * sum(moments[name]) + engine[name])
        states_gib, activations, logits, buffers = (part / GIB for part in moments[phase])
        spare = (self.slack - 1) * (states_gib + activations + logits + buffers) + CONTEXT_GIB
        if engine[phase]:
            spare = spare + engine[phase] / GIB
        return DeviceMemory(states_gib, activations, logits, buffers + spare, phase, self.slack)


@dataclass(frozen=True)
class DeviceMemory:
    """Memory of each device in its fullest phase, in GiB."""

    states_gib: float
    activations_gib: float
    logits_gib: float
    buffers_gib: float
    """Communication buffers, copied and materialized weights, allocator slack, and the CUDA context."""
    phase: Phase = Phase.LOSS
    slack: float = FITTED.slack

    @property
    def total_gib(self) -> float:
        """Sum of the parts: the memory that the device needs. It is the middle of a range (`PossibleNeed`)."""
        return self.states_gib + self.activations_gib + self.logits_gib + self.buffers_gib

    @property
    def tensors_gib(self) -> float:
        """Memory of tensors without allocator slack and context: `torch.cuda.max_memory_allocated`."""
        return (self.total_gib - CONTEXT_GIB) / self.slack


def waiting_gib(job: Job, candidate: Candidate, *, paged: float) -> float:
    """Return the GiB of training states in the memory of each host.

    GiB = accelerators per node x (states without offload - states on the device) x share that is moved

    The share is 1 with offload. For a paged optimizer it is `paged`, the share of its moments that the device has no
    room for. Transfer buffers are not counted.
    """
    trainer = job.setup.settings.trainer
    if job.setup.network is None or (trainer.offload is Offload.NONE and not paged):
        return 0.0
    whole = trainer.model_copy(update={"offload": Offload.NONE, "optimizer": trainer.optimizer.resident})
    setup = replace(job.setup, strategy=candidate.strategy, split=candidate.split, objective=NEXT_TOKEN)
    on_device, complete = (
        device_states(setup, devices=candidate.accelerators, trainer=placement) for placement in (trainer, whole)
    )
    moved = complete.after_backward - on_device.after_backward
    share = 1.0 if trainer.offload is not Offload.NONE else paged
    return candidate.accelerators_per_node * share * moved / GIB


ENGINE_GIB = 2.0
"""GiB of an engine besides weights and cache, also while it sleeps: context, CUDA graphs, buffers. Assumed."""
SLEEPLESS = (framework_family("HF Trainer"),)
"""Trainers whose engine keeps its memory while they train. Source: the defaults of TRL's `vllm_enable_sleep_mode`
(false) and of ms-swift's `sleep_level` (0)."""
SLEEPLESS_SHARE = 0.3
"""Share of a device's memory that such an engine reserves by default: TRL's `vllm_gpu_memory_utilization`."""


class EngineMemory(NamedTuple):
    """Use that an engine makes of the memory of devices that train."""

    sleep_level: int
    """0: the engine keeps its memory. 1: its weights move to the host. 2: its weights are dropped."""
    share: float | None
    """Share of the device's memory that it reserves; None: not stated."""

    @property
    def sleeps(self) -> bool:
        """True if the engine releases its memory while its devices train."""
        return self.sleep_level > 0


class EngineBytes(NamedTuple):
    """Bytes of an engine on each device that trains."""

    training: float = 0.0
    """Bytes while the device trains."""
    generating: float = 0.0
    """Bytes while the device generates; 0 if the engine uses the memory that training leaves free."""


def engine_memory(generation: Generation | None, framework: str | None) -> EngineMemory | None:
    """Return the engine's use of the devices that train; None if it has its own devices or there is no engine."""
    if generation is None or generation.devices != "colocated" or generation.engine is Engine.TRAINER:
        return None
    sleepless = framework is not None and planned_family(framework) in SLEEPLESS
    level = generation.sleep_level if generation.sleep_level is not None else 0 if sleepless else 2
    return EngineMemory(level, generation.memory_share)


def engine_bytes(objective: MethodSettings, framework: str | None, *, device_gib: float | None) -> EngineBytes:
    """Return the bytes that an engine uses on a device of `device_gib`, in both phases of a step.

    Asleep, it keeps 2 GiB. Awake, it has its share of the memory; an engine that never sleeps has it while the device
    trains, too. An engine that sleeps and has no stated share uses the memory that training leaves free.
    """
    engine = engine_memory(objective.generation, framework)
    if engine is None:
        return EngineBytes()
    asleep = ENGINE_GIB * GIB
    share = SLEEPLESS_SHARE if engine.share is None and not engine.sleeps else engine.share
    if share is None or device_gib is None:
        return EngineBytes(training=asleep)
    reserved = share * device_gib * GIB
    return EngineBytes(training=asleep if engine.sleeps else reserved, generating=reserved)
