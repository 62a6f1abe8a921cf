"""A measurement in the physics' terms, the labels that it shares with others, and the refusal of one that has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Labels:
    """What a measurement shares with others: the levels on which evidence is pooled."""

    accelerator: str
    generation: str
    framework: str
    source: str
    workload: str


def of_each(labels: Sequence[Labels], value: Callable[[Labels], float]) -> NDArray[Any]:
    """Return a value of each of many labels; one that stands there often is asked once."""
    import numpy as np

    known: dict[int, float] = {}
    found = np.empty(len(labels))
    for place, label in enumerate(labels):
        key = id(label)
        if key not in known:
            known[key] = value(label)
        found[place] = known[key]
    return found


@dataclass(frozen=True)
class Observation:
    """A measurement in the physics' terms: numbers for `Configs`, labels, and seconds of one step."""

    id: str
    config: dict[str, float]
    labels: Labels
    tokens_per_s_per_gpu: float
    unit_per_token: float
    """Multiplies tokens/s per GPU into the unit in which the row is scored."""
    teaches: bool = field(default=True, kw_only=True)
    """False of a weak row: it is predicted, and no prediction is learnt from it."""


@dataclass(frozen=True)
class Refusal:
    """Why a measurement cannot be predicted; `reason` is counted, `detail` is for the reader."""

    id: str
    reason: str
    detail: str = ""
