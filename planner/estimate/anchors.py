"""Which measurements of a table play the user's own runs, when the planner is tested with anchors."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.estimate.observation import Observation


@dataclass(frozen=True)
class Cell:
    """Measurements of one source, accelerator and framework: some are known, the others are asked."""

    anchors: tuple[int, ...]
    asked: tuple[int, ...]


def choose_anchors(observations: Sequence[Observation], *, anchors: int) -> list[Cell]:
    """Divide observations into cells, and choose up to `anchors` of each, as if drawn by lot, the same each time.

    The lot is a digest of the configuration: neither of its result nor of its place in the table.
    """
    cells: dict[tuple[str, str, str], list[int]] = {}
    for place, one in enumerate(observations):
        cells.setdefault((one.labels.source, one.labels.accelerator, one.labels.framework), []).append(place)
    found = []
    for places in cells.values():
        drawn = sorted(places, key=lambda place: _lot(observations[place]))
        chosen = drawn[:anchors]
        found.append(Cell(tuple(chosen), tuple(place for place in places if place not in set(chosen))))
    return found


def _lot(observation: Observation) -> str:
    text = repr((sorted(observation.config.items()), observation.labels.workload))
    return hashlib.sha256(text.encode()).hexdigest()
