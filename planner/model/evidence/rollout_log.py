"""What a trainer's log says of the steps of a training on its own completions: phases, lengths, divergence."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Fraction, Frozen, NonNegative, Positive


class RolloutLog(Frozen):
    """Means over the steps of a log that state them; null where none does."""

    step_seconds: Positive | None = None
    """Of a whole step, as the trainer times it."""
    phase_seconds: dict[str, NonNegative] = Field(default_factory=dict)
    """Of a step, by phase: generation, reward, old_policy, reference, values, training, critic, weights."""
    prompt_tokens: Positive | None = None
    """Mean of a prompt."""
    completion_tokens: Positive | None = None
    """Mean of a completion."""
    longest_completion: Positive | None = None
    """The longest of a step."""
    stopped_share: Fraction | None = None
    """Of the completions that reached the limit."""
    divergence: Annotated[float, Field(strict=True)] | None = None
    """From the reference, as the trainer writes it (KL)."""
