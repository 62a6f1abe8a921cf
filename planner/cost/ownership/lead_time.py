"""Time from ordering a machine to its first job."""

from __future__ import annotations

import math

from planner.model.catalog import Catalog
from planner.model.hardware.machines import Accelerator, Node
from planner.model.owning.site import Site
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.time_units import DAYS_PER_MONTH
from planner.scenario.own_machine import is_pc


def lead_time(site: Site, node: Node, accelerator: Accelerator, catalog: Catalog) -> Quantity:
    """Return the months that the site states, otherwise the default for a PC (`is_pc`) or a server."""
    if site.lead_time_months is not None:
        return site.lead_time_months.quantity(Unit.MONTHS, where=f"site {site.id}: lead_time_months")
    if is_pc(accelerator, node.accelerators):
        usual, name = catalog.holding_defaults.lead_time_months_of_pc, "holding.lead_time_months_of_pc"
    else:
        usual, name = catalog.owning_defaults.lead_time_months, "lead_time_months"
    return usual.quantity(Unit.MONTHS, where=f"default: {name}")


def lead_days(months: Quantity) -> Quantity:
    """Return whole days: ceil(months x 30.4375)."""
    days = interval(months, Unit.MONTHS).scaled(DAYS_PER_MONTH)
    whole = type(days)(*(float(math.ceil(value - 1e-9)) for value in days))
    return derived(
        whole,
        Unit.DAYS,
        months,
        source=f"{months.value:g} months x {DAYS_PER_MONTH:g} days, rounded up; {months.source}",
    )
