"""Checks whether a site's wiring and racks carry its machines."""

from __future__ import annotations

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.hardware.machines import Node
from planner.model.owning.site import Site


def node_rated_kw(site: Site, node: Node) -> float | None:
    """Return the most that one node draws: from the site, the data sheet, or the high end of its training power."""
    if site.rated_kw is not None:
        return site.rated_kw.value
    if node.rated_kw is not None:
        return node.rated_kw
    return site.power.high if site.power is not None else None


def overloads(site: Site, node: Node, *, nodes: int) -> tuple[Reason, ...]:
    """Return why `nodes` machines do not fit the site's circuits or racks; empty if they do.

    load = nodes x rated kW against circuit_kw; nodes a rack x rated kW against rack_kw. Cooling is powered separately.
    """
    rated = node_rated_kw(site, node)
    if rated is None:
        return ()
    reasons = []
    load = nodes * rated
    if site.circuit_kw is not None and load > site.circuit_kw.value:
        carried = site.circuit_kw.value
        text = f"does not fit its circuit: {nodes} x {rated:g} kW = {load:g} kW, circuit_kw is {carried:g}"
        figures = {"load_kw": load, "circuit_kw": carried}
        reasons.append(Reason(code=ReasonCode.CIRCUIT_OVERLOADED, text=text, figures=figures))
    in_rack = min(nodes, site.nodes_per_rack)
    load = in_rack * rated
    if site.rack_kw is not None and load > site.rack_kw.value:
        carried = site.rack_kw.value
        text = f"does not fit its rack: {in_rack} x {rated:g} kW = {load:g} kW, rack_kw is {carried:g}"
        figures = {"load_kw": load, "rack_kw": carried}
        reasons.append(Reason(code=ReasonCode.RACK_OVERLOADED, text=text, figures=figures))
    return tuple(reasons)
