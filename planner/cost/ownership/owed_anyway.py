"""Costs that are owed even if the work is done elsewhere: a signed lease, and everything its machine needs."""

from __future__ import annotations

from dataclasses import replace

from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.owning.hold import Hold
from planner.model.owning.site import Acquisition

OWED = (
    "lease_usd_per_month", "spares_fraction_of_nodes", "maintenance_fraction_per_year", "maintenance_usd_per_node_year",
    "software_usd_per_gpu_year", "colocation_usd_per_kw_month", "room_usd_per_month", "fte_per_node",
    "demand_usd_per_kw_month", "idle_kw",
)  # fmt: skip
"""Inputs that are paid until the lease ends, whether the machine trains or not."""


def is_owed(resolved: ResolvedSite, hold: Hold | None) -> bool:
    """Return whether the machine is under a lease, so that its rate is owed until the term ends."""
    return hold is Hold.HAVE and resolved.inputs.acquisition is Acquisition.LEASE


def avoidable(resolved: ResolvedSite, hold: Hold | None) -> ResolvedSite:
    """Return the site with only the costs that renting instead would save.

    For a machine under a signed lease that is the electricity of its training: the rate, the place, the staff and the
    idle power are paid until the term ends. For all others it is everything.
    """
    if not is_owed(resolved, hold):
        return resolved
    quantities = {name: quantity for name, quantity in resolved.quantities.items() if name not in OWED}
    return replace(resolved, inputs=replace(resolved.inputs, **dict.fromkeys(OWED, 0.0)), quantities=quantities)  # type: ignore[arg-type]


def share_of_year(resolved: ResolvedSite, hold: Hold | None) -> float:
    """Return the share of the coming year for which the machine is leased: a lease of six months ends halfway."""
    return min(1.0, resolved.inputs.years) if is_owed(resolved, hold) else 1.0
