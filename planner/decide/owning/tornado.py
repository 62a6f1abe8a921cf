"""Which inputs move "own or rent" most, and at which value the answer changes."""

from __future__ import annotations

from planner.cost.ownership.owned_cost import OwnedInputs, usd_per_busy_gpu_hour
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.own_or_rent import Sensitivity
from planner.model.quantity import Quantity
from planner.quantity.interval import Interval
from planner.quantity.spread import Swing, crossing

SHOWN = 5
WHAT_IF_BUSY = Interval(0.7, 0.3, 0.9)
"""How far a busy share is moved that the site states without a range: nothing moves the answer more."""
RENT = "rent of the same work"
BOUNDS = {"years": (1.0, 15.0), "availability": (0.05, 1.0), "busy_fraction": (0.005, 1.0), "pue": (1.0, 5.0)}
FAR_FACTOR = 10.0
"""How far beyond its value any other input is followed in search of the switching value."""


def sensitivities(resolved: ResolvedSite, rent: Quantity, rents: list[float]) -> tuple[Sensitivity, ...]:
    """Return the inputs that move owning less renting most, each with the value at which both cost the same.

    answer = full USD per busy GPU-hour - rent of the same work, in USD; negative: owning is cheaper

    The rent runs from the lowest to the highest of `rents`, the price kinds that the plan names.
    """

    def answer(inputs: OwnedInputs) -> float:
        return usd_per_busy_gpu_hour(inputs) - rent.value

    own = usd_per_busy_gpu_hour(resolved.inputs)
    ranges = dict(resolved.ranges)
    if "busy_fraction" not in ranges:
        busy, most = resolved.inputs.busy_fraction, resolved.inputs.availability
        ranges["busy_fraction"] = Interval(
            busy, min(busy, WHAT_IF_BUSY.low), min(max(busy, WHAT_IF_BUSY.high), max(most, busy))
        )
    moves = [
        Swing(
            name,
            answer(resolved.moved(resolved.inputs, name, each.low)),
            answer(resolved.moved(resolved.inputs, name, each.high)),
        )
        for name, each in ranges.items()
    ]
    rows = [_row(resolved, swing, ranges[swing.name], rent) for swing in moves]
    low, high = min([rent.low, *rents]), max([rent.high, *rents])
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


def _row(resolved: ResolvedSite, swing: Swing, each: Interval, rent: Quantity) -> Sensitivity:
    value = each.value

    def answer(moved_to: float) -> float:
        return usd_per_busy_gpu_hour(resolved.moved(resolved.inputs, swing.name, moved_to)) - rent.value

    span = abs(value) or abs(each.high) or 1.0
    low, high = BOUNDS.get(swing.name, (value / FAR_FACTOR if value > 0 else 0.0, span * FAR_FACTOR))
    if swing.name.endswith("_fraction") or "_fraction_" in swing.name:
        high = min(high, 0.6 if swing.name.endswith("of_capex") else 1.0)
    low = min(low, value)
    return Sensitivity(
        input=swing.name,
        unit=resolved.quantities[swing.name].unit.value,
        value=value,
        low=each.low,
        high=each.high,
        at_low_usd=swing.at_low,
        at_high_usd=swing.at_high,
        flips_at=crossing(answer, low, high),
    )
