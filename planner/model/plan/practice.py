"""Ways of running a training: at the speed of a benchmark, typical, or tuned."""

from __future__ import annotations

from enum import StrEnum


class Practice(StrEnum):
    """Difference between the steady steps of a benchmark and a whole training (docs/practice.md)."""

    BENCHMARK = "benchmark"
    """Steady steps of a tuned benchmark, and the stops that `goodput` counts."""
    TYPICAL = "typical"
    """Typical trainings: untuned stacks, restarts, data, evaluation, as whole trainings show."""
    TUNED = "tuned"
    """The faster quarter of whole trainings."""
