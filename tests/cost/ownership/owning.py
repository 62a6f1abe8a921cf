"""A node that is owned, with every input a round number, for tests to change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from planner.cost.ownership.owned_cost import OwnedInputs
from planner.model.owning.acquisition import Acquisition

CHECK = OwnedInputs(
    acquisition=Acquisition.PURCHASE,
    gpus=8,
    server_usd=312_667.0,
    network_fraction_of_capex=0.15,
    storage_fraction_of_capex=0.08,
    grants_usd=0.0,
    resale_usd=0.0,
    lease_usd_per_month=0.0,
    years=5.0,
    residual_fraction=0.15,
    discount_rate_per_year=0.08,
    maintenance_fraction_per_year=0.07,
    maintenance_usd_per_node_year=0.0,
    software_usd_per_gpu_year=0.0,
    colocation_usd_per_kw_month=184.0,
    reserved_kw=10.2,
    room_usd_per_month=0.0,
    training_kw=0.76 * 10.2,
    idle_kw=0.25 * 10.2,
    pue=1.4,
    usd_per_kwh=0.0826,
    demand_usd_per_kw_month=0.0,
    contracted_kw=0.0,
    fte_per_node=0.05,
    usd_per_fte_year=150_000.0,
    spares_fraction_of_nodes=0.0,
    availability=1.0,
    busy_fraction=0.7,
    lead_time_months=0.0,
)
"""The published check value: one 8x H200 server with network and storage in a colocation hall."""


def node(**changes: Any) -> OwnedInputs:
    """Return the node of the check value with some inputs changed."""
    return replace(CHECK, **changes)
