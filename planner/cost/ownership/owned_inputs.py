"""Inputs of the cost of owning a site: its own figures first, then the defaults, each named."""

from __future__ import annotations

from planner.cost.ownership.lead_time import lead_time
from planner.cost.ownership.resolved_site import resale_share
from planner.cost.power.country import country_of
from planner.cost.power.electricity import demand_charge, electricity, includes_power, pue
from planner.model.catalog import Catalog
from planner.model.figure import Figure
from planner.model.hardware.machines import Accelerator, Node
from planner.model.owning.acquisition import Acquisition, AlreadyOwned
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval
from planner.quantity.time_units import DAYS_PER_YEAR, HOURS_PER_MONTH, MONTHS_PER_YEAR

YEAR_BY_YEAR = 1.0
"""Years over which a machine at the end of its life is considered."""


SWITCHED_OFF = "assumed to be switched off when it does not train (idle_kw states what it draws at rest)"
"""Source of the idle power of a machine outside a rack."""


def operates_rack(site: Site) -> bool:
    """Return whether a rack must be operated: in colocation, in the default place, or with rack_kw stated."""
    return site.room is None or site.rack_kw is not None


class CollectedInputs:
    """Collected inputs of one site. A field that is never set is 0: the site has no such cost."""

    def __init__(self, site: Site, plan: Plan, catalog: Catalog) -> None:
        self.site, self.plan, self.catalog, self.given = site, plan, catalog, catalog.owning_defaults
        self.quantities: dict[str, Quantity] = {}
        self.defaults: list[str] = []
        self.notes: list[str] = []
        self.curve = site.residual
        self.age_years = 0.0

    def take(self, name: str, own: Figure | None, unit: Unit, *, default: Figure | None = None, key: str = "") -> float:
        """Take the site's own figure, otherwise the default, and record which."""
        if own is None:
            assert default is not None
            self.defaults.append(name)
            quantity = default.quantity(unit, where=f"default: {name}")
        else:
            quantity = own.quantity(unit, where=f"site {self.site.id}: {key or name}")
        self.quantities[name] = quantity
        return quantity.value

    def capital(self, accelerator: Accelerator) -> str | None:
        """Set the capital tied up, for how long, and the sale value at the end. Return what is missing."""
        site = self.site
        if site.acquisition is None:
            return "it says neither purchase, lease nor already_owned"
        self.take(
            "discount_rate_per_year",
            site.discount_rate_per_year,
            Unit.RATIO,
            default=self.given.discount_rate_per_year,
        )
        if not self.curve and site.lease is None:
            self.curve = self.given.residual
            self.defaults.append("residual")
        if site.purchase is not None:
            bought = site.purchase
            self.take("server_usd", bought.server_usd, Unit.USD, key="purchase.server_usd")
            for name in ("network_fraction_of_capex", "storage_fraction_of_capex"):
                own, default = getattr(bought, name), getattr(self.given, name)
                self.take(name, own, Unit.RATIO, default=default, key=f"purchase.{name}")
            self.take("years", site.life_years, Unit.YEARS, default=self.given.life_years, key="life_years")
            self._residual()
            if accelerator.support_ended is not None:
                self.notes.append(
                    f"it may serve less than its life: software support has ended: {accelerator.support_ended}"
                )
        elif site.lease is not None:
            self.take("lease_usd_per_month", site.lease.usd_per_month, Unit.USD, key="lease.usd_per_month")
            term = site.lease.term_months
            self.quantities["years"] = self._own(term / MONTHS_PER_YEAR, Unit.YEARS, f"lease.term_months {term}")
            if not site.lease.maintenance_included and site.maintenance_usd_per_node_year is None:
                return "lease says neither maintenance_included: true nor is there maintenance_usd_per_node_year"
        else:
            assert site.already_owned is not None
            return self._already_owned(site.already_owned, accelerator)
        return None

    def _already_owned(self, owned: AlreadyOwned, accelerator: Accelerator) -> str | None:
        life = self.site.life_years or self.given.life_years
        if owned.bought_on is not None:
            self.age_years = (self.site.as_of - owned.bought_on).days / DAYS_PER_YEAR
        elif owned.remaining_life_years is not None:
            self.age_years = max(0.0, life.value - owned.remaining_life_years.value)
        else:
            return "already_owned says neither bought_on nor remaining_life_years"
        if owned.resale_usd is None and owned.paid_usd is None:
            return "already_owned says neither resale_usd nor paid_usd"
        if owned.paid_usd is not None:
            self.take("server_usd", owned.paid_usd, Unit.USD, key="already_owned.paid_usd")
        if owned.resale_usd is not None:
            resale = self.take("resale_usd", owned.resale_usd, Unit.USD, key="already_owned.resale_usd")
            if owned.paid_usd is None and resale > 0:
                self.take("server_usd", owned.resale_usd, Unit.USD, key="already_owned.resale_usd")
        else:
            self._resale_by_age()
        self._years_left(owned, life, accelerator)
        self._residual()
        return None

    def _resale_by_age(self) -> None:
        paid = self.quantities["server_usd"]
        share = resale_share(self.curve, age_years=0.0, years=self.age_years)
        usd = Interval(paid.value * share.value, paid.value * share.low, paid.value * share.high)
        source = f"{paid.value:,.0f} USD paid x {share.value:.3g} after {self.age_years:.1f} years; {self._curve()}"
        self.quantities["resale_usd"] = to_quantity(usd, Unit.USD, Basis.MODELLED, source, self.site.as_of)

    def _years_left(self, owned: AlreadyOwned, life: Figure, accelerator: Accelerator) -> None:
        left = owned.remaining_life_years
        if left is not None and left.value > 0:
            self.take("years", left, Unit.YEARS, key="already_owned.remaining_life_years")
            return
        years, why = life.value - self.age_years, f"{life.value:g} years of life - {self.age_years:.1f} of age"
        if left is not None:
            years, why = 0.0, "already_owned.remaining_life_years 0"
        elif accelerator.support_ended is not None:
            years, why = 0.0, f"software support has ended: {accelerator.support_ended}"
        if years < YEAR_BY_YEAR:
            self.notes.append(f"less than a year of life is left, so it is looked at one year at a time: {why}")
            years, why = YEAR_BY_YEAR, f"one year at a time: {why}"
        if self.site.life_years is None and left is None and accelerator.support_ended is None:
            self.defaults.append("life_years")
        self.quantities["years"] = self._own(years, Unit.YEARS, why)

    def _residual(self) -> None:
        years = self.quantities["years"].value
        share = resale_share(self.curve, age_years=self.age_years, years=years)
        base = "today's resale" if self.site.already_owned else "capex"
        source = f"{share.value:.3g} of {base} after {years:.3g} more years; {self._curve()}"
        nearest = min(self.curve, key=lambda point: abs(point.age_years - self.age_years - years)).fraction
        self.quantities["residual_fraction"] = to_quantity(share, Unit.RATIO, nearest.basis, source, nearest.as_of)

    def _curve(self) -> str:
        return f"site {self.site.id}: residual" if self.site.residual else "default: residual"

    def keeping(self) -> None:
        """Set the cost of keeping the machine running: maintenance, software, staff, spares."""
        site, given = self.site, self.given
        if site.maintenance_usd_per_node_year is not None:
            self.take("maintenance_usd_per_node_year", site.maintenance_usd_per_node_year, Unit.USD_PER_YEAR)
        elif site.lease is None:
            own, default = site.maintenance_fraction_per_year, given.maintenance_fraction_per_year
            self.take("maintenance_fraction_per_year", own, Unit.RATIO, default=default)
        own, default = site.software_usd_per_gpu_year, given.software_usd_per_gpu_year
        self.take("software_usd_per_gpu_year", own, Unit.USD_PER_YEAR, default=default)
        self._people()
        self.take(
            "spares_fraction_of_nodes",
            site.spares_fraction_of_nodes,
            Unit.RATIO,
            default=given.spares_fraction_of_nodes,
        )

    def _people(self) -> None:
        """Set the cost of staff if the site states it or a rack is operated, at the country's wages."""
        site, staff = self.site, self.site.staff
        if staff is None and not operates_rack(site):
            return
        own = staff.fte_per_node if staff else None
        self.take("fte_per_node", own, Unit.RATIO, default=self.given.fte_per_node, key="staff.fte_per_node")
        wages, usual, key = staff.usd_per_fte_year if staff else None, self.given.usd_per_fte_year, "usd_per_fte_year"
        self.take(key, wages, Unit.USD_PER_YEAR, default=usual, key=f"staff.{key}")
        country = country_of(site, self.plan, self.catalog)
        if wages is None and country is not None:
            us = self.quantities[key]
            each = interval(us, Unit.USD_PER_YEAR).scaled(country.wages_of_us_fraction)
            source = f"{us.value:,.0f} USD x {country.wages_of_us_fraction:g} in {country.name} ({country.source})"
            self.quantities[key] = derived(each, Unit.USD_PER_YEAR, us, source=f"{source}; {us.source}")

    def place(self, rated_kw: float) -> None:
        """Set the cost of the place: a room of one's own, or colocation by reserved power."""
        site = self.site
        if site.room is not None:
            room = site.room.usd_per_month.quantity(Unit.USD, where=f"site {site.id}: room.usd_per_month")
            each = interval(room, Unit.USD).scaled(1 / site.nodes)
            source = f"{room.value:g} USD a month / {site.nodes} node(s); {room.source}"
            self.quantities["room_usd_per_month"] = derived(each, Unit.USD, room, source=source)
            return
        terms = site.colocation
        if terms is not None and terms.usd_per_kw_hour is not None:
            hourly = terms.usd_per_kw_hour.quantity(
                Unit.USD_PER_HOUR, where=f"site {site.id}: colocation.usd_per_kw_hour"
            )
            monthly = interval(hourly, Unit.USD_PER_HOUR).scaled(HOURS_PER_MONTH)
            source = f"{hourly.value:g} USD a kW-hour x 730.5 h a month; {hourly.source}"
            self.quantities["colocation_usd_per_kw_month"] = derived(
                monthly, Unit.USD_PER_KW_MONTH, hourly, source=source
            )
        else:
            self.take(
                "colocation_usd_per_kw_month",
                terms.usd_per_kw_month if terms else None,
                Unit.USD_PER_KW_MONTH,
                default=self.given.colocation_usd_per_kw_month,
                key="colocation.usd_per_kw_month",
            )
        reserved = terms.reserved_kw_per_node if terms else None
        self.quantities["reserved_kw"] = self._kw(reserved, rated_kw, "colocation.reserved_kw_per_node", "rated power")

    def power(self, node: Node, rated_kw: float, training_power: Quantity | None) -> None:
        """Set the power of a node and its cost."""
        site, plan, defaults = self.site, self.plan, self.catalog.defaults
        rated = self._kw(site.rated_kw, rated_kw, "rated_kw", f"data sheet of {node.id}")
        training, at_rest = training_power or site.power, defaults.idle_power_fraction
        if training is not None:
            self.quantities["training_kw"] = training
        else:
            self._share_of_rated("training_kw", rated, rated_kw, defaults.training_power_fraction)
        if site.idle_kw is not None:
            self.take("idle_kw", site.idle_kw, Unit.KW)
        elif operates_rack(site):
            self._share_of_rated("idle_kw", rated, rated_kw, at_rest)
        else:
            self.defaults.append("idle_kw")
            off = to_quantity(Interval.exact(0.0), Unit.KW, Basis.ASSUMED, SWITCHED_OFF, at_rest.as_of)
            self.quantities["idle_kw"] = off
        building = pue(site, plan, self.catalog)
        self.quantities["pue"] = building
        if building in (defaults.pue, defaults.household_pue):
            self.defaults.append("pue")
        price = electricity(site, plan, self.catalog)
        self.quantities["usd_per_kwh"] = price
        if price in (defaults.electricity, defaults.household_electricity):
            self.defaults.append("electricity")
        demand = demand_charge(site, plan, self.catalog)
        if demand.value > 0:
            self.quantities["demand_usd_per_kw_month"] = demand
            what = "rated power x PUE"
            self.quantities["contracted_kw"] = self._kw(
                site.contracted_kw_per_node, rated_kw * building.value, "contracted_kw_per_node", what
            )
        if includes_power(site):
            self.notes.append("the place includes power: no electricity is charged beside it")

    def _share_of_rated(self, name: str, rated: Quantity, rated_kw: float, share: Quantity) -> None:
        """Set a power that is assumed as a share of the rated one."""
        self.defaults.append(name)
        drawn = interval(share, Unit.RATIO).scaled(rated_kw)
        source = f"{rated_kw:g} kW rated ({rated.source}) x {share.value:g}; {share.source}"
        self.quantities[name] = derived(drawn, Unit.KW, rated, share, source=source)

    def use(self, node: Node, accelerator: Accelerator) -> None:
        """Set how much of the year the machine works."""
        site, given = self.site, self.given
        self.take("availability", site.availability, Unit.RATIO, default=given.availability)
        busy = site.utilisation.busy if site.utilisation else None
        self.take("busy_fraction", busy, Unit.RATIO, default=given.busy, key="utilisation.busy")
        if site.acquisition is Acquisition.ALREADY_OWNED and site.lead_time_months is None:
            self.quantities["lead_time_months"] = self._own(0.0, Unit.MONTHS, "already_owned: it runs today")
        else:
            self.quantities["lead_time_months"] = lead_time(site, node, accelerator, self.catalog)
            self.defaults += ["lead_time_months"] if site.lead_time_months is None else []

    def _kw(self, own: Figure | None, fallback_kw: float, key: str, what: str) -> Quantity:
        if own is not None:
            return own.quantity(Unit.KW, where=f"site {self.site.id}: {key}")
        return to_quantity(Interval.exact(fallback_kw), Unit.KW, Basis.QUOTED, what, self.site.as_of)

    def _own(self, value: float, unit: Unit, why: str) -> Quantity:
        return to_quantity(Interval.exact(value), unit, Basis.QUOTED, f"site {self.site.id}: {why}", self.site.as_of)
