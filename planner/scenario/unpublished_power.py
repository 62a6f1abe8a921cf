"""Chips that only their maker rents out. Their power is not published, so the cost of owning one is unknown."""

from __future__ import annotations

from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator
from planner.model.prices.offer import PriceKind
from planner.scenario.price_choice import current_price


def owning_not_modelled(accelerator: Accelerator) -> str | None:
    """Return why a plan cannot own the accelerator, as half a sentence; None if it can."""
    if accelerator.tdp_w is not None or accelerator.id == "CPU":
        return None
    return f"the power of {accelerator.id} is not published, so owning one is not modelled"


def nearest_offer(accelerator: Accelerator, catalog: Catalog) -> str | None:
    """Return the smallest machine that rents out the accelerator, preferably with an on-demand price."""
    rented = [node for node in catalog.nodes.values() if node.accelerator == accelerator.id]
    priced = [
        node for node in rented
        if (row := current_price(node.id, catalog, kind=PriceKind.ON_DEMAND, region=None)) and row.amount is not None
    ]  # fmt: skip
    nearest = min(priced or rented, key=lambda node: (node.accelerators, node.id), default=None)
    return None if nearest is None else nearest.id
