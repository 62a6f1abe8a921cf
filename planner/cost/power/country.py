"""Country of an owned machine, whether it is in a household, and the price of a kWh there."""

from __future__ import annotations

from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.owning.country import Country
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.plan import Plan
from planner.scenario.machine import machine_named
from planner.scenario.own_machine import is_own_pc, is_pc


def country_of(site: Site, plan: Plan, catalog: Catalog) -> Country | None:
    """Return the country that the plan states, otherwise the site's, otherwise that of the currency; None if unknown.

    The euro is taken as the European Union.
    """
    if plan.assumptions.country is not None:
        return catalog.find_country(plan.assumptions.country, where="assumptions.country")
    if site.country is not None:
        return catalog.find_country(site.country, where=f"site {site.id}: country")
    if plan.currency is None:
        return None
    same = [country for country in catalog.countries.values() if country.currency == plan.currency.code]
    return next((country for country in same if country.area is None), next(iter(same), None))


def in_household(site: Site | None, plan: Plan, catalog: Catalog) -> bool:
    """Return whether the machine uses a household's electricity: as its site says, otherwise for a PC in a room.

    A server is in a laboratory or a company. A PC beside one pays the same price as the server.
    """
    if site is None:
        return False
    if site.household is not None:
        return site.household
    node = catalog.nodes.get(site.node)
    accelerator = catalog.accelerators.get(node.accelerator) if node is not None else None
    pc = is_own_pc(site.node, catalog) or (
        node is not None and accelerator is not None and is_pc(accelerator, node.accelerators)
    )
    return pc and site.colocation is None and not _has_server(plan, catalog)


def _has_server(plan: Plan, catalog: Catalog) -> bool:
    """Return whether the plan names an available machine that is no PC."""
    own = [option for option in plan.options if option.offer is None and option.run is None]
    machines = [machine_named(option, catalog, where="options") for option in own]
    return any(
        machine.hold is Hold.HAVE and not is_pc(machine.accelerator, machine.node.accelerators) for machine in machines
    )


def country_tariff(site: Site, plan: Plan, catalog: Catalog) -> Tariff | None:
    """Return the price for a household or a business in its country, or in the area around it; None if unknown."""
    country = country_of(site, plan, catalog)
    if country is None:
        return None
    customers = "household" if in_household(site, plan, catalog) else "business"
    rows = {row.country: row for row in catalog.electricity_prices.values() if row.customers == customers}
    row = rows.get(country.id) or rows.get(country.area or "")
    return None if row is None else row.tariff
