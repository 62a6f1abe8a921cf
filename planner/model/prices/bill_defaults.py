"""Defaults of a bill: the block `bill` of `catalogs/defaults.yaml`."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from planner.model.base import Frozen
from planner.model.default_quantity import DefaultQuantity, check_units, quantities
from planner.model.quantity import Unit

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
