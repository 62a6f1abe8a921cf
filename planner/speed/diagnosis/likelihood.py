"""How likely a fault is at work unseen: how well the rate with it explains what was measured, against the others."""

from __future__ import annotations

import math

from planner.quantity.formula import applied, exp, formula, largest, log

MOST_SLOWED = math.log(4.0)
LEAST_SLOWED = math.log(1.1)
"""Of a fault that may cost any amount, as waiting for data."""
WIDTH_OF_90 = 3.29
"""Standard deviations between the ends of a 90 % range."""


@formula("")
def deviation(low: float, high: float) -> float:
    """Return the standard deviation of ln rate, of a 90 % range."""
    return largest(0.02, log(high / low) / WIDTH_OF_90)


@formula("")
def density(gap: float, expected: float, spread: float) -> float:
    """Normal density of a logarithmic gap."""
    return exp(-0.5 * ((gap - expected) / spread) ** 2) / (spread * math.sqrt(2 * math.pi))


@formula("")
def density_of_any(gap: float, spread: float, *, least: float = LEAST_SLOWED, most: float = MOST_SLOWED) -> float:
    """The same of a fault that slows by any factor between `least` and `most`, all logarithms as likely."""
    below = _cumulated((-least - gap) / spread) - _cumulated((-most - gap) / spread)
    return below / (most - least)


def _cumulated(value: float) -> float:
    return 0.5 * (1 + applied("erf", math.erf, value / math.sqrt(2)))
