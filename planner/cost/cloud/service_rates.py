"""A provider's rates for gigabytes kept or moved, or the reason why a rate is unknown."""

from __future__ import annotations

from planner.model.catalog import Catalog
from planner.model.defaults import BillDefaults
from planner.model.prices.service import Service, ServiceRate
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval

GIB_IN_GB = 2**30 / 1e9


def find_rate(provider: str, service: Service, catalog: Catalog) -> ServiceRate | None:
    """Return the provider's row: the user's own before the bundled one."""
    return next((row for row in catalog.services if (row.provider, row.service) == (provider, service)), None)


def rate_quantity(row: ServiceRate) -> Quantity | None:
    """Return a row's rate for a GB of 10^9 bytes; None if it has no price. USD/GB = USD/GiB / 1.073741824."""
    if row.usd is None:
        return None
    low = row.usd if row.low_usd is None else row.low_usd
    high = row.usd if row.high_usd is None else row.high_usd
    scale = 1 / GIB_IN_GB if "GiB" in row.unit else 1.0
    unit = Unit.USD_PER_GB_MONTH if row.service is Service.STORAGE else Unit.USD_PER_GB
    value = Interval(row.usd, low, high).scaled(scale)
    return to_quantity(value, unit, Basis.QUOTED, f"{row.usd:g} {row.unit}: {row.source}", row.as_of)


def assumed_rate(service: Service, defaults: BillDefaults) -> Quantity | None:
    """Return the assumed rate of a provider that states none, because the service would otherwise count as free.

    It is the higher of two medians, over all known providers and over the smaller ones, so that an unknown rate is no
    advantage. Its range is from their lowest to their highest. Returns None for older defaults.
    """
    return {
        Service.STORAGE: defaults.storage_usd_per_gb_month,
        Service.EGRESS: defaults.egress_usd_per_gb,
        Service.INGRESS: defaults.ingress_usd_per_gb,
    }[service]


def no_rate_reason(provider: str, service: Service, row: ServiceRate | None) -> str:
    """Return why a provider's rate is unknown."""
    if row is not None and row.no_price_reason:
        return row.no_price_reason
    return f"the catalog has no rate of {provider} for {service.value}; add a row to services.csv in your workspace"
