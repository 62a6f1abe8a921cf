"""Border of the core: quantities become intervals on the way in, and intervals become quantities on the way out."""

from __future__ import annotations

from datetime import date

from planner.model.quantity import Basis, Quantity, Unit, weakest
from planner.quantity.formula import stated
from planner.quantity.interval import Interval
from planner.quantity.recorded_number import is_recording

MATERIAL_FRACTION = 0.05
"""Share of a total from which a line decides its basis.

A measured year of rent stays measured beside an assumed quarter of an hour of set-up, whose uncertainty is in the
total's range.
"""


def interval(quantity: Quantity, unit: Unit, *, name: str | None = None) -> Interval:
    """Unwrap a quantity, and check its unit.

    While formulas are recorded, its number keeps its unit and source, and is named in their texts (by its unit if no
    name is given).
    """
    value = quantity.as_(unit)
    if is_recording():
        value = stated(name or unit.name.lower(), value, unit.value, quantity.source)
    return Interval(value, quantity.low, quantity.high)


def to_quantity(value: Interval, unit: Unit, basis: Basis, source: str, as_of: date | None = None) -> Quantity:
    """Wrap a number from a single place. A recorded number still remembers how it was computed."""
    quantity = Quantity(
        value=value.value, low=value.low, high=value.high, unit=unit, basis=basis, source=source, as_of=as_of
    )
    return quantity.model_copy(update={"value": value.value}) if is_recording() else quantity


def derived(value: Interval, unit: Unit, *parts: Quantity, source: str) -> Quantity:
    """Wrap a number computed from others: the weakest basis and the oldest date among them."""
    dates = [part.as_of for part in parts if part.as_of]
    return to_quantity(value, unit, weakest(*(part.basis for part in parts)), source, min(dates, default=None))
