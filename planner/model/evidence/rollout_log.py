"""Figures in a trainer's log about the steps of a training on its own completions: phases, lengths, divergence."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Fraction, Frozen, NonNegative, Positive


class RolloutLog(Frozen):
    """Means over the steps of a log that state them; null if none does."""

    step_seconds: Positive | None = None
    """Seconds of a whole step, as the trainer times it."""
    phase_seconds: dict[str, NonNegative] = Field(default_factory=dict)
    """Seconds of a step by phase: generation, reward, old_policy, reference, values, training, critic, weights."""
    prompt_tokens: Positive | None = None
    """Mean tokens of a prompt."""
    completion_tokens: Positive | None = None
    """Mean tokens of a completion."""
    longest_completion: Positive | None = None
    """Longest completion of a step."""
    stopped_share: Fraction | None = None
    """Share of the completions that reached the limit."""
    divergence: Annotated[float, Field(strict=True)] | None = None
    """Divergence from the reference, as the trainer writes it (KL)."""
