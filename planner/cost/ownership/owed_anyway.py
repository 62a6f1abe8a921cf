"""Costs that are owed even if the work is done elsewhere: a signed lease, and everything its machine needs."""

from __future__ import annotations

from dataclasses import replace

from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.owning.acquisition import Acquisition, Hold
from planner.model.quantity import Basis, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval

OWED = (
    "lease_usd_per_month", "spares_fraction_of_nodes", "maintenance_fraction_per_year", "maintenance_usd_per_node_year",
    "software_usd_per_gpu_year", "colocation_usd_per_kw_month", "room_usd_per_month", "fte_per_node",
    "demand_usd_per_kw_month", "idle_kw",
)  # fmt: skip
"""Inputs that are paid until the lease ends, whether the machine trains or not."""

OF_THE_PRICE = (
    "network_fraction_of_capex", "storage_fraction_of_capex", "spares_fraction_of_nodes", "lead_time_months",
)  # fmt: skip
"""Inputs of buying a machine that count no more once it is there."""
NOT_SOLD = "what it would sell for is not counted (already_owned of its site)"


def is_owed(resolved: ResolvedSite, hold: Hold | None) -> bool:
    """Return whether the machine is under a lease, so that its rate is owed until the term ends."""
    return hold is Hold.HAVE and resolved.inputs.acquisition is Acquisition.LEASE


def is_paid(resolved: ResolvedSite, hold: Hold | None) -> bool:
    """Return whether the machine is there already, while its site states what it costs to buy."""
    return hold is Hold.HAVE and resolved.inputs.acquisition is Acquisition.PURCHASE


def avoidable(resolved: ResolvedSite, hold: Hold | None) -> ResolvedSite:
    """Return the site with only the costs that renting instead would save.

    For a machine under a signed lease that is the electricity of its training: the rate, the place, the staff and the
    idle power are paid until the term ends. For one that is paid for it is everything but its price, as for one that a
    plan names by its accelerator (`own`). For all others it is everything.
    """
    if is_paid(resolved, hold):
        return _without_price(resolved)
    if not is_owed(resolved, hold):
        return resolved
    quantities = {name: quantity for name, quantity in resolved.quantities.items() if name not in OWED}
    return replace(resolved, inputs=replace(resolved.inputs, **dict.fromkeys(OWED, 0.0)), quantities=quantities)  # type: ignore[arg-type]


def _without_price(resolved: ResolvedSite) -> ResolvedSite:
    """Return a machine that is paid for: what it would sell for is not known, and counts as nothing.

    Support as a share of its price counts where the site states that share.
    """
    supported = "maintenance_fraction_per_year" not in resolved.defaults
    gone = [*OF_THE_PRICE] if supported else [*OF_THE_PRICE, "server_usd", "maintenance_fraction_per_year"]
    quantities = {name: quantity for name, quantity in resolved.quantities.items() if name not in gone}
    quantities["resale_usd"] = to_quantity(Interval.exact(0.0), Unit.USD, Basis.ASSUMED, NOT_SOLD)
    paid = dict.fromkeys(gone, 0.0) | {"acquisition": Acquisition.ALREADY_OWNED, "resale_usd": 0.0, "grants_usd": 0.0}
    return replace(resolved, inputs=replace(resolved.inputs, **paid), quantities=quantities)  # type: ignore[arg-type]


def share_of_year(resolved: ResolvedSite, hold: Hold | None) -> float:
    """Return the share of the coming year for which the machine is leased: a lease of six months ends halfway."""
    return min(1.0, resolved.inputs.years) if is_owed(resolved, hold) else 1.0
