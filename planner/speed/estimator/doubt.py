"""What makes a range wide beside the expected error: what is left open, and how near the evidence is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from planner.speed.physics.observation import of_each

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Labels

LEFT_OPEN = 0.0, 0.2, 0.6
LEFT_OPEN_WITH_OWN_RUNS = 0.0, 0.0, 0.35
"""ln of how many times wider a range is by what its source leaves open: nothing, what is usual, what decides."""
NEAR = 0.2
"""ln of how many times narrower with every doubling of 1 + the sources near."""
USUAL, SHARE_OF_EXPECTED = 0.3, 0.2
"""Sources miss by more or less for reasons that the parts of a step hardly tell: of the logarithm of the expected error
against a usual one, so much shows in their 90th percentile. All four are the most likely (quantile regression, sources
weighing alike) for errors of the half of the sources that is not set aside, rounded."""
GRID = 0.25
"""Settings of evidence are kept in steps of so much of the distance after which they say little of each other."""

Points = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""Chip, framework, source: the settings of its measurements, in steps of the grid, with spaces between them."""


def doubt(expected: Array, labels: Sequence[Labels], near: Array) -> Array:
    """Return what a range without own runs is wide by.

    usual x (expected / usual)^0.2 x e^(0, 0.2 or 0.6 by what is left open) / (1 + sources near)^(0.2 / ln 2)
    """
    import numpy as np

    wider = of_each(labels, lambda label: LEFT_OPEN[label.left_open])
    return np.asarray(USUAL * (expected / USUAL) ** SHARE_OF_EXPECTED * np.exp(wider - NEAR * np.log2(1 + near)))


def doubt_with_own_runs(expected: Array, labels: Sequence[Labels]) -> Array:
    """Return what a range is wide by where runs of the same machine correct it: what they leave of the expected."""
    import numpy as np

    return np.asarray(expected * np.exp(of_each(labels, lambda label: LEFT_OPEN_WITH_OWN_RUNS[label.left_open])))


def points_of(labels: Sequence[Labels], features: Array) -> dict[str, dict[str, dict[str, tuple[str, ...]]]]:
    """Return where measurements lie, by chip, framework and source, each place once."""
    import numpy as np

    places: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
    for label, row in zip(labels, np.rint(features / GRID).astype(int), strict=True):
        places.setdefault((label.chip, label.framework, label.source), set()).add(tuple(row.tolist()))
    points: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
    for (chip, framework, source), found in sorted(places.items()):
        points.setdefault(chip, {}).setdefault(framework, {})[source] = tuple(
            " ".join(map(str, place)) for place in sorted(found)
        )
    return points


def sources_near(labels: Sequence[Labels], features: Array, points: Points) -> Array:
    """Return how many sources measured the same chip with the same framework near these settings.

    sum over sources of exp(-distance^2 / 2) to the nearest of its measurements; none of the label's own source counts.
    """
    import numpy as np

    near = np.zeros(len(labels))
    asked: dict[tuple[str, str, str], list[int]] = {}
    for place, label in enumerate(labels):
        asked.setdefault((label.chip, label.framework, label.source), []).append(place)
    for (chip, framework, own), places in asked.items():
        here = features[places]
        for source, settings in points.get(chip, {}).get(framework, {}).items():
            if source != own:
                there = _places(settings)
                square = (here**2).sum(axis=1)[:, None] + (there**2).sum(axis=1) - 2 * here @ there.T
                near[places] += np.exp(-0.5 * np.maximum(0.0, square.min(axis=1)))
    return near


@lru_cache(maxsize=10_000)
def _places(settings: tuple[str, ...]) -> Array:
    import numpy as np

    return GRID * np.array([setting.split() for setting in settings], dtype=float)
