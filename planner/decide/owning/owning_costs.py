"""Split the cost of owning for display: by part, by hour, and by how busy the machine is."""

from __future__ import annotations

from dataclasses import fields, replace

from planner.cost.ownership.owned_cost import (
    AnnualCost,
    annual_cost,
    busy_gpu_hours_per_year,
    marginal_usd_per_busy_gpu_hour,
    usd_per_busy_gpu_hour,
)
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.own_or_rent import CostLine, CurvePoint
from planner.model.answer.planned_year import PlannedYear
from planner.model.owning.acquisition import Acquisition
from planner.model.quantity import Quantity, Unit, weakest
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.time_units import HOURS_PER_YEAR

CURVE_STEPS = 20
"""Number of points of the curve: one for every 5 % of the hours."""


def usd_per_allocated_gpu_hour(resolved: ResolvedSite) -> Quantity | None:
    """Return USD a year / (GPUs x 8,766 x allocated share), for users whose jobs reserve GPUs without using them."""
    used = resolved.site.utilisation
    if used is None or used.allocated is None:
        return None
    allocated, gpus = used.allocated.value, resolved.inputs.gpus
    value = resolved.range_of(lambda inputs: annual_cost(inputs).total / (gpus * HOURS_PER_YEAR * allocated))
    total = annual_cost(resolved.inputs).total
    source = f"{total:,.0f} USD a year / ({gpus} GPUs x 8,766 h x {allocated:g} allocated)"
    return to_quantity(value, Unit.USD_PER_GPU_HOUR, resolved.basis, source, resolved.as_of)


def annual_usd(resolved: ResolvedSite) -> Quantity:
    """Return the yearly cost of one node: the sum of its parts."""
    value = resolved.range_of(lambda inputs: annual_cost(inputs).total)
    return to_quantity(value, Unit.USD_PER_YEAR, resolved.basis, "sum of the parts", resolved.as_of)


def usd_per_node_hour(resolved: ResolvedSite) -> Quantity:
    """Return the cost of one node in each hour of the year, busy or not."""
    year = annual_usd(resolved)
    each = interval(year, Unit.USD_PER_YEAR).scaled(1 / HOURS_PER_YEAR)
    return derived(each, Unit.USD_PER_HOUR, year, source=f"{year.value:,.0f} USD a year / 8,766 h")


def marginal_price(resolved: ResolvedSite) -> Quantity:
    """Return the cost that a busy GPU-hour adds to the bills, with its arithmetic."""
    inputs = resolved.inputs
    parts = [resolved.quantities[name] for name in ("training_kw", "pue", "usd_per_kwh")]
    source = (
        f"{inputs.training_kw:g} kW x {inputs.pue:g} PUE x {inputs.usd_per_kwh:g} USD/kWh / {inputs.gpus} GPUs; "
        + "; ".join(part.source for part in parts)
    )
    value = resolved.range_of(marginal_usd_per_busy_gpu_hour)
    return to_quantity(value, Unit.USD_PER_GPU_HOUR, weakest(*(part.basis for part in parts)), source, resolved.as_of)


CAPEX = "server_usd", "network_fraction_of_capex", "storage_fraction_of_capex", "resale_usd"
OVER_ITS_LIFE = "years", "discount_rate_per_year"
PARTS = {
    "recovery": (*CAPEX, *OVER_ITS_LIFE),
    "residual": ("residual_fraction", *CAPEX, *OVER_ITS_LIFE),
    "lease": ("lease_usd_per_month",),
    "spares": ("spares_fraction_of_nodes", "lease_usd_per_month", "residual_fraction", *CAPEX, *OVER_ITS_LIFE),
    "maintenance": ("maintenance_fraction_per_year", "maintenance_usd_per_node_year", "server_usd"),
    "software": ("software_usd_per_gpu_year",),
    "colocation": ("colocation_usd_per_kw_month", "reserved_kw"),
    "room": ("room_usd_per_month",),
    "staff": ("fte_per_node", "usd_per_fte_year"),
    "power": ("training_kw", "idle_kw", "busy_fraction", "pue", "usd_per_kwh"),
    "demand": ("contracted_kw", "demand_usd_per_kw_month"),
}
"""Inputs from which each part of the yearly cost is computed."""
OF_A_PURCHASE = ("recovery", "residual")


