"""Which measurements of a table play the user's own runs, when the planner is tested with anchors.

Neither choice sees a result. Runs drawn at random are what a user happens to have, the most informative ones what a
user measures to learn the most: accuracy with known runs is scored on the latter, and ranges are wide enough for both.
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
    """Measurements of one source, accelerator and framework: some are known, the others are asked."""

    anchors: tuple[int, ...]
    asked: tuple[int, ...]


def draw_anchors(observations: Sequence[Observation], *, anchors: int) -> list[Cell]:
    """Divide observations into cells, and draw up to `anchors` of each at random, the same each time.

    The order is that of a digest of the configuration: neither of its result nor of its place in the table.
    """
    return _divide(observations, lambda places: places[:anchors])


def errors_with_anchors(
    place: UpdatePoints, errors: Array, cells: Sequence[Cell]
) -> Iterator[tuple[Array, Array, Array]]:
    """Correct each cell's errors by those of its anchors: places asked, errors left, errors then expected."""
    import numpy as np

    for cell in cells:
        asked, known = np.array(cell.asked, dtype=int), np.array(cell.anchors, dtype=int)
        if len(asked) and len(known):
            posterior = update(place.at(asked), place.at(known), errors[known])
            yield asked, errors[asked] - posterior.shift, place.expected[asked] * posterior.left


def informative_anchors(
    observations: Sequence[Observation], place: Callable[[Sequence[Observation]], UpdatePoints], *, anchors: int
) -> list[Cell]:
    """Divide observations into cells, and choose up to `anchors` of each: the most informative of the others.

    `place` says of observations what the update by own runs needs of them.
    """
    if not anchors:
        return [Cell((), tuple(range(len(observations))))]

    def choose(places: list[int]) -> list[int]:
        if len(places) <= anchors:
            return places
        best = most_informative(place([observations[number] for number in places]), runs=anchors)
        return [places[number] for number in best]

    return _divide(observations, choose)


def part_of(place: UpdatePoints, rows: Sequence[Observation]) -> Callable[[Sequence[Observation]], UpdatePoints]:
    """Return what finds the place of some of the rows in that of all."""
    import numpy as np

    at = {id(row): number for number, row in enumerate(rows)}
    return lambda chosen: place.at(np.array([at[id(row)] for row in chosen], dtype=int))


def most_informative(place: UpdatePoints, *, runs: int) -> list[int]:
    """Return the runs that leave the least unknown of the others, one after the other; of equals the first.

    gain of run j = sum over the others i of C_ij^2 / (C_jj + noise^2), C the covariance of their errors given the runs
    chosen before. Source: greedy A-optimal design; Rasmussen and Williams 2006, section 2.2, for C given a run.
    """
    import numpy as np

    left = covariance(place, place)
    chosen: list[int] = []
    for _ in range(min(runs, len(left))):
        alone = np.diag(left)
        gain = ((left**2).sum(axis=0) - alone**2) / (alone + NOISE**2)
        gain[chosen] = -1.0
        best = int(np.argmax(np.round(gain, 9)))
        chosen.append(best)
        left = left - np.outer(left[:, best], left[best]) / (left[best, best] + NOISE**2)
    return chosen


def _divide(observations: Sequence[Observation], choose: Callable[[list[int]], list[int]]) -> list[Cell]:
    cells: dict[tuple[str, str, str], list[int]] = {}
    for number, one in enumerate(observations):
        cells.setdefault((one.labels.source, one.labels.accelerator, one.labels.framework), []).append(number)
    divided = []
    for places in cells.values():
        chosen = choose(sorted(places, key=lambda number: _random_key(observations[number])))
        taken = {_configuration(observations[number]) for number in chosen}
        asked = (number for number in places if _configuration(observations[number]) not in taken)
        divided.append(Cell(tuple(chosen), tuple(asked)))
    return divided


def _configuration(observation: Observation) -> str:
    """Return what repeats of one run have in common: who knows one does not ask for the others."""
    return repr((digest_items(observation.config), observation.labels.workload))


def _random_key(observation: Observation) -> str:
    return hashlib.sha256(_configuration(observation).encode()).hexdigest()
