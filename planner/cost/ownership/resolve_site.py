"""Collect every input of the cost of owning one node of a site, or say which is unknown."""

from __future__ import annotations

from dataclasses import dataclass, fields

from planner.cost.ownership.owned_cost import OwnedInputs
from planner.cost.ownership.owned_inputs import CollectedInputs
from planner.cost.ownership.resolved_site import ResolvedSite, with_grants
from planner.cost.power.circuit import node_rated_kw
from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, Node
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity
from planner.quantity.formula import stated


@dataclass(frozen=True)
class NoOwningCost:
    """Reason why the full cost of owning is unknown, and what would help."""

    reason: str


def resolve_site(
    site: Site,
    node: Node,
    accelerator: Accelerator,
    plan: Plan,
    catalog: Catalog,
    *,
    training_power: Quantity | None = None,
) -> ResolvedSite | NoOwningCost:
    """Return every input of one node's cost, or why one of them is unknown.

    `training_power` is a node's power in this plan's training, if known better than from the site.
    """
    rated_kw = node_rated_kw(site, node)
    if rated_kw is None:
        return NoOwningCost(f"the site {site.id} names no rated power: give rated_kw")
    collected = CollectedInputs(site, plan, catalog)
    missing = collected.capital(accelerator)
    if missing is not None:
        return NoOwningCost(f"the site {site.id}: {missing}")
    collected.keeping()
    collected.place(rated_kw)
    collected.power(node, rated_kw, training_power)
    collected.use(node, accelerator)
    values = {
        name: stated(name, quantity.value, quantity.unit.value, quantity.source)
        for name, quantity in collected.quantities.items()
    }
    absent = {field.name: 0.0 for field in fields(OwnedInputs) if field.name not in values}
    acquisition = site.acquisition
    assert acquisition is not None, "capital() returns what is missing"
    inputs = OwnedInputs(**absent | values | {"acquisition": acquisition, "gpus": node.accelerators})  # type: ignore[arg-type]
    return ResolvedSite(
        site=site,
        inputs=with_grants(site, inputs),
        quantities=collected.quantities,
        defaults=tuple(collected.defaults),
        curve=collected.curve,
        age_years=collected.age_years,
        notes=tuple(collected.notes),
    )
