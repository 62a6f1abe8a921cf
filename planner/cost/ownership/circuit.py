"""Whether a site's wiring and racks carry its machines."""

from __future__ import annotations

from planner.model.hardware.machines import Node
from planner.model.owning.site import Site


def node_rated_kw(site: Site, node: Node) -> float | None:
    """Return the most that one node draws: the site says, the data sheet, or the high end of what it trains at."""
    if site.rated_kw is not None:
        return site.rated_kw.value
    if node.rated_kw is not None:
        return node.rated_kw
    return site.power.high if site.power is not None else None


def circuit_problem(site: Site, node: Node, *, nodes: int) -> str | None:
    """Say why `nodes` machines do not fit the site's circuits or racks, with both numbers; None where they do.

    load = nodes x rated kW against circuit_kw; nodes a rack x rated kW against rack_kw. Cooling draws from elsewhere.
    """
    rated = node_rated_kw(site, node)
    if rated is None:
        return None
    problems = []
    load = nodes * rated
    if site.circuit_kw is not None and load > site.circuit_kw.value:
        problems.append(
            f"does not fit its circuit: {nodes} x {rated:g} kW = {load:g} kW, circuit_kw is {site.circuit_kw.value:g}"
        )
    rack = min(nodes, site.nodes_per_rack) * rated
    if site.rack_kw is not None and rack > site.rack_kw.value:
        problems.append(
            f"does not fit its rack: {min(nodes, site.nodes_per_rack)} x {rated:g} kW = {rack:g} kW, "
            f"rack_kw is {site.rack_kw.value:g}"
        )
    return "; ".join(problems) or None
