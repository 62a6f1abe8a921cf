"""Origin of a run that was read from a trainer's log: the log's format and hash, and what was left out of it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from planner.model.base import Flag, Fraction, Frozen, Id, NonNegative, Positive, Text
from planner.model.evidence.rollout_log import RolloutLog

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
