"""Sale value of a machine by age."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.owning.site import ResidualPoint
from planner.quantity.interval import Interval


def residual_fraction(curve: Sequence[ResidualPoint], *, age_years: float) -> Interval:
    """Return the share of its price that a machine sells for at an age, with its range; may be negative.

    Interpolates linearly between the points. Before the first and after the last, that point's value counts.
    """
    before = [point for point in curve if point.age_years <= age_years]
    after = [point for point in curve if point.age_years > age_years]
    if not before or not after:
        only = (before or after)[-1 if before else 0].fraction
        return Interval(only.value, only.lowest, only.highest)
    left, right = before[-1], after[0]
    weight = (age_years - left.age_years) / (right.age_years - left.age_years)

    def between(low: float, high: float) -> float:
        return low + (high - low) * weight

    younger, older = left.fraction, right.fraction
    return Interval(
        between(younger.value, older.value),
        between(younger.lowest, older.lowest),
        between(younger.highest, older.highest),
    )
