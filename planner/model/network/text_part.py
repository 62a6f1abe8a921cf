"""The text part of a network that has others beside it."""

from __future__ import annotations

from planner.model.base import Text
from planner.model.network.workload import ArchitectureFile


class TextPart(ArchitectureFile):
    """A network of text out of several in one; its name says which part is left out."""

    beside: Text
    """What is left out, in words: vision, sound."""
