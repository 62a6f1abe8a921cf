"""Choice of anchors: measurements of a table that play the user's own runs when the planner is tested.

No choice depends on a result. Random anchors stand for runs that a user happens to have, and the most informative ones
for runs that a user makes to learn the most. Accuracy with known runs is scored on the latter; ranges cover both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from planner.speed.estimator.expected_error import NOISE
from planner.speed.estimator.own_runs import covariance, update
from planner.speed.physics.observation import digest_items

if TYPE_CHECKING:
    from planner.speed.estimator.own_runs import UpdatePoints
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation


@dataclass(frozen=True)
class Cell:
    """Places of measurements of one source, accelerator and framework: known ones and those to predict."""

    anchors: tuple[int, ...]
    asked: tuple[int, ...]


def draw_anchors(observations: Sequence[Observation], *, anchors: int) -> list[Cell]:
    """Divide observations into cells and draw up to `anchors` of each at random, but reproducibly.

    The order is that of a digest of the configuration, independent of results and of the order of the table.
    """
    return _divide(observations, lambda places: places[:anchors])


def errors_with_anchors(
    place: UpdatePoints, errors: Array, cells: Sequence[Cell]
) -> Iterator[tuple[Array, Array, Array]]:
    """Correct the errors of each cell by its anchors. Yield places, remaining errors and remaining expected errors."""
    import numpy as np

    for cell in cells:
        asked, known = np.array(cell.asked, dtype=int), np.array(cell.anchors, dtype=int)
        if len(asked) and len(known):
            posterior = update(place.at(asked), place.at(known), errors[known])
            yield asked, errors[asked] - posterior.shift, place.expected[asked] * posterior.left


def informative_anchors(
    observations: Sequence[Observation], place: Callable[[Sequence[Observation]], UpdatePoints], *, anchors: int
) -> list[Cell]:
    """Divide observations into cells and choose up to `anchors` of each, the most informative ones.

    `place` returns the points of observations that the update by own runs needs.
    """
    if not anchors:
        return [Cell((), tuple(range(len(observations))))]

    def choose(numbers: list[int]) -> list[int]:
        if len(numbers) <= anchors:
            return numbers
        best = most_informative(place([observations[number] for number in numbers]), runs=anchors)
        return [numbers[position] for position in best]

    return _divide(observations, choose)


def part_of(place: UpdatePoints, rows: Sequence[Observation]) -> Callable[[Sequence[Observation]], UpdatePoints]:
    """Return a function that maps some of the rows to their points within `place`, the points of all rows."""
    import numpy as np

    numbers = {id(row): number for number, row in enumerate(rows)}
    return lambda chosen: place.at(np.array([numbers[id(row)] for row in chosen], dtype=int))


def most_informative(place: UpdatePoints, *, runs: int) -> list[int]:
    """Choose runs one after another, each of which leaves the smallest variance of all others.

    gain of run j = sum over the others i of C_ij^2 / (C_jj + noise^2), where C is the covariance of their errors given
    the runs chosen before. Of equal gains, the first wins.
    Source: greedy A-optimal design; Rasmussen and Williams 2006, section 2.2, for C given a run.
    """
    import numpy as np

    remaining = covariance(place, place)
    chosen: list[int] = []
    for _ in range(min(runs, len(remaining))):
        variance = np.diag(remaining)
        gain = ((remaining**2).sum(axis=0) - variance**2) / (variance + NOISE**2)
        gain[chosen] = -1.0
        best = int(np.argmax(np.round(gain, 9)))
        chosen.append(best)
        remaining = remaining - np.outer(remaining[:, best], remaining[best]) / (remaining[best, best] + NOISE**2)
    return chosen


def _divide(observations: Sequence[Observation], choose: Callable[[list[int]], list[int]]) -> list[Cell]:
    groups: dict[tuple[str, str, str], list[int]] = {}
    for number, observation in enumerate(observations):
        labels = observation.labels
        groups.setdefault((labels.source, labels.accelerator, labels.framework), []).append(number)
    cells = []
    for numbers in groups.values():
        chosen = choose(sorted(numbers, key=lambda number: _random_key(observations[number])))
        known = {_configuration(observations[number]) for number in chosen}
        asked = (number for number in numbers if _configuration(observations[number]) not in known)
        cells.append(Cell(tuple(chosen), tuple(asked)))
    return cells


def _configuration(observation: Observation) -> str:
    """Return a key that repeats of one run share, so that a known run and its repeats are not predicted."""
    return repr((digest_items(observation.config), observation.labels.workload))


def _random_key(observation: Observation) -> str:
    return hashlib.sha256(_configuration(observation).encode()).hexdigest()
