"""What an engine that generates completions keeps on the devices that train."""

from __future__ import annotations

from typing import NamedTuple

from planner.model.network.training_method import Engine, Generation, MethodSettings
from planner.scenario.frameworks import framework_family, planned_family
from planner.speed.memory.fullest_moment import GIB

ENGINE_GIB = 2.0
"""Besides weights and cache, also while it sleeps: context, CUDA graphs, buffers. Assumed."""


SLEEPLESS = (framework_family("HF Trainer"),)
"""Trainers whose engine keeps its memory while they train. Source: the defaults of TRL's `vllm_enable_sleep_mode`
(false) and of ms-swift's `sleep_level` (0)."""
SLEEPLESS_SHARE = 0.3
"""Of a device that such an engine reserves where nothing is stated: TRL's `vllm_gpu_memory_utilization`."""


class EngineMemory(NamedTuple):
    """What an engine takes of the devices that train."""

    sleep_level: int
    share: float | None
    """Of the device's memory that it reserves; None: not stated."""

    @property
    def sleeps(self) -> bool:
        """Whether it gives its memory back while its devices train."""
        return self.sleep_level > 0


class EngineBytes(NamedTuple):
    """Bytes on each device."""

    training: float = 0.0
    """While the devices train."""
    generating: float = 0.0
    """While they generate; 0 where the engine takes what is left."""


def engine_memory(generation: Generation | None, framework: str | None) -> EngineMemory | None:
    """Return what the engine does on the devices that train; None where it has its own, or there is none."""
    if generation is None or generation.devices != "colocated" or generation.engine is Engine.TRAINER:
        return None
    sleepless = framework is not None and planned_family(framework) in SLEEPLESS
    level = generation.sleep_level if generation.sleep_level is not None else 0 if sleepless else 2
    return EngineMemory(level, generation.memory_share)


def engine_bytes(objective: MethodSettings, framework: str | None, *, device_gib: float | None) -> EngineBytes:
    """Return the bytes that an engine takes of a device of `device_gib`, in both phases of a step.

    Asleep it keeps 2 GiB. Awake it has its share, also while the devices train where it never sleeps. Without a stated
    share one that sleeps takes what is left.
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
