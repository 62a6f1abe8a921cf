"""Where a run that was read from a trainer's log comes from: the log's format and hash, and what was left out of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Flag, Fraction, Frozen, Id, NonNegative, Positive, Text
from planner.model.evidence.rollout_log import RolloutLog

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ImportedLog(Frozen):
    """The log of a run; nothing of its text is kept."""

    format: Id
    """Format of the log."""
    framework: Text | None
    """As a plan names it (`training.framework`)."""
    sha256: Annotated[tuple[Sha256, ...], Field(min_length=1)]
    """Of each file that it was read from."""
    counted_steps: Positive
    """Optimizer steps that the speed is taken from."""
    counted_seconds: Positive | None
    """Null: the log holds rates alone."""
    dropped_seconds: dict[str, NonNegative] = Field(default_factory=dict)
    """Left out, by what went on then."""
    uneven_share: Fraction | None = None
    """Of the counted seconds beyond the median step: waiting now and then, as for data."""
    drift: Positive | None = None
    """Seconds of a step in the last third of the steps over those in the first; null: they do not differ."""
    filled_share: Fraction | None = None
    """Of the tokens that were computed those that are no padding, where the log counts them."""
    padded: Flag | None = None
    """Samples may be shorter than seq_len, and padding counts as work; null: not known."""
    planned_samples: Positive | None = None
    """Of the whole training, all epochs, where the log states it; it may hold a part of them."""
    rollouts: RolloutLog | None = None
    """Phases and lengths of a training on its own completions."""
