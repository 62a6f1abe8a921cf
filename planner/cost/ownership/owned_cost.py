"""Yearly cost of owning one node, part by part, and of an hour of its accelerators, in full and at the margin."""

from __future__ import annotations

from dataclasses import dataclass, fields

from planner.model.owning.acquisition import Acquisition
from planner.quantity.formula import expm1, formula, log1p, total
from planner.quantity.time_units import HOURS_PER_YEAR, MONTHS_PER_YEAR


@dataclass(frozen=True)
class OwnedInputs:
    """All inputs of the cost of owning one node, as plain numbers with units in their names."""

    acquisition: Acquisition
    gpus: int
    server_usd: float
    """Price of the node: paid, to be paid, or (already owned, price unknown) its sale value."""
    network_fraction_of_capex: float
    storage_fraction_of_capex: float
    grants_usd: float
    resale_usd: float
    """Sale value today of a machine that is already owned."""
    lease_usd_per_month: float
    years: float
    """Period of the calculation: its life, the rest of it, or the term of the lease."""
    residual_fraction: float
    """Sale value at the end, as a share of capex (of `resale_usd` if already owned)."""
    discount_rate_per_year: float
    maintenance_fraction_per_year: float
    maintenance_usd_per_node_year: float
    software_usd_per_gpu_year: float
    colocation_usd_per_kw_month: float
    reserved_kw: float
    room_usd_per_month: float
    """Share of one node."""
    training_kw: float
    idle_kw: float
    pue: float
    usd_per_kwh: float
    """Price of a kWh; 0 if the place includes power."""
    demand_usd_per_kw_month: float
    contracted_kw: float
    fte_per_node: float
    usd_per_fte_year: float
    spares_fraction_of_nodes: float
    availability: float
    busy_fraction: float
    lead_time_months: float


@dataclass(frozen=True)
class AnnualCost:
    """USD a year of one node. The parts add up to `total`; `residual` is negative if the machine can be sold."""

    recovery: float
    residual: float
    lease: float
    spares: float
    maintenance: float
    software: float
    colocation: float
    room: float
    staff: float
    power: float
    demand: float

    @property
    def total(self) -> float:
        """Sum of all parts."""
        return total(getattr(self, part.name) for part in fields(self))


@formula("1/year")
def recovery_factor(*, rate_per_year: float, years: float) -> float:
    """Return the share of a sum that repays it with interest in equal yearly amounts.

    factor = rate / (1 - (1 + rate)^-years), and 1 / years at rate 0

    Source: capital recovery factor, e.g. Park, Contemporary Engineering Economics, "equal-payment series".
    """
    if rate_per_year == 0:
        return 1 / years
    return rate_per_year / -expm1(-years * log1p(rate_per_year))


@formula("USD")
def capex_usd(inputs: OwnedInputs) -> float:
    """Return the capital tied up in one node with its share of network and storage.

    purchase: server price / (1 - network share - storage share), the shares being of the whole
    already owned: its sale value today        lease: 0
    """
    if inputs.acquisition is Acquisition.PURCHASE:
        return inputs.server_usd / (1 - inputs.network_fraction_of_capex - inputs.storage_fraction_of_capex)
    return inputs.resale_usd if inputs.acquisition is Acquisition.ALREADY_OWNED else 0.0


@formula("kW")
def average_kw(inputs: OwnedInputs) -> float:
    """Return the average power of one node, before PUE.

    kW = training kW x busy share + idle kW x (1 - busy share)
    """
    return inputs.training_kw * inputs.busy_fraction + inputs.idle_kw * (1 - inputs.busy_fraction)


@formula("USD/year")
def running_cost(inputs: OwnedInputs) -> AnnualCost:
    """Return the yearly cost of keeping one node without its purchase: bills that are due as long as it exists.

    lease = USD a month x 12; maintenance = share x server price + fixed; software = USD a GPU-year x GPUs
    colocation = USD a kW-month x reserved kW x 12; room = USD a month x 12; staff = FTE x USD a FTE-year
    power = average kW x PUE x 8,766 x USD/kWh; demand = contracted kW x USD a kW-month x 12
    spares = share of nodes x lease
    """
    lease = inputs.lease_usd_per_month * MONTHS_PER_YEAR
    return AnnualCost(
        recovery=0.0,
        residual=0.0,
        lease=lease,
        spares=inputs.spares_fraction_of_nodes * lease,
        maintenance=inputs.maintenance_fraction_per_year * inputs.server_usd + inputs.maintenance_usd_per_node_year,
        software=inputs.software_usd_per_gpu_year * inputs.gpus,
        colocation=inputs.colocation_usd_per_kw_month * inputs.reserved_kw * MONTHS_PER_YEAR,
        room=inputs.room_usd_per_month * MONTHS_PER_YEAR,
        staff=inputs.fte_per_node * inputs.usd_per_fte_year,
        power=average_kw(inputs) * inputs.pue * HOURS_PER_YEAR * inputs.usd_per_kwh,
        demand=inputs.contracted_kw * inputs.demand_usd_per_kw_month * MONTHS_PER_YEAR,
    )


@formula("USD/year")
def annual_cost(inputs: OwnedInputs) -> AnnualCost:
    """Return the full yearly cost of one node, as equal yearly amounts over its life.

    recovery = (capex - grants) x factor; residual = -capex x residual share / (1 + rate)^years x factor
    spares = share of nodes x (recovery + residual + lease); the rest as in `running_cost`

    Leaves out interest within the year and insurance (under 1 % of capex a year).
    Source: annualised cost of ownership; the parts are those of arXiv 2405.21015, section 2.
    """
    running = running_cost(inputs)
    factor = recovery_factor(rate_per_year=inputs.discount_rate_per_year, years=inputs.years)
    capex = capex_usd(inputs)
    recovery = (capex - inputs.grants_usd) * factor
    residual = -capex * inputs.residual_fraction / (1 + inputs.discount_rate_per_year) ** inputs.years * factor
    spares = running.spares + inputs.spares_fraction_of_nodes * (recovery + residual)
    parts = {part.name: getattr(running, part.name) for part in fields(running)}
    return AnnualCost(**parts | {"recovery": recovery, "residual": residual, "spares": spares})


@formula("GPU-h", inputs={"gpus": ("", "accelerators of a node: catalogs/hardware/nodes.csv or the plan")})
def busy_gpu_hours_per_year(inputs: OwnedInputs) -> float:
    """Return the hours a year in which accelerators of one node work.

    hours = GPUs x 8,766 x busy share x availability

    The busy share is a plan; outages reduce it by the availability. A measured share contains its outages already: use
    availability 1 with it.
    """
    return inputs.gpus * HOURS_PER_YEAR * inputs.busy_fraction * inputs.availability


@formula("USD/GPU-h")
def usd_per_busy_gpu_hour(inputs: OwnedInputs) -> float:
    """Return the full cost of an hour of useful work of one accelerator: annual cost / busy GPU-hours."""
    return annual_cost(inputs).total / busy_gpu_hours_per_year(inputs)


@formula("USD/GPU-h")
def marginal_usd_per_busy_gpu_hour(inputs: OwnedInputs) -> float:
    """Return the cost that one more busy hour adds to the bills of an existing machine: its electricity.

    USD = training kW x PUE x USD/kWh / GPUs

    It has no purchase, place, staff or demand charge, and counts the whole power, idle power included.
    """
    return inputs.training_kw * inputs.pue * inputs.usd_per_kwh / inputs.gpus
