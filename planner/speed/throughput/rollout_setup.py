"""Set-up of a training on its own completions: work of a step, devices that generate and train, memory."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.network.training_method import Engine, Generation, MethodSettings
from planner.model.network.workload import Precision
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.training_setup import TrainingSetup
from planner.speed.generation.engine import GIB, EngineCopy, EngineDevice, engine_device
from planner.speed.generation.rollouts import CompletionLengths, Rollouts
from planner.speed.memory.device_memory import ENGINE_GIB, SLEEPLESS_SHARE, EngineMemory, engine_memory
from planner.speed.memory.planned_settings import planned_trainer_memory
from planner.speed.memory.states import States, device_states

USABLE_SHARE = 0.9
"""Largest share of a device's memory for an engine: the default of vLLM's gpu_memory_utilization."""
LEAST_CACHE_SHARE = 0.1
"""Share of a device's memory that an engine that never sleeps keeps for its cache, however large its weights are."""
MOST_DEVICES_OF_A_COPY = 8
"""Largest number of devices of a copy of the network, unless the plan states a number. Most machines have 8."""


@dataclass(frozen=True)
class RolloutQuestion:
    """One optimizer step with rollouts: its work, and the devices that generate and train."""

    job: Job
    """Job whose samples are prompts."""
    objective: MethodSettings
    generation: Generation
    rollouts: Rollouts
    device: EngineDevice
    trainers: Candidate
    """Devices that train."""
    generating_devices: int
    """Number of devices that only generate; 0 if the devices that train also generate."""

    @property
    def engine_devices(self) -> int:
        """Number of devices that generate."""
        return self.generating_devices or self.trainers.accelerators

    @property
    def training_setup(self) -> TrainingSetup:
        """Setup of the step's training passes: all completions, each with its prompt."""
        return replace(self.job.setup, global_batch=self.rollouts.sequences)

    @property
    def training_states(self) -> States:
        """Bytes of weights, gradients and optimizer states on each device that trains."""
        setup = self.job.setup
        assert setup.network is not None, "the caller checks it"
        return device_states(
            setup.network, strategy=self.trainers.strategy, devices=self.trainers.accelerators,
            precision=setup.precision or Precision.BF16, adapters=setup.adapters,
            trainer=planned_trainer_memory(setup.settings, setup.framework), split=self.trainers.split,
            objective=self.objective,
        )  # fmt: skip

    @property
    def resident_bytes(self) -> float:
        """Bytes of training that stay on a device while it generates: weights and moments, no gradients."""
        return 0.0 if self.generating_devices else self.training_states.weights + self.training_states.moments

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
        """Return the bytes of a device's memory that are free for the engine's cache.

        free = min(memory x 0.9 - training states, memory that the engine reserves) - 2 GiB for the engine - its weights

        Training states that are `offloaded` to the host during generation count 0. By default an engine that never
        sleeps reserves 30 % of the memory, or its weights plus 10 % if that is more. If the trainer generates, it needs
        no second copy of the weights.
        """
        weights = copy.weights if self.generating_devices or self.generation.engine is not Engine.TRAINER else 0.0
        available = self.device.memory * USABLE_SHARE - (0.0 if offloaded else self.resident_bytes)
        engine_bytes = ENGINE_GIB * GIB + weights
        share, reserved = self.generation.memory_share, available
        if share is not None:
            reserved = self.device.memory * share
        elif self.engine_memory is not None and not self.engine_memory.sleeps:
            reserved = self.device.memory * max(SLEEPLESS_SHARE, engine_bytes / self.device.memory + LEAST_CACHE_SHARE)
        return min(available, reserved) - engine_bytes

    @property
    def copy_sizes(self) -> tuple[int, ...]:
        """Possible numbers of devices for one copy of the network."""
        if self.generation.tensor != "auto":
            return (self.generation.tensor,)
        most = min(MOST_DEVICES_OF_A_COPY, self.trainers.accelerators_per_node, self.engine_devices)
        sizes = tuple(2**power for power in range(4) if 2**power <= most and self.engine_devices % 2**power == 0)
        return (1,) if self.generation.engine is Engine.TRAINER else sizes


def rollout_question(job: Job, candidate: Candidate) -> RolloutQuestion | Reason:
    """Return the question about a step with rollouts on a candidate, or the reason why there is no answer."""
    objective, setup = job.setup.objective.with_rollouts(), job.setup
    generation, lengths = objective.generation, objective.completion_tokens
    assert generation is not None, "with_rollouts sets it"
    assert lengths is not None, "the job's samples are counted with it"
    assert objective.prompts is not None, "with_rollouts sets it"
    assert setup.seq_len is not None
    prompt = max(1.0, setup.timed_tokens - lengths.mean)
    longest = float(lengths.most or max(lengths.mean, setup.seq_len - prompt))
    device = engine_device(candidate.accelerator)
    if device is None:
        text = f"bandwidth, peak or memory of {candidate.accelerator.id} is not known, so generation is not estimated"
        return Reason(code=ReasonCode.HARDWARE_NOT_KNOWN, text=text)
    if candidate.accelerators_per_node == 1 and candidate.nodes > 1 and candidate.node.network_gbit_per_s:
        device = replace(device, link=candidate.node.network_gbit_per_s / 8 * 1e9)
    generating = 0 if generation.devices == "colocated" else generation.devices
    trainers = _training_devices(candidate, generating)
    if trainers is None:
        text = f"{generating} of {candidate.accelerators} devices only generate; the rest cannot be divided evenly"
        return Reason(code=ReasonCode.SPLIT_NOT_POSSIBLE, text=text)
    tensor = generation.tensor
    if tensor != "auto" and (generating or candidate.accelerators) % tensor:
        text = f"{generating or candidate.accelerators} devices that generate do not divide into copies of {tensor}"
        return Reason(code=ReasonCode.SPLIT_NOT_POSSIBLE, text=text)
    return RolloutQuestion(
        job=job,
        objective=objective,
        generation=generation,
        rollouts=Rollouts(objective.prompts, objective.group or 1, prompt, CompletionLengths(lengths.mean, longest)),
        device=device,
        trainers=trainers,
        generating_devices=generating,
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
