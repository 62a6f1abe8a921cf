"""How much longer whole trainings take than their steps at benchmark speed: fitted by kind, from owner to owner."""

from __future__ import annotations

import hashlib
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from planner.model.evidence.practice import T4_95, PracticeFit
from planner.model.evidence.source_site import owner_of
from planner.model.evidence.whole_training import TrainingKind

COVERAGE = 0.9
NORMAL_90 = 1.645
DEGREES = 4
"""Of freedom of Student's t: some trainings take many times as long."""
USUAL_SCALE = 0.3
"""Between owners, while the middle is sought: it hardly matters there."""
POOLED_OWNERS = 10.0
"""Owners of a kind that count as much as all others for its middle: spread between kinds 0.2, between owners 0.6."""
CENTRES = [0.005 * step for step in range(-200, 401)]
SCALES = [0.01 * step for step in range(5, 151)]
LEAST_WITHIN = 0.1


@dataclass(frozen=True)
class Shortfall:
    """One whole training beside its plan at benchmark speed."""

    id: str
    source: str
    kind: TrainingKind
    log_ratio: float
    """ln(hours as they were / hours at benchmark speed)."""
    log_half: float
    """Half of the 90 % range of the hours at benchmark speed, in logarithms."""


def fit_practice(shortfalls: Sequence[Shortfall], *, table: bytes, today: date) -> PracticeFit:
    """Fit the middle of each kind and the spread between owners, who weigh alike however much they publish.

    middle  = most likely centre of Student's t, pooled: all + n / (n + 10) x (kind - all), n owners of the kind
    between = smallest scale whose ranges, beside the speed's own, hold 90 % of the average owner (conformal over them)
    within  = standard deviation of an owner's trainings from their mean
    """
    everyone = _centre(shortfalls)
    middle = {}
    for kind in TrainingKind:
        own = [one for one in shortfalls if one.kind is kind]
        count = len(_by_owner(own))
        share = count / (count + POOLED_OWNERS)
        middle[kind] = round(everyone + share * (_centre(own) - everyone if own else 0.0), 4)
    return PracticeFit(
        made_on=today,
        trainings=len(shortfalls),
        sources=len({one.source for one in shortfalls}),
        table_sha256=hashlib.sha256(table).hexdigest(),
        middle=middle,
        between=round(_between(shortfalls, middle), 4),
        within=round(_within(shortfalls), 4),
    )


def _by_owner(shortfalls: Iterable[Shortfall]) -> dict[str, list[Shortfall]]:
    groups: dict[str, list[Shortfall]] = defaultdict(list)
    for one in shortfalls:
        groups[owner_of(one.source)].append(one)
    return groups


def _centre(shortfalls: Sequence[Shortfall]) -> float:
    """Return the most likely centre: of t with 4 degrees about it, its scale and the speed's own in quadrature."""
    owners = _by_owner(shortfalls)

    def cost(centre: float) -> float:
        return sum(
            math.log1p((one.log_ratio - centre) ** 2 / (DEGREES * _variance(one))) / len(group)
            for group in owners.values()
            for one in group
        )

    return min(CENTRES, key=cost)


def _variance(one: Shortfall) -> float:
    return USUAL_SCALE**2 + (one.log_half / NORMAL_90) ** 2


def _between(shortfalls: Sequence[Shortfall], middle: dict[TrainingKind, float]) -> float:
    """Return the smallest scale at which the ranges hold 90 (n + 1) / n % of the trainings of the average owner."""
    owners = _by_owner(shortfalls)
    wanted = min(1.0, COVERAGE * (len(owners) + 1) / len(owners))

    def coverage(scale: float) -> float:
        inside = 0.0
        for group in owners.values():
            held = [abs(one.log_ratio - middle[one.kind]) <= math.hypot(one.log_half, T4_95 * scale) for one in group]
            inside += sum(held) / len(held)
        return inside / len(owners)

    return next((scale for scale in SCALES if coverage(scale) >= wanted), SCALES[-1])


def _within(shortfalls: Sequence[Shortfall]) -> float:
    """Return the pooled standard deviation, never under 10 %."""
    groups = [[one.log_ratio for one in group] for group in _by_owner(shortfalls).values() if len(group) > 1]
    squares = sum((value - statistics.fmean(values)) ** 2 for values in groups for value in values)
    freedom = sum(len(values) - 1 for values in groups)
    return max(LEAST_WITHIN, math.sqrt(squares / max(1, freedom)))
