"""Text part of a network that has other parts."""

from __future__ import annotations

from planner.model.base import Text
from planner.model.network.workload import ArchitectureFile


class TextPart(ArchitectureFile):
    """A text network that is part of several. Its name says which part is left out."""

    beside: Text
    """Parts that are left out, in words: vision, sound."""
