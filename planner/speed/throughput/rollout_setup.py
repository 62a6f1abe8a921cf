"""Training on its own completions, in the terms of generation: work of a step, groups of devices, memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.network.training_method import Engine, Generation, MethodSettings
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.training_setup import TrainingSetup
from planner.speed.generation.engine import GIB, EngineCopy, EngineDevice, engine_device
from planner.speed.generation.rollouts import CompletionLengths, Rollouts
from planner.speed.memory.device_memory import ENGINE_GIB, SLEEPLESS_SHARE, EngineMemory, engine_memory
from planner.speed.memory.planned_settings import planned_trainer_memory
from planner.speed.memory.states import States, device_states

USABLE = 0.9
"""Largest share of a device's memory for an engine: the default of vLLM's gpu_memory_utilization."""
LEAST_CACHE = 0.1
"""Least share of a device's memory for the cache of an engine that never sleeps, even with weights that need more."""
WIDEST = 8
"""Most devices over which a copy is divided unless the plan states it: those of a common machine."""


@dataclass(frozen=True)
class RolloutQuestion:
    """Step with rollouts: its work, and the devices that generate and train."""

    job: Job
    """Job whose samples are prompts."""
    objective: MethodSettings
    generation: Generation
    rollouts: Rollouts
    device: EngineDevice
    trainers: Candidate
    """Devices that train."""
    generating_devices: int
    """Separate devices that generate; 0 if the devices that train also generate."""

    @property
    def engine_devices(self) -> int:
        """Number of devices that generate."""
        return self.generating_devices or self.trainers.accelerators

    @property
    def trained_setup(self) -> TrainingSetup:
        """Setup of the step's training passes: all completions, each with its prompt."""
        return replace(self.job.setup, global_batch=self.rollouts.sequences)

    @property
    def resident(self) -> States:
        """Bytes of the training's states on each device."""
        setup = replace(
            self.job.setup, strategy=self.trainers.strategy, split=self.trainers.split, objective=self.objective
        )
        trainer = planned_trainer_memory(setup.settings, setup.framework)
        return device_states(setup, devices=self.trainers.accelerators, trainer=trainer)

    @property
    def resident_bytes(self) -> float:
        """Bytes of training that stay on a device while it generates: weights and moments, no gradients."""
        return 0.0 if self.generating_devices else self.resident.weights + self.resident.moments

    def copy(self, tensor: int) -> EngineCopy:
        """Return one copy of the network over `tensor` devices."""
        network = self.job.setup.network
        assert network is not None, "the caller checks it"
        assert network.sample == "tokens", "the caller checks it"
        return EngineCopy(network, self.device, tensor=tensor)

    @property
    def engine_memory(self) -> EngineMemory | None:
        """Engine's use of the devices that train; None if it has its own devices or the trainer generates."""
        return engine_memory(self.generation, self.job.setup.framework)

    def free_bytes(self, copy: EngineCopy, *, offloaded: bool) -> float:
        """Return the bytes of a device's memory that are free for the cache.

        free = min(memory x 0.9 - training states, memory that the engine reserves) - 2 GiB of the engine - its weights

        Training states count 0 if they are `offloaded` to the host during generation. By default an engine that never
        sleeps reserves three tenths of the memory, or its weights plus a tenth if they need more. If the trainer
        generates, it uses the training's weights.
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
        """Numbers of devices over which a copy may be divided."""
        if self.generation.tensor != "auto":
            return (self.generation.tensor,)
        widest = min(WIDEST, self.trainers.accelerators_per_node, self.engine_devices)
        found = tuple(2**power for power in range(4) if 2**power <= widest and self.engine_devices % 2**power == 0)
        return (1,) if self.generation.engine is Engine.TRAINER else found


def rollout_question(job: Job, candidate: Candidate) -> RolloutQuestion | Reason:
    """Return a step with rollouts on a candidate, or the reason why it cannot be estimated."""
    objective, setup = job.setup.objective.with_rollouts(), job.setup
    generation, lengths = objective.generation, objective.completion_tokens
    assert generation is not None, "with_rollouts sets it"
    assert lengths is not None, "the job's samples are counted with it"
    assert objective.prompts is not None, "with_rollouts sets it"
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
    trainers = _training_devices(candidate, others)
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


def _training_devices(candidate: Candidate, generating: int) -> Candidate | None:
    """Return the devices that remain for training: whole nodes, or equal parts of nodes; None if there are neither."""
    if generating == 0:
        return candidate
    remaining = candidate.accelerators - generating
    if remaining < 1:
        return None
    if candidate.nodes > 1 and remaining % candidate.accelerators_per_node == 0:
        return replace(candidate, nodes=remaining // candidate.accelerators_per_node)
    if remaining % candidate.nodes == 0:
        return replace(candidate, accelerators_per_node=remaining // candidate.nodes)
    return None
