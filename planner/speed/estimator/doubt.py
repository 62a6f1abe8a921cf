"""Width of a range: the expected error, widened by open settings and narrowed by nearby evidence."""

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
"""ln of the factor that widens a range, by what its source leaves open: nothing, usual settings, decisive settings."""
NEARBY_GAIN = 0.2
"""ln of the factor that narrows a range with every doubling of 1 + nearby sources."""
USUAL, SHARE_OF_EXPECTED = 0.3, 0.2
"""Usual expected error, and the exponent of the expected error relative to it.

The exponent is below 1 because the parts of a step explain little of how far sources miss. These two, `LEFT_OPEN` and
`NEARBY_GAIN` are the rounded results of a quantile regression (90th percentile, sources weighing alike) over the half
of the sources that is not set aside."""
GRID = 0.25
"""Grid on which measured settings are stored, in units of the distance at which settings stop informing each other."""

Points = Mapping[str, Mapping[str, Mapping[str, tuple[str, ...]]]]
"""Measured settings by chip, framework and source, each as grid steps separated by spaces."""


def doubt(expected: Array, labels: Sequence[Labels], nearby_sources: Array) -> Array:
    """Return the doubt of predictions without own runs. Ranges are proportional to it.

    usual x (expected / usual)^0.2 x e^(0, 0.2 or 0.6 by open settings) / (1 + nearby sources)^(0.2 / ln 2)
    """
    import numpy as np

    widening = of_each(labels, lambda label: LEFT_OPEN[label.left_open])
    narrowing = NEARBY_GAIN * np.log2(1 + nearby_sources)
    return np.asarray(USUAL * (expected / USUAL) ** SHARE_OF_EXPECTED * np.exp(widening - narrowing))


def doubt_with_own_runs(expected: Array, labels: Sequence[Labels]) -> Array:
    """Return the doubt of predictions that runs of the same machine correct, from their remaining expected error."""
    import numpy as np

    return np.asarray(expected * np.exp(of_each(labels, lambda label: LEFT_OPEN_WITH_OWN_RUNS[label.left_open])))


def points_of(labels: Sequence[Labels], features: Array) -> dict[str, dict[str, dict[str, tuple[str, ...]]]]:
    """Return the settings of measurements by chip, framework and source, without repetitions."""
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


def count_nearby_sources(labels: Sequence[Labels], features: Array, points: Points) -> Array:
    """Return the number of sources that measured the same chip with the same framework at nearby settings.

    Each source counts exp(-distance^2 / 2) for its nearest measurement. A label's own source does not count.
    """
    import numpy as np

    nearby = np.zeros(len(labels))
    asked: dict[tuple[str, str, str], list[int]] = {}
    for place, label in enumerate(labels):
        asked.setdefault((label.chip, label.framework, label.source), []).append(place)
    for (chip, framework, own), places in asked.items():
        here = features[places]
        for source, settings in points.get(chip, {}).get(framework, {}).items():
            if source != own:
                setting_places = _places(settings)
                square = (here**2).sum(axis=1)[:, None] + (setting_places**2).sum(axis=1) - 2 * here @ setting_places.T
                nearby[places] += np.exp(-0.5 * np.maximum(0.0, square.min(axis=1)))
    return nearby


@lru_cache(maxsize=10_000)
def _places(settings: tuple[str, ...]) -> Array:
    import numpy as np

    return GRID * np.array([setting.split() for setting in settings], dtype=float)
