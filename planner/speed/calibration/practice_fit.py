"""Fit of the time that whole trainings take beyond their steps at benchmark speed, by kind and between owners."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from planner.model.evidence.source_site import owner_of
from planner.model.evidence.whole_training import T4_95, PracticeFit, TrainingKind

COVERAGE = 0.9
NORMAL_90 = 1.645
DEGREES = 4
"""Degrees of freedom of Student's t, because some trainings take many times as long."""
USUAL_SCALE = 0.3
"""Assumed spread between owners while the middle is sought, where it hardly matters."""
POOLED_OWNERS = 10.0
"""Number of a kind's owners that weigh as much as the pool of all kinds: spread between kinds 0.2, owners 0.6."""
CENTRES = [0.005 * step for step in range(-200, 401)]
SCALES = [0.01 * step for step in range(5, 151)]
LEAST_WITHIN = 0.1
"""Smallest standard deviation within an owner's trainings."""


@dataclass(frozen=True)
class Shortfall:
    """Whole training relative to its plan at benchmark speed."""

    id: str
    source: str
    kind: TrainingKind
    log_ratio: float
    """ln(actual hours / hours at benchmark speed)."""
    log_half: float
    """Half width of the 90 % range of the hours at benchmark speed, in logarithms."""


def fit_practice(shortfalls: Sequence[Shortfall], *, table: bytes, today: date) -> PracticeFit:
    """Fit the middle of each kind and the spread between owners. Owners weigh alike.

    middle  = most likely centre of Student's t, pooled: all + n / (n + 10) x (kind - all), n owners of the kind
    between = smallest scale whose ranges, with the speed's own, cover 90 % of the average owner (conformal)
    within  = standard deviation of an owner's trainings from their mean
    """
    pooled = _centre(shortfalls)
    middle = {}
    for kind in TrainingKind:
        own = [shortfall for shortfall in shortfalls if shortfall.kind is kind]
        count = len(_by_owner(own))
        share = count / (count + POOLED_OWNERS)
        middle[kind] = round(pooled + share * (_centre(own) - pooled if own else 0.0), 4)
    return PracticeFit(
        made_on=today,
        trainings=len(shortfalls),
        sources=len({shortfall.source for shortfall in shortfalls}),
        table_sha256=hashlib.sha256(table).hexdigest(),
        middle=middle,
        between=round(_between(shortfalls, middle), 4),
        within=round(_within(shortfalls), 4),
    )


def _by_owner(shortfalls: Iterable[Shortfall]) -> dict[str, list[Shortfall]]:
    groups: dict[str, list[Shortfall]] = defaultdict(list)
    for shortfall in shortfalls:
        groups[owner_of(shortfall.source)].append(shortfall)
    return groups


def _centre(shortfalls: Sequence[Shortfall]) -> float:
    """Return the most likely centre of t with 4 degrees. Its variance is that between owners plus that of the speed."""
    owners = _by_owner(shortfalls)

    def cost(centre: float) -> float:
        return sum(
            math.log1p(
                (shortfall.log_ratio - centre) ** 2
                / (DEGREES * (USUAL_SCALE**2 + (shortfall.log_half / NORMAL_90) ** 2))
            )
            / len(group)
            for group in owners.values()
            for shortfall in group
        )

    return min(CENTRES, key=cost)


def _between(shortfalls: Sequence[Shortfall], middle: dict[TrainingKind, float]) -> float:
    """Return the smallest scale whose ranges cover 90 (n + 1) / n % of the trainings of the average owner."""
    owners = _by_owner(shortfalls)
    wanted = min(1.0, COVERAGE * (len(owners) + 1) / len(owners))

    def coverage(scale: float) -> float:
        covered = 0.0
        for group in owners.values():
            covered += sum(
                abs(shortfall.log_ratio - middle[shortfall.kind]) <= math.hypot(shortfall.log_half, T4_95 * scale)
                for shortfall in group
            ) / len(group)
        return covered / len(owners)

    return next((scale for scale in SCALES if coverage(scale) >= wanted), SCALES[-1])


def _within(shortfalls: Sequence[Shortfall]) -> float:
    """Return the pooled standard deviation within owners, at least 10 %."""
    groups = [
        [shortfall.log_ratio for shortfall in group] for group in _by_owner(shortfalls).values() if len(group) > 1
    ]
    squares = sum((value - statistics.fmean(values)) ** 2 for values in groups for value in values)
    freedom = sum(len(values) - 1 for values in groups)
    return max(LEAST_WITHIN, math.sqrt(squares / max(1, freedom)))
