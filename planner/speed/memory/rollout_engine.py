"""Memory that a generation engine uses on the devices that train."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.training_method import Engine, Generation, MethodSettings
from planner.scenario.frameworks import framework_family, planned_family
from planner.speed.memory.fullest_moment import GIB

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