OTHERS = "others' share"
"""Name of the part of the yearly cost that other users of the machine bear."""


def year_at_work(resolved: ResolvedSite, year: PlannedYear, *, other_use: float) -> tuple[CostLine, ...]:
    """Return the parts of one node's yearly cost, at the working hours that `PlannedYear` counts.

    busy = busy share of the available hours x availability / (1 - other use), a share of all hours (`owning_usd`)
    """
    inputs = resolved.inputs
    available = inputs.gpus * HOURS_PER_YEAR * inputs.availability
    if year.trainings is None:
        return cost_lines(resolved, hours=busy_gpu_hours_per_year(inputs))
    share = interval(year.busy_fraction, Unit.RATIO).scaled(inputs.availability / (1 - other_use))
    busy = Interval(*(min(inputs.availability, each) for each in share))
    quantities = dict(resolved.quantities)
    quantities["busy_fraction"] = derived(
        busy, Unit.RATIO, year.busy_fraction, source=f"the year's trainings: {year.busy_fraction.source}"
    )
    at_busy_share = replace(resolved, inputs=replace(inputs, busy_fraction=busy.value), quantities=quantities)
    hours = available * year.busy_fraction.value
    lines = cost_lines(at_busy_share, hours=hours)
    if not other_use:
        return lines
    total = at_busy_share.range_of(lambda each: annual_cost(each).total).scaled(other_use)
    borne = Interval(-total.value, -total.high, -total.low)
    parts = [line.usd_per_node_year for line in lines]
    usd = derived(borne, Unit.USD_PER_YEAR, *parts, source=f"{other_use:g} of its busy hours are of others (other_use)")
    return (*lines, CostLine(part=OTHERS, usd_per_node_year=usd, usd_per_busy_gpu_hour=borne.value / hours))


def cost_lines(resolved: ResolvedSite, *, hours: float) -> tuple[CostLine, ...]:
    """Return each part of the site's cost, with its range and sources. `hours` are those at work, of all GPUs."""
    lines = []
    for part in fields(AnnualCost):
        inputs = [resolved.quantities[name] for name in PARTS[part.name] if name in resolved.quantities]
        if not inputs or (part.name in OF_A_PURCHASE and resolved.inputs.acquisition is Acquisition.LEASE):
            continue
        value = resolved.range_of(lambda each, name=part.name: getattr(annual_cost(each), name))  # type: ignore[misc]
        source = "; ".join(dict.fromkeys(used.source for used in inputs))
        quantity = derived(value, Unit.USD_PER_YEAR, *inputs, source=source)
        lines.append(CostLine(part=part.name, usd_per_node_year=quantity, usd_per_busy_gpu_hour=value.value / hours))
    return tuple(lines)


def curve(resolved: ResolvedSite) -> tuple[CurvePoint, ...]:
    """Return the cost of a busy GPU-hour at each busy share, with the other inputs unchanged."""
    points = []
    for step in range(1, CURVE_STEPS + 1):
        share = step / CURVE_STEPS
        changed_site = replace(
            resolved,
            inputs=replace(resolved.inputs, busy_fraction=share),
            quantities={name: quantity for name, quantity in resolved.quantities.items() if name != "busy_fraction"},
        )
        full = changed_site.range_of(usd_per_busy_gpu_hour)
        points.append(
            CurvePoint(
                busy_fraction=share,
                usd_per_busy_gpu_hour=full.value,
                low_usd_per_busy_gpu_hour=full.low,
                high_usd_per_busy_gpu_hour=full.high,
                marginal_usd_per_busy_gpu_hour=marginal_usd_per_busy_gpu_hour(changed_site.inputs),
            )
        )
    return tuple(points)
