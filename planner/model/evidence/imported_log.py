"""Origin of a run that was read from a trainer's log: format, hash, what was left out, and phases of rollouts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Flag, Fraction, Frozen, Id, NonNegative, Positive, Text


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


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ImportedLog(Frozen):
    """Log of a run. Nothing of its text is stored."""

    format: Id
    """Format of the log."""
    framework: Text | None
    """Framework as a plan names it (`training.framework`)."""
    sha256: Annotated[tuple[Sha256, ...], Field(min_length=1)]
    """Hash of each file that it was read from."""
    counted_steps: Positive
    """Optimizer steps behind the speed."""
    counted_seconds: Positive | None
    """Seconds behind the speed; null if the log has only rates."""
    dropped_seconds: dict[str, NonNegative] = Field(default_factory=dict)
    """Seconds that were left out, by cause."""
    uneven_share: Fraction | None = None
    """Share of the counted seconds beyond the median step: occasional waiting, as for data."""
    drift: Positive | None = None
    """Seconds of a step in the last third of the steps over those in the first; null if they do not differ."""
    filled_share: Fraction | None = None
    """Share of the computed tokens that are not padding, if the log counts them."""
    padded: Flag | None = None
    """True if samples may be shorter than seq_len, and padding counts as work; null if unknown."""
    planned_samples: Positive | None = None
    """Samples of the whole training, over all epochs, if the log states them. The log may cover a part of them."""
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions."""
