"""What an engine that generates completions keeps on the devices that train."""

from __future__ import annotations

from planner.model.network.training_method import Engine, MethodSettings
from planner.speed.memory.fullest_moment import GIB

ENGINE_GIB = 2.0
"""Besides weights and cache, also while it sleeps: context, CUDA graphs, buffers. Assumed."""


def sleeping_engine_bytes(objective: MethodSettings) -> float:
    """Return the bytes of an engine that sleeps while its devices train; 0 where it has its own, or there is none.

    Its weights are discarded (vLLM's sleep level 2), as every step brings new ones.
    """
    generation = objective.generation
    if generation is None or generation.devices != "colocated" or generation.engine is Engine.TRAINER:
        return 0.0
    return ENGINE_GIB * GIB
