"""`options: auto` of a plan: filters for machines, instead of a list of options."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner.model.base import Count, Flag, Frozen, Id, Positive, Text

AUTO = "auto"


class Terms(StrEnum):
    """Terms on which a machine is rented."""

    FIRM = "firm"
    """It is not taken away before its return."""
    SPOT = "spot"
    """Spot and marketplaces."""


def _listed(value: Any) -> Any:
    """Read a single value as a list of it."""
    return value if value is None or isinstance(value, list | tuple) else (value,)


class FindFilters(Frozen):
    """Filters for machines. A missing filter has no effect. Owned machines pass the last four."""

    accelerator: Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Accelerator by any of its names."""
    gpus: Annotated[tuple[Count, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Number of accelerators of one training, over all nodes."""
    max_usd_per_hour: Positive | None = None
    """Highest price of all nodes together, at the list price."""
    network_gbit_per_s: Positive | None = None
    """Network of each node where the catalog knows no rate. It excludes nothing, and replaces the assumed rate."""
    provider: Annotated[tuple[Id, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Providers to consider, by the first part of an offer's name."""
    region: Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Regions to consider, as price rows name them."""
    terms: Terms | None = None
    """Terms: whether machines that may be taken away are considered."""
    available: Flag = False
    """True for machines that their source says are available."""

    @property
    def asks_for_rent(self) -> bool:
        """Return whether they state rental terms or providers, so that buying is not considered."""
        rents = (self.max_usd_per_hour, self.provider, self.region, self.terms)
        return self.available or any(rent is not None for rent in rents)


def with_auto(data: Any) -> Any:
    """Read `options: auto`, or filters instead of a list of options, as `find`. Anything else stays unchanged."""
    if not isinstance(data, dict):
        return data
    options = data.get("options")
    if options == AUTO:
        return data | {"options": [], "find": data.get("find") or {}}
    if not isinstance(options, dict):
        return data
    if data.get("find"):
        raise ValueError("filters stand in `options` and in `find`: keep one of them")
    return data | {"options": [], "find": options}
