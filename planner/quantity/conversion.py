"""The border of the core: quantities are unwrapped to intervals on the way in, and wrapped on the way out."""

from __future__ import annotations

from datetime import date

from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.interval import Interval

MATERIAL_FRACTION = 0.05
"""A total is known as its lines of this share and more are: a measured year of rent stays measured beside an assumed
quarter of an hour of set-up, whose doubt stands in the total's range."""


def interval(quantity: Quantity, unit: Unit) -> Interval:
    """Unwrap a quantity; its unit is checked."""
    return Interval(quantity.as_(unit), quantity.low, quantity.high)


def to_quantity(value: Interval, unit: Unit, basis: Basis, source: str, as_of: date | None = None) -> Quantity:
    """Wrap a number that comes from one place."""
    return Quantity(
        value=value.value, low=value.low, high=value.high, unit=unit, basis=basis, source=source, as_of=as_of
    )


def derived(value: Interval, unit: Unit, *parts: Quantity, source: str) -> Quantity:
    """Wrap a number computed from others: the weakest basis and the oldest date among them."""
    dates = [part.as_of for part in parts if part.as_of]
    return to_quantity(value, unit, weakest(*(part.basis for part in parts)), source, min(dates, default=None))
