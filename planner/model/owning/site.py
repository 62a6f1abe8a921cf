"""An owned machine and its cost of owning: `catalogs/sites/*.yaml`, or the user's own in the workspace."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from planner.model.base import Count, Day, Flag, Frozen, Id, Text
from planner.model.figure import (
    FractionFigure,
    MonthsFigure,
    PowerFigure,
    PowerQuantity,
    PueQuantity,
    RateFigure,
    ResidualFigure,
    ShareFigure,
    TariffQuantity,
    UsdFigure,
    YearsFigure,
)
from planner.model.hardware.storage import StorageRates
from planner.model.owning.acquisition import Acquisition, AlreadyOwned, Hold, Incentive, Lease, Purchase
from planner.model.owning.country import CountryCode
from planner.model.owning.tariff import Tariff
from planner.model.quantity import Quantity, Unit


class ResidualPoint(Frozen):
    """Sale value of a machine at an age, as a share of its price; negative if disposal costs money."""

    age_years: Annotated[float, Field(strict=True, ge=0, le=30)]
    """Age in years."""
    fraction: ResidualFigure
    """Share of the price that the machine still sells for."""


class Colocation(Frozen):
    """A place in a data centre, paid by the reserved power."""

    usd_per_kw_month: UsdFigure | None = None
    """USD for each reserved kW and month."""
    usd_per_kw_hour: UsdFigure | None = None
    """USD for each reserved kW and hour."""
    reserved_kw_per_node: PowerFigure | None = None
    """Reserved power per node. Default: the rated power of a node."""
    power_included: Flag
    """True if power is included: then no electricity and no PUE is charged in addition."""

    @model_validator(mode="after")
    def _one_price(self) -> Self:
        if (self.usd_per_kw_month is None) == (self.usd_per_kw_hour is None):
            raise ValueError("needs either usd_per_kw_month or usd_per_kw_hour")
        return self


class Room(Frozen):
    """A place of one's own, or a rented rack, paid by the month."""

    usd_per_month: UsdFigure
    """Rent of the whole site."""


class Staff(Frozen):
    """Staff who keep the machines running."""

    fte_per_node: FractionFigure | None = None
    """Full-time staff for each node."""
    usd_per_fte_year: UsdFigure | None = None
    """Cost of one of them, USD per year."""


class Utilisation(Frozen):
    """Planned shares of the hours of a year. Outages then reduce them by `availability`."""

    allocated: ShareFigure | None = None
    """Share that is promised to jobs."""
    busy: ShareFigure
    """Share in which accelerators work."""

    @model_validator(mode="after")
    def _busy_within_allocated(self) -> Self:
        if self.allocated is not None and self.busy.value > self.allocated.value:
            raise ValueError(f"busy {self.busy.value:g} is over allocated {self.allocated.value:g}")
        return self


class Tax(Frozen):
    """Taxes on profit. Without them only the view before tax is given."""

    rate: FractionFigure
    """Share of the profit."""
    source: Text
    """Source of the rate."""


