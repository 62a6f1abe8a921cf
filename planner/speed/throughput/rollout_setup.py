"""A training on its own completions in the terms of generation: work of a step, groups of devices, memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.network.training_method import Engine, Generation, MethodSettings
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.training_setup import TrainingSetup
from planner.speed.generation.engine import GIB, EngineCopy, EngineDevice, engine_device
from planner.speed.generation.lengths import CompletionLengths
from planner.speed.generation.rollouts import Rollouts
from planner.speed.memory.planned_settings import planned_trainer_memory
from planner.speed.memory.rollout_engine import ENGINE_GIB, SLEEPLESS_SHARE, EngineMemory, engine_memory
from planner.speed.memory.states import States, device_states

USABLE = 0.9
"""Of a device's memory that an engine takes at most: the default of vLLM's gpu_memory_utilization."""
LEAST_CACHE = 0.1
"""Of a device's memory, for the cache of an engine that never sleeps, where its weights fill its usual share."""
WIDEST = 8
"""Devices over which a copy is divided where the plan leaves it open: those of a usual machine."""


@dataclass(frozen=True)
class RolloutQuestion:
    """What a step generates and trains on, and where."""

    job: Job
    """Its samples are prompts."""
    objective: MethodSettings
    generation: Generation
    rollouts: Rollouts
    device: EngineDevice
    trainers: Candidate
    """The devices that train."""
    generating_devices: int
    """Others that generate; 0: those that train do."""

    @property
    def engine_devices(self) -> int:
        """How many devices generate."""
        return self.generating_devices or self.trainers.accelerators

    @property
    def trained_setup(self) -> TrainingSetup:
        """The training passes of a step: all completions, each with its prompt."""
        return replace(self.job.setup, global_batch=self.rollouts.sequences)

    @property
    def resident(self) -> States:
        """Bytes of the training's states on each device."""
        setup = self.job.setup
        assert setup.network is not None, "asked before"
        return device_states(
            setup.network, strategy=self.trainers.strategy, devices=self.trainers.accelerators,
            precision=setup.precision or Precision.BF16, adapters=setup.adapters,
            trainer=planned_trainer_memory(setup.settings, setup.framework), split=self.trainers.split,
            objective=self.objective,
        )  # fmt: skip

    @property
    def resident_bytes(self) -> float:
        """Bytes that the training leaves on a device while it generates: weights and moments, no gradients."""
        return 0.0 if self.generating_devices else self.resident.weights + self.resident.moments

    def copy(self, tensor: int) -> EngineCopy:
        """Return one copy of the network over so many devices."""
        network = self.job.setup.network
        assert network is not None, "asked before"
        assert network.sample == "tokens", "asked before"
        return EngineCopy(network, self.device, tensor=tensor)

    @property
    def engine_memory(self) -> EngineMemory | None:
        """What the engine does on the devices that train; None where it has its own, or the trainer generates."""
        return engine_memory(self.generation, self.job.setup.framework)

    def free_bytes(self, copy: EngineCopy, *, offloaded: bool) -> float:
        """Return what is left on a device for the cache.

        memory x 0.9 - what the training leaves there, unless that is `offloaded` to the host meanwhile, and at most
        what the engine reserves; less 2 GiB of the engine and its weights. An engine that never sleeps reserves, where
        nothing is stated, three tenths of the memory, or a tenth beside weights that need more. The trainer's own
        generation uses the weights that are there.
        """
        weights = copy.weights if self.generating_devices or self.generation.engine is not Engine.TRAINER else 0.0
        usable = self.device.memory * USABLE - (0.0 if offloaded else self.resident_bytes)
        own = ENGINE_GIB * GIB + weights
        share, reserved = self.generation.memory_share, usable
        if share is not None:
            reserved = self.device.memory * share
        elif self.engine_memory is not None and not self.engine_memory.sleeps:
            reserved = self.device.memory * max(SLEEPLESS_SHARE, own / self.device.memory + LEAST_CACHE)
        return min(usable, reserved) - own

    @property
    def tensors(self) -> tuple[int, ...]:
        """Over how many devices a copy may be divided."""
        if self.generation.tensor != "auto":
            return (self.generation.tensor,)
        widest = min(WIDEST, self.trainers.accelerators_per_node, self.engine_devices)
        found = tuple(2**power for power in range(4) if 2**power <= widest and self.engine_devices % 2**power == 0)
        return (1,) if self.generation.engine is Engine.TRAINER else found


def rollout_question(job: Job, candidate: Candidate) -> RolloutQuestion | Reason:
    """Return a step with rollouts on a candidate, or why its devices cannot be divided so or nothing is known."""
    objective, setup = job.setup.objective.with_rollouts(), job.setup
    generation, lengths = objective.generation, objective.completion_tokens
    assert generation is not None, "with_rollouts states it"
    assert lengths is not None, "samples are counted by it"
    assert objective.prompts is not None, "with_rollouts states them"
    assert setup.seq_len is not None
    prompt = max(1.0, setup.timed_tokens - lengths.mean)
    most = float(lengths.most or max(lengths.mean, setup.seq_len - prompt))
    device = engine_device(candidate.accelerator)
    if device is None:
        text = f"bandwidth, peak or memory of {candidate.accelerator.id} is not known, so no generation is estimated"
        return Reason(code=ReasonCode.HARDWARE_NOT_KNOWN, text=text)
    if candidate.accelerators_per_node == 1 and candidate.nodes > 1 and candidate.node.network_gbit_per_s:
        device = replace(device, link=candidate.node.network_gbit_per_s / 8 * 1e9)
    others = 0 if generation.devices == "colocated" else generation.devices
    trainers = _without(candidate, others)
    if trainers is None:
        text = f"{others} of {candidate.accelerators} devices that generate leave no whole group that trains"
        return Reason(code=ReasonCode.SPLIT_NOT_POSSIBLE, text=text)
    tensor = generation.tensor
    if tensor != "auto" and (others or candidate.accelerators) % tensor:
        text = f"{others or candidate.accelerators} devices that generate do not divide into copies over {tensor}"
        return Reason(code=ReasonCode.SPLIT_NOT_POSSIBLE, text=text)
    return RolloutQuestion(
        job=job,
        objective=objective,
        generation=generation,
        rollouts=Rollouts(objective.prompts, objective.group or 1, prompt, CompletionLengths(lengths.mean, most)),
        device=device,
        trainers=trainers,
        generating_devices=others,
    )


def _without(candidate: Candidate, others: int) -> Candidate | None:
    """Return the devices that are left to train: whole nodes, or a part of one node; None where there are none."""
    if others == 0:
        return candidate
    left = candidate.accelerators - others
    if left < 1:
        return None
    if candidate.nodes == 1:
        return replace(candidate, accelerators_per_node=left)
    if left % candidate.accelerators_per_node == 0:
        return replace(candidate, nodes=left // candidate.accelerators_per_node)
    return replace(candidate, accelerators_per_node=left // candidate.nodes) if left % candidate.nodes == 0 else None
