"""A company that rents out machines: its id in price lists, and its usual name."""

from __future__ import annotations

from planner.model.base import Frozen, Id, Text


class Provider(Frozen):
    """One row of `catalogs/providers.csv`."""

    id: Id
    name: Text
    families: bool = False
    """True if its machines are known by their family: the first part of an instance's name, as p4d of p4d.24xlarge."""
    refreshed: bool = False
    """True if `planner prices refresh` reads its prices. Others are renewed by asking for a quote."""
