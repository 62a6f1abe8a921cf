"""Machines that people have and that are not modelled: what they are, and the nearest modelled one."""

from __future__ import annotations

import re

_NOT_MODELLED = (
    (re.compile(r"\b(?:i?mac|macbook|mac (?:studio|mini|pro)|apple|m[1-5](?: ?(?:pro|max|ultra))?)\b", re.IGNORECASE),
     "trainings on Apple's chips are not modelled, and no card is like them"),
    (re.compile(r"\b(?:groq|cerebras|wse|graphcore|ipu|sambanova|tenstorrent)\b", re.IGNORECASE),
     "trainings on this maker's chips are not modelled, and no card is like them"),
    (re.compile(r"\b(?:jetson|orin|iris|uhd|radeon graphics|ryzen ai)\b", re.IGNORECASE),
     "trainings on chips that share the host's memory are not modelled, and no card is like them"),
)  # fmt: skip


def not_modelled(name: str) -> str | None:
    """Return why a machine is not modelled, as half a sentence; None if no reason is known."""
    words = re.sub(r"[-_/]+", " ", name)
    return next((reason for pattern, reason in _NOT_MODELLED if pattern.search(words)), None)
