"""Find the inputs that move "own or rent" most, and the values at which the answer changes."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.ownership.owned_cost import usd_per_busy_gpu_hour
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.own_or_rent import RentalOption, Sensitivity
from planner.model.quantity import Quantity
from planner.quantity.interval import Interval
from planner.quantity.spread import crossing

SHOWN = 5
WHAT_IF_BUSY = Interval(0.7, 0.3, 0.9)
"""Range of a busy share that the site states without one. No other input moves the answer more."""
RENT = "rent of the same work"
BOUNDS = {"years": (1.0, 15.0), "availability": (0.05, 1.0), "busy_fraction": (0.005, 1.0), "pue": (1.0, 5.0)}
FAR_FACTOR = 10.0
"""Factor up to which any other input is followed in search of its switching value."""


def sensitivities(
    resolved: ResolvedSite, against: RentalOption | None, rentals: Sequence[RentalOption]
) -> tuple[Sensitivity, ...]:
    """Return the inputs that move the difference between owning and renting most, with their switching values.

    difference = full USD per busy GPU-hour - rent of the same work, in USD; negative if owning is cheaper

    At an input's switching value both cost the same. The rent is that of the option `against`, and ranges over all
    `rentals`. Empty without a rent.
    """
    rent = against.usd_per_owned_gpu_hour if against is not None else None
    if rent is None:
        return ()
    rents = [rental.usd_per_owned_gpu_hour for rental in rentals if rental.usd_per_owned_gpu_hour is not None]
    own = usd_per_busy_gpu_hour(resolved.inputs)
    ranges = dict(resolved.ranges)
    if "busy_fraction" not in ranges:
        busy, most = resolved.inputs.busy_fraction, resolved.inputs.availability
        ranges["busy_fraction"] = Interval(
            busy, min(busy, WHAT_IF_BUSY.low), min(max(busy, WHAT_IF_BUSY.high), max(most, busy))
        )
    rows = [_row(resolved, name, each, rent) for name, each in ranges.items()]
    low, high = min(rent.low, *(each.value for each in rents)), max(rent.high, *(each.value for each in rents))
    rows.append(
        Sensitivity(
            input=RENT,
            unit=rent.unit.value,
            value=rent.value,
            low=low,
            high=high,
            at_low_usd=own - low,
            at_high_usd=own - high,
            flips_at=own,
        )
    )
    rows.sort(key=lambda row: (-abs(row.at_high_usd - row.at_low_usd), row.input))
    return tuple(rows[:SHOWN])


def _row(resolved: ResolvedSite, name: str, each: Interval, rent: Quantity) -> Sensitivity:
    value = each.value

    def difference(moved_to: float) -> float:
        return usd_per_busy_gpu_hour(resolved.moved(resolved.inputs, name, moved_to)) - rent.value

    span = abs(value) or abs(each.high) or 1.0
    low, high = BOUNDS.get(name, (value / FAR_FACTOR if value > 0 else 0.0, span * FAR_FACTOR))
    if name.endswith("_fraction") or "_fraction_" in name:
        high = min(high, 0.6 if name.endswith("of_capex") else 1.0)
    low = min(low, value)
    return Sensitivity(
        input=name,
        unit=resolved.quantities[name].unit.value,
        value=value,
        low=each.low,
        high=each.high,
        at_low_usd=difference(each.low),
        at_high_usd=difference(each.high),
        flips_at=crossing(difference, low, high),
    )
