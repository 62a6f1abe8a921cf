"""Defaults for values that neither the plan nor the site states: `catalogs/defaults.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from planner.model.base import Count, Frozen, Id
from planner.model.figure import (
    FractionFigure,
    MonthsFigure,
    PowerFigure,
    RateFigure,
    ShareFigure,
    UsdFigure,
    YearsFigure,
)
from planner.model.owning.site import ResidualPoint
from planner.model.quantity import Quantity, Unit

SMALLEST_DEFAULT = 1e-9
LARGEST_DEFAULT = 1e9
"""Bounds, both far beyond anything real."""


def _checked_size(quantity: Quantity) -> Quantity:
    for name in ("value", "low", "high"):
        number: float = getattr(quantity, name)
        if number and not SMALLEST_DEFAULT <= number <= LARGEST_DEFAULT:
            raise ValueError(
                f"{name} must be 0, or at least {SMALLEST_DEFAULT:g} and at most {LARGEST_DEFAULT:g}, has {number:g}"
            )
    return quantity


DefaultQuantity = Annotated[Quantity, AfterValidator(_checked_size)]


def check_units(block: BaseModel, units: Mapping[str, Unit]) -> None:
    """Raise ValueError if a quantity of the block is not in its unit. One that is not listed is a ratio."""
    for name, quantity in quantities(block).items():
        unit = units.get(name, Unit.RATIO)
        if quantity.unit is not unit:
            raise ValueError(f"{name} is in {quantity.unit}; write it in {unit}")


def quantities(block: BaseModel) -> dict[str, Quantity]:
    """Return the stated quantities of a block, by name."""
    given = {name: getattr(block, name) for name in type(block).model_fields}
    return {name: value for name, value in given.items() if isinstance(value, Quantity)}


FREE_OF_SOME = ("egress_usd_per_gb", "ingress_usd_per_gb")
"""Rates that some providers do not charge."""


class BillDefaults(Frozen):
    """Default figures, each with its range, basis, source and date."""

    setup_hours: DefaultQuantity
    idle_tail_hours: DefaultQuantity
    failed_launch_fraction: DefaultQuantity
    upload_mbit_per_s: DefaultQuantity
    staging_gb_per_s: DefaultQuantity
    """Rate from the provider's storage to the nodes of one training, which are billed meanwhile."""
    bytes_per_token: DefaultQuantity
    checkpoint_bytes_per_parameter: DefaultQuantity
    weight_bytes_per_parameter: DefaultQuantity
    checkpoints_kept: DefaultQuantity
    keep_days: DefaultQuantity
    support_fraction: DefaultQuantity
    bytes_per_image: DefaultQuantity | None = None
    """Bytes of an image; null only in a user's own file. Data sets of images then have no size."""
    storage_usd_per_gb_month: DefaultQuantity | None = None
    """Rate of a provider without a known one, like the next two fields; null in older files and locks, which do not
    price it.
    """
    egress_usd_per_gb: DefaultQuantity | None = None
    ingress_usd_per_gb: DefaultQuantity | None = None

    @model_validator(mode="after")
    def _units(self) -> Self:
        units = {
            "setup_hours": Unit.HOURS,
            "idle_tail_hours": Unit.HOURS,
            "upload_mbit_per_s": Unit.MBIT_PER_S,
            "staging_gb_per_s": Unit.GB_PER_S,
            "bytes_per_token": Unit.BYTES,
            "bytes_per_image": Unit.BYTES,
            "checkpoint_bytes_per_parameter": Unit.BYTES,
            "weight_bytes_per_parameter": Unit.BYTES,
            "keep_days": Unit.DAYS,
            "storage_usd_per_gb_month": Unit.USD_PER_GB_MONTH,
            "egress_usd_per_gb": Unit.USD_PER_GB,
            "ingress_usd_per_gb": Unit.USD_PER_GB,
        }
        check_units(self, units)
        for name, quantity in quantities(self).items():
            if quantity.low == 0 and quantity.value > 0 and name not in FREE_OF_SOME:
                raise ValueError(f"{name} must be over 0 in its whole range, or exactly 0")
        return self


class PriceDefaults(Frozen):
    """Factors by which a price may lie higher or lower than the one on file."""

    stale_factor: DefaultQuantity
    """Factor for a firm price that is `stale_after` days older than its kind allows, or more."""
    stale_after: DefaultQuantity
    """Days in which the uncertainty of a firm price grows from zero to `stale_factor`."""
    spot_factor: DefaultQuantity
    """Factor for a spot or marketplace price that was observed once, `spot_after` days before its kind allows, or more.
    """
    spot_after: DefaultQuantity
    """Days in which the uncertainty of a spot or marketplace price grows from zero to `spot_factor`."""

    @model_validator(mode="after")
    def _factors(self) -> Self:
        check_units(self, {"stale_after": Unit.DAYS, "spot_after": Unit.DAYS})
        for name, factor in quantities(self).items():
            if name in ("stale_after", "spot_after"):
                continue
            if factor.unit is not Unit.RATIO or factor.low < 1:
                raise ValueError(f"{name} is a factor: write it in ratio, 1 or more in its whole range")
        return self

    def firm_factor(self, days_over: float) -> float:
        """Return the factor by which a firm price may have moved when it is this many days older than its kind allows.

        factor = stale_factor ^ min(1, days over / stale_after): the uncertainty grows evenly, and does not jump.
        """
        return _grown(self.stale_factor.value, days_over / self.stale_after.value)

    def fast_factor(self, days_over: float) -> float:
        """Return the factor for a spot or marketplace price, which moves further in fewer days."""
        return _grown(self.spot_factor.value, days_over / self.spot_after.value)


