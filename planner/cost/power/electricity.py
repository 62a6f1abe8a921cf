"""Prices of a kilowatt-hour and of a contracted kilowatt, and PUE: from the plan, site, country or default."""

from __future__ import annotations

from planner.cost.power.country import country_of, country_tariff, in_household
from planner.cost.power.tariff import demand_price, energy_price
from planner.model.catalog import Catalog
from planner.model.owning.site import Site
from planner.model.owning.tariff import Tariff
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.cents import local_to_usd
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval

DEFAULT_COUNTRY = "US"
"""Country whose industry pays the default price."""


def electricity(site: Site | None, plan: Plan, catalog: Catalog) -> Quantity:
    """Return the price of a kWh: the plan's, the site's, the country's or the default; 0 if power is included.

    A household pays the residential price (`planner/cost/power/country.py`).
    """
    if includes_power(site):
        assert site is not None
        source = f"site {site.id}: colocation.power_included, so its price per kW holds the power"
        return to_quantity(Interval.exact(0.0), Unit.USD_PER_KWH, Basis.QUOTED, source, site.as_of)
    if plan.assumptions.electricity_usd_per_kwh is not None:
        return _from_plan(plan.assumptions.electricity_usd_per_kwh, Unit.USD_PER_KWH, "electricity_usd_per_kwh")
    local, currency = plan.assumptions.electricity_local_per_kwh, plan.currency
    if local is not None and currency is not None:
        where = "the plan: assumptions.electricity_local_per_kwh"
        return local_to_usd(local, currency, Unit.USD_PER_KWH, Basis.ASSUMED, where)
    tariff = _tariff(site, plan, catalog)
    if tariff is not None:
        return energy_price(tariff, plan.currency)
    if site is not None and site.electricity is not None:
        return site.electricity
    household = catalog.defaults.household_electricity
    return household if household is not None and in_household(site, plan, catalog) else catalog.defaults.electricity


def borrowed_price(site: Site, plan: Plan, catalog: Catalog) -> str | None:
    """Return a note if a business's price of a kWh is unknown in its country, so that the USA's price is used."""
    price, country = electricity(site, plan, catalog), country_of(site, plan, catalog)
    if country is None or country.id == DEFAULT_COUNTRY or price != catalog.defaults.electricity:
        return None
    return (
        f"a kWh counts {price.value:.3g} USD, as in the USA: what a business in {country.name} pays is not known; "
        "state assumptions.electricity_usd_per_kwh"
    )


def demand_charge(site: Site, plan: Plan, catalog: Catalog) -> Quantity:
    """Return the price of a contracted kW a month; 0 if the terms have none."""
    tariff = None if includes_power(site) else _tariff(site, plan, catalog)
    if tariff is not None:
        return demand_price(tariff, plan.currency)
    return to_quantity(
        Interval.exact(0.0), Unit.USD_PER_KW_MONTH, Basis.ASSUMED, "no tariff with a demand charge is named"
    )


def pue(site: Site | None, plan: Plan, catalog: Catalog) -> Quantity:
    """Return the power usage effectiveness: the plan's, the site's, a household's or the default."""
    if plan.assumptions.pue is not None:
        return _from_plan(plan.assumptions.pue, Unit.RATIO, "pue")
    if site is not None and site.pue is not None:
        return site.pue
    household = catalog.defaults.household_pue
    return household if household is not None and in_household(site, plan, catalog) else catalog.defaults.pue


def cloud_pue(plan: Plan, catalog: Catalog) -> Quantity:
    """Return the PUE of a rented machine: the plan's, otherwise that of large data centres. Only emissions need it."""
    if plan.assumptions.pue is not None:
        return _from_plan(plan.assumptions.pue, Unit.RATIO, "pue")
    return catalog.defaults.cloud_pue or catalog.defaults.pue


def includes_power(site: Site | None) -> bool:
    """Return whether the machine's place includes its power."""
    return site is not None and site.colocation is not None and site.colocation.power_included


def paid_in(site: Site | None, plan: Plan, catalog: Catalog) -> str:
    """Return the code of the currency in which the electricity of an owned machine is paid."""
    if includes_power(site) or plan.assumptions.electricity_usd_per_kwh is not None:
        return "USD"
    if plan.assumptions.electricity_local_per_kwh is not None and plan.currency is not None:
        return plan.currency.code
    tariff = _tariff(site, plan, catalog)
    return tariff.currency if tariff is not None else "USD"


def _tariff(site: Site | None, plan: Plan, catalog: Catalog) -> Tariff | None:
    given = plan.assumptions
    if given.electricity_usd_per_kwh is not None or given.electricity_local_per_kwh is not None:
        return None
    if given.tariff is not None:
        return catalog.find_tariff(given.tariff, where="assumptions.tariff")
    if site is not None and site.tariff is not None:
        if isinstance(site.tariff, Tariff):
            return site.tariff
        return catalog.find_tariff(site.tariff, where=f"site {site.id}: tariff")
    if site is None or site.electricity is not None:
        return None
    return country_tariff(site, plan, catalog)


def _from_plan(value: float, unit: Unit, key: str) -> Quantity:
    return to_quantity(Interval.exact(value), unit, Basis.ASSUMED, f"the plan: assumptions.{key}")
