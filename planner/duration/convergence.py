"""Spread of runs to a quality target, from repeated runs of a benchmark. It is never part of the speed's range."""

from __future__ import annotations

from planner.model.plan.convergence import Convergence, ConvergenceSpread
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import interval, to_quantity
from planner.quantity.interval import Interval

RANGE_OF_NORMALS = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847, 9: 2.970, 10: 3.078}
"""Expected (largest - smallest) of n draws, in standard deviations: the d2 of control charts, ISO 7870-2, annex B."""
NORMAL_90 = 1.645


def half_range_90(*, spread_fraction: float, runs: int) -> float:
    """Return half of the 90 % range of one run, as a share of the mean.

    half = 1.645 x spread / d2(runs)        for approximately normal times; spread = (longest - shortest) / mean
    """
    return NORMAL_90 * spread_fraction / RANGE_OF_NORMALS[runs]


def convergence_of(spread: ConvergenceSpread, training: Quantity) -> Convergence:
    """Return the uncertainty that a quality target adds: the estimated hours of the steps, from convergence alone."""
    value, low, high = (
        half_range_90(spread_fraction=part, runs=spread.runs)
        for part in (spread.spread_fraction, spread.spread_low, spread.spread_high)
    )
    source = (
        f"1.645 x {spread.spread_fraction:g} / {RANGE_OF_NORMALS[spread.runs]:g}: (longest - shortest) / mean of "
        f"{spread.runs} runs; {spread.name}: {spread.source}"
    )
    fraction = to_quantity(Interval(value, low, high), Unit.RATIO, Basis.MODELLED, source, spread.as_of)
    hours = interval(training, Unit.HOURS).value
    band = Interval(hours, hours * (1 - value), hours * (1 + value))
    about = f"{hours:.5g} h +- {value:.3g} by seed and data order alone, at the estimated speed; {source}"
    return Convergence(
        like=spread.id,
        fraction=fraction,
        training_hours=to_quantity(band, Unit.HOURS, Basis.MODELLED, about, spread.as_of),
    )
