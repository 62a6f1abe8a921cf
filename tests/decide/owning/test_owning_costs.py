"""The parts of the cost of owning, and the inputs that each is computed from."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from planner.cost.ownership.owned_cost import AnnualCost, OwnedInputs, annual_cost
from planner.decide.owning.owning_costs import PARTS
from planner.model.owning.acquisition import Acquisition
from tests.cost.ownership.owning import node

NODES = {
    "bought": node(spares_fraction_of_nodes=0.1, maintenance_usd_per_node_year=10.0, room_usd_per_month=5.0),
    "already owned": node(acquisition=Acquisition.ALREADY_OWNED, resale_usd=9_000.0, spares_fraction_of_nodes=0.1),
    "leased": node(acquisition=Acquisition.LEASE, lease_usd_per_month=700.0, spares_fraction_of_nodes=0.1),
    "on a demand charge": node(contracted_kw=12.0, demand_usd_per_kw_month=8.0, software_usd_per_gpu_year=3.0),
}
NO_QUANTITY = {"gpus", "grants_usd", "acquisition"}
"""Counts and kinds, and grants, which follow from the purchase."""


@pytest.mark.parametrize("name", NODES)
def test_a_part_names_every_input_that_moves_it(name: str):
    inputs = NODES[name]
    before = annual_cost(inputs)
    unnamed = [
        f"{field.name} moves {part.name}"
        for field in fields(OwnedInputs)
        if field.name not in NO_QUANTITY
        for part in fields(AnnualCost)
        if field.name not in PARTS[part.name]
        and getattr(annual_cost(_moved(inputs, field.name)), part.name) != getattr(before, part.name)
    ]
    assert not unnamed


def _moved(inputs: OwnedInputs, name: str) -> OwnedInputs:
    return replace(inputs, **{name: getattr(inputs, name) * 1.01})