class Site(Frozen):
    """An owned machine. Missing values come from `catalogs/defaults.yaml`, and the answer says so.

    With none of `purchase`, `lease` and `already_owned`, only the electricity of a training is known.
    """

    schema_version: Literal[1]
    """Version of the format."""
    id: Id
    """Name by which plans use it."""
    name: Text
    """Name of the site, for people."""
    node: Id
    """Machine, by its name in the catalog."""
    nodes: Count = 1
    """Number of such nodes."""
    purchase: Purchase | None = None
    """Terms of machines that are to be bought."""
    lease: Lease | None = None
    """Terms of leased machines."""
    already_owned: AlreadyOwned | None = None
    """Facts about machines that are paid for."""
    hold: Hold | None = None
    """Way to hold it for a campaign, if the plan does not say.

    Default: `purchase` is to be bought; all others, including a `lease`, which is signed, exist already.
    """
    life_years: YearsFigure | None = None
    """Life of a new machine."""
    residual: Annotated[tuple[ResidualPoint, ...], Field(max_length=50)] = ()
    """Sale value of a machine by its age."""
    discount_rate_per_year: RateFigure | None = None
    """Rate at which later money counts less, per year."""
    maintenance_fraction_per_year: FractionFigure | None = None
    """Maintenance as a share of the server's price."""
    maintenance_usd_per_node_year: UsdFigure | None = None
    """Maintenance of one node, USD per year."""
    software_usd_per_gpu_year: UsdFigure | None = None
    """Licences of one accelerator, USD per year."""
    power: PowerQuantity | None = None
    """Power of one node in training, if known. Default: from the rated power."""
    rated_kw: PowerFigure | None = None
    """Rated power of one node. Default: the node's data sheet."""
    idle_kw: PowerFigure | None = None
    """Power of one waiting node. Default: a share of the rated power."""
    electricity: TariffQuantity | None = None
    """Price of a kWh, in USD."""
    tariff: Id | Tariff | None = None
    """A tariff by its id, or written out, instead of `electricity`."""
    country: CountryCode | None = None
    """Country of the site, for wages and for the price of a kWh that neither of the two states."""
    household: Flag | None = None
    """True if its electricity is a household's.

    Default: true for a PC, unless it is in colocation or the plan names an available server.
    """
    contracted_kw_per_node: PowerFigure | None = None
    """Power for which a demand charge is paid. Default: rated power x PUE."""
    pue: PueQuantity | None = None
    """Power of the building over the power of its machines."""
    storage: Id | StorageRates | None = None
    """Storage for samples and checkpoints: a kind of `catalogs/storage.csv`, or its own rates."""
    colocation: Colocation | None = None
    """Terms of a place in a data centre."""
    room: Room | None = None
    """Cost of a place of one's own."""
    staff: Staff | None = None
    """Staff who keep the machines running."""
    spares_fraction_of_nodes: FractionFigure | None = None
    """Spare nodes, as a share of all."""
    availability: ShareFigure | None = None
    """Share of the year in which the machines work."""
    utilisation: Utilisation | None = None
    """Share of the hours in which the machines are used."""
    lead_time_months: MonthsFigure | None = None
    """Months from the order until the first training."""
    circuit_kw: PowerFigure | None = None
    """Power that the site's circuits carry. All nodes at rated power must stay under it."""
    rack_kw: PowerFigure | None = None
    """Largest power of one rack, in kW."""
    nodes_per_rack: Count = 1
    """Nodes of one rack."""
    incentives: tuple[Incentive, ...] = ()
    """Public incentives for the purchase."""
    tax: Tax | None = None
    """Tax on profit."""
    source: Text
    """Source of the figures."""
    as_of: Day
    """Day to which ages and the expiry of incentives are counted."""

    @property
    def acquisition(self) -> Acquisition | None:
        """Way in which the machines were acquired; None if the site does not say."""
        return next((kind for kind in Acquisition if getattr(self, kind.value) is not None), None)

    @model_validator(mode="after")
    def _units(self) -> Self:
        for name, unit in (("power", Unit.KW), ("electricity", Unit.USD_PER_KWH), ("pue", Unit.RATIO)):
            quantity: Quantity | None = getattr(self, name)
            if quantity is not None and quantity.unit is not unit:
                raise ValueError(f"{name} is in {quantity.unit}; write it in {unit}")
        return self

    @model_validator(mode="after")
    def _does_not_contradict_itself(self) -> Self:
        _at_most_one(self, "purchase", "lease", "already_owned")
        _at_most_one(self, "electricity", "tariff")
        _at_most_one(self, "colocation", "room")
        _at_most_one(self, "maintenance_fraction_per_year", "maintenance_usd_per_node_year")
        if self.pue is not None and self.pue.low < 1:
            raise ValueError(f"pue {self.pue.low:g} is under 1: a building draws at least what its machines draw")
        ages = [point.age_years for point in self.residual]
        if ages != sorted(set(ages)):
            raise ValueError("residual: age_years must rise from point to point")
        _check_hold(self)
        _check_colocation(self)
        _check_powers(self)
        _check_shares(self)
        if self.lease is not None and (self.life_years or self.residual or self.incentives):
            raise ValueError("lease: life_years, residual and incentives belong to the owner; take them out")
        return self


def _at_most_one(site: Site, *names: str) -> None:
    given = [name for name in names if getattr(site, name) is not None]
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} contradict each other: keep one")


def _check_hold(site: Site) -> None:
    if site.hold is Hold.USE:
        raise ValueError("hold: use belongs to a grant or a service; a site's machines are have, buy or, leased, rent")
    if site.hold is Hold.RENT and site.lease is None:
        raise ValueError("hold: rent needs a lease that is to be signed; a cloud's machines are offers, not sites")


def _check_colocation(site: Site) -> None:
    if site.colocation is None or not site.colocation.power_included:
        return
    charged = [name for name in ("electricity", "tariff", "contracted_kw_per_node") if getattr(site, name) is not None]
    if charged:
        raise ValueError(f"colocation.power_included is true, so {charged[0]} would charge the power twice: keep one")


def _check_powers(site: Site) -> None:
    rated, idle = site.rated_kw, site.idle_kw
    if rated is None:
        return
    if idle is not None and idle.value > rated.value:
        raise ValueError(f"idle_kw {idle.value:g} is over rated_kw {rated.value:g}")
    if site.power is not None and site.power.value > rated.value:
        raise ValueError(f"power {site.power.value:g} kW is over rated_kw {rated.value:g}")


def _check_shares(site: Site) -> None:
    used, available = site.utilisation, site.availability
    if used is None or available is None:
        return
    for name, share in (("allocated", used.allocated), ("busy", used.busy)):
        if share is not None and share.value > available.value:
            raise ValueError(f"utilisation.{name} {share.value:g} is over availability {available.value:g}")
