"""Money for a machine that is bought or leased for a campaign: paid now, kept meanwhile, recovered at its end."""

from __future__ import annotations

import math

from planner.cost.cloud.bill_lines import UnroundedLine
from planner.cost.ownership.owned_cost import capex_usd, running_cost
from planner.cost.ownership.residual import residual_fraction
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.figure import Figure
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.spread import signed_product
from planner.quantity.time_units import DAYS_PER_MONTH, DAYS_PER_YEAR, MONTHS_PER_YEAR

BY_THE_YEAR = {"maintenance": "maintenance", "software": "software"}
BY_THE_MONTH = {"colocation": "colocation", "room": "room", "demand": "demand charge"}
"""Parts of the yearly keeping cost that are billed by others, with their names on a bill."""


def pay_now(resolved: ResolvedSite, *, nodes: int) -> Quantity:
    """Return the immediate cost of the machines: nodes x (capex - grants), capex with its shares of network and
    storage.
    """
    inputs = resolved.inputs
    each = resolved.range_of(lambda moved: capex_usd(moved) - moved.grants_usd)
    names = ("server_usd", "network_fraction_of_capex", "storage_fraction_of_capex")
    parts = [resolved.quantities[name] for name in names]
    shares = " - ".join(f"{part.value:g}" for part in parts[1:] if part.value)
    price = f"{inputs.server_usd:,.0f} USD" + (f" / (1 - {shares} for network and storage)" if shares else "")
    grants = f" - {inputs.grants_usd:,.0f} of grants" if inputs.grants_usd else ""
    source = f"{nodes} x ({price}{grants}); {parts[0].source}"
    priced = [parts[0], *(part for part in parts[1:] if part.high > 0)]
    return derived(each.scaled(nodes), Unit.USD, *priced, source=source)


def keeping(resolved: ResolvedSite, *, nodes: int, days: int) -> list[UnroundedLine]:
    """Bill the external cost of keeping machines for some days.

    maintenance, software = nodes x USD a year x days / 365.25
    colocation, room, demand charge = nodes x USD a year / 12 x months begun

    Wages of the owner's own staff are not billed: they are paid whatever is bought. `owning: full` counts them.
    """
    years, months = days / DAYS_PER_YEAR, math.ceil(days / DAYS_PER_MONTH)
    lines = [_kept(resolved, part, what, nodes, years, "years") for part, what in BY_THE_YEAR.items()]
    lines += [_kept(resolved, part, what, nodes, float(months), "months") for part, what in BY_THE_MONTH.items()]
    return [line for line in lines if line.usd.high > 0]


def lease_term(resolved: ResolvedSite, *, nodes: int) -> UnroundedLine:
    """Bill a lease that must be signed. Its whole term is owed: nodes x months x USD a month."""
    months = resolved.inputs.years * MONTHS_PER_YEAR
    monthly = resolved.quantities["lease_usd_per_month"]
    usd = interval(monthly, Unit.USD).scaled(months * nodes)
    source = f"{nodes} x {months:g} months x {monthly.value:,.2f} USD; {monthly.source}"
    return UnroundedLine("lease, its whole term", usd, months * nodes, "node-months", monthly.value, (monthly,), source)


def left(resolved: ResolvedSite, paid: Quantity, selling: Figure, *, nodes: int, days: int) -> Quantity:
    """Return the sale value of the machines at `days` of age.

    USD = nodes x capex x residual(days) x (1 - share lost in selling), at most what was paid, at least 0
    """
    old = residual_fraction(resolved.curve, age_years=days / DAYS_PER_YEAR)
    kept = Interval(1 - selling.value, 1 - selling.highest, 1 - selling.lowest)
    share = signed_product(kept, Interval(*(max(0.0, value) for value in old)))
    capex = resolved.range_of(capex_usd).scaled(nodes)
    fetched = signed_product(capex, share)
    usd = Interval(
        min(fetched.value, paid.value), min(fetched.low, paid.low), min(fetched.high, max(paid.high, paid.value))
    )
    source = (
        f"{nodes} x {capex.value / nodes:,.0f} USD x {old.value:.3g} after {days} days x {1 - selling.value:g} "
        f"after selling"
    )
    sold = selling.quantity(Unit.RATIO, where="default: holding.selling_fraction")
    nearest = min(resolved.curve, key=lambda point: abs(point.age_years - days / DAYS_PER_YEAR)).fraction
    aged = nearest.quantity(Unit.RATIO, where="residual")
    return derived(usd, Unit.USD, paid, sold, aged, source=source)


def _kept(resolved: ResolvedSite, part: str, what: str, nodes: int, count: float, unit: str) -> UnroundedLine:
    each = 1.0 if unit == "years" else 1 / MONTHS_PER_YEAR
    yearly = resolved.range_of(lambda moved: float(getattr(running_cost(moved), part)))
    source = f"{nodes} x {count:.5g} {unit} x {yearly.value * each:,.2f} USD; site {resolved.site.id}"
    cost = to_quantity(yearly, Unit.USD_PER_YEAR, resolved.basis, source, resolved.as_of)
    usd = yearly.scaled(each * count * nodes)
    return UnroundedLine(what, usd, count * nodes, f"node-{unit}", yearly.value * each, (cost,), source)
