"""Results of fitting the estimator to published measurements: `catalogs/evidence/calibration.json`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Literal

from pydantic import Field

from planner.model.base import Frozen, Text


class Seen(Frozen):
    """Amount of evidence for a label."""

    rows: int
    sources: int
    largest: int
    """Largest number of accelerators that worked together in it."""


class Spread(Frozen):
    """Width of a group's ranges, in units of their uncertainty, from held-out sources of which each counts once."""

    rows: int
    times_80: float
    times_90: float


class Calibration(Frozen):
    """Constants of the physics, effects of labels, and the widths of ranges, with their origin."""

    schema_version: Literal[1] = 1
    kind: Literal["calibration"] = "calibration"
    made_on: date
    method: Text
    """Version of the code that made it. A change of the physics or of the fit raises it."""
    rows: int
    rows_sha256: Text
    constants: dict[str, float]
    effects: dict[str, dict[str, float]]
    seen: Mapping[str, Mapping[str, Seen]]
    largest: int
    spreads: dict[str, Spread]
    points: Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]] = Field(default_factory=dict)
    """Settings that were measured, by chip, framework and source, on a grid (`planner/speed/estimator/doubt.py`)."""

    def __hash__(self) -> int:
        """Return a hash of its identifying fields, so that answers can be cached.

        Two are equal only if all fields are.
        """
        return hash((self.made_on, self.method, self.rows, self.rows_sha256))
