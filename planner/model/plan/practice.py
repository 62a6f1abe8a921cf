"""How a training is run: at the speed of a benchmark, as people usually get it, or tuned."""

from __future__ import annotations

from enum import StrEnum


class Practice(StrEnum):
    """What lies between the steady steps of a benchmark and a whole training (docs/practice.md)."""

    BENCHMARK = "benchmark"
    """Steady steps of a tuned benchmark, and the stops that `goodput` counts."""
    TYPICAL = "typical"
    """As people get it: untuned stacks, restarts, data, evaluation, as whole trainings show."""
    TUNED = "tuned"
    """As the faster quarter of whole trainings gets it."""