def _grown(factor: float, share: float) -> float:
    return float(factor ** min(1.0, max(0.0, share)))


class OwningDefaults(Frozen):
    """Values for the keys that a site may leave out, under the same names and in the same units."""

    life_years: YearsFigure
    residual: Annotated[tuple[ResidualPoint, ...], Field(min_length=1)]
    discount_rate_per_year: RateFigure
    network_fraction_of_capex: FractionFigure
    storage_fraction_of_capex: FractionFigure
    maintenance_fraction_per_year: FractionFigure
    software_usd_per_gpu_year: UsdFigure
    colocation_usd_per_kw_month: UsdFigure
    fte_per_node: FractionFigure
    usd_per_fte_year: UsdFigure
    spares_fraction_of_nodes: FractionFigure
    availability: ShareFigure
    busy: ShareFigure
    lead_time_months: MonthsFigure


class HoldingDefaults(Frozen):
    """Defaults of machines that are to be bought, and of those that a plan names only by their accelerator."""

    lead_time_months_of_pc: MonthsFigure
    """Lead time of a PC. A server's is `owning.lead_time_months`."""
    selling_fraction: FractionFigure
    """Share of a used machine's price that is lost in selling it."""
    pc_host_kw: PowerFigure
    """Power of a PC without its accelerators."""
    server_host_kw: PowerFigure
    """Power of a server without its accelerators, if these are cards or few."""
    board_host_fraction: RateFigure
    """Power of a server with a board of more than four accelerators, as a share of their power."""


class GoodputDefaults(Frozen):
    """Default figures, each with its range, basis, source and date; storage by its id in `catalogs/storage.csv`."""

    gpu_hours_per_failure: DefaultQuantity
    """Accelerator-hours between failures, for one accelerator."""
    node_hours_per_preemption: DefaultQuantity
    """Node-hours between preemptions, for one node."""
    restart_hours: DefaultQuantity
    longest_interval_hours: DefaultQuantity
    """Longest interval between checkpoints. The best one is used if it is shorter."""
    host_copy_gb_per_s: DefaultQuantity
    """Rate from one accelerator to the host's memory."""
    evaluation_fraction: DefaultQuantity
    sample_storage: Id
    """Storage of the samples."""
    checkpoint_storage: Id
    """Storage of the checkpoints."""

    @model_validator(mode="after")
    def _units(self) -> Self:
        units = {
            "gpu_hours_per_failure": Unit.HOURS,
            "node_hours_per_preemption": Unit.HOURS,
            "restart_hours": Unit.HOURS,
            "longest_interval_hours": Unit.HOURS,
            "host_copy_gb_per_s": Unit.GB_PER_S,
        }
        check_units(self, units)
        for name, quantity in quantities(self).items():
            if name != "evaluation_fraction" and quantity.low == 0:
                raise ValueError(f"{name} must be over 0 in its whole range")
        return self


class Defaults(Frozen):
    """Defaults for values that neither the plan nor the site states: `catalogs/defaults.yaml`."""

    schema_version: Count
    electricity: DefaultQuantity
    household_electricity: DefaultQuantity | None = None
    """Household price in a country without a stated one; null in a user's own file or an old lock."""
    pue: DefaultQuantity
    household_pue: DefaultQuantity | None = None
    """PUE of a machine in a household; null in a user's own file or an old lock, where `pue` counts."""
    idle_power_fraction: DefaultQuantity
    training_power_fraction: DefaultQuantity
    """Share of its rated power that a node draws in training."""
    cloud_pue: DefaultQuantity | None = None
    """PUE of rented machines; null only in a user's own file."""
    bill: BillDefaults | None = None
    goodput: GoodputDefaults | None = None
    owning: OwningDefaults | None = None
    holding: HoldingDefaults | None = None
    prices: PriceDefaults | None = None
    """Price defaults.

    These five are null only in a user's own file (the bundled block is then used), the last also in an older lock.
    """

    @model_validator(mode="after")
    def _units_and_ends(self) -> Self:
        check_units(self, {"electricity": Unit.USD_PER_KWH, "household_electricity": Unit.USD_PER_KWH})
        for name, quantity in quantities(self).items():
            if name.endswith("pue") and quantity.low < 1:
                raise ValueError(f"{name} must be at least 1 in its whole range")
            if name.endswith("fraction") and quantity.high > 1:
                raise ValueError(f"{name} must be at most 1 in its whole range")
        return self
