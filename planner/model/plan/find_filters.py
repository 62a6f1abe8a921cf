"""`options: auto` of a plan: which machines are looked through instead of a list that the plan names."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from planner.model.base import Count, Flag, Frozen, Id, Positive, Text

AUTO = "auto"


class Terms(StrEnum):
    """On which terms a machine is rented."""

    FIRM = "firm"
    """Nobody takes it away before it is given back."""
    SPOT = "spot"
    """Spot and marketplaces."""


def _listed(value: Any) -> Any:
    """Read one value as a list of it."""
    return value if value is None or isinstance(value, list | tuple) else (value,)


class FindFilters(Frozen):
    """What a machine must be to be looked at; what is left out asks for nothing. Owned machines pass the last four."""

    accelerator: Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """By any of its names."""
    gpus: Annotated[tuple[Count, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """How many accelerators one training has, over all nodes."""
    max_usd_per_hour: Positive | None = None
    """Of all nodes together, at the list price."""
    network_gbit_per_s: Positive | None = None
    """Of each node where the catalog knows no rate: it leaves nothing out, and replaces what would be assumed."""
    provider: Annotated[tuple[Id, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Providers to look at, by the first part of an offer's name."""
    region: Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_listed)] | None = None
    """Regions to look at, as price rows name them."""
    terms: Terms | None = None
    """Whether machines that may be taken away are looked at."""
    available: Flag = False
    """Only what its source says is to be had."""

    @property
    def asks_for_rent(self) -> bool:
        """Whether they say on which terms to rent, or of whom: then nobody thinks of buying."""
        rents = (self.max_usd_per_hour, self.provider, self.region, self.terms)
        return self.available or any(one is not None for one in rents)


def with_auto(data: Any) -> Any:
    """Read `options: auto`, or filters in place of a list of options, as `find`; anything else stays as it is."""
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
