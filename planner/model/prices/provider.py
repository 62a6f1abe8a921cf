"""Who rents machines out: the id in price lists, and the name that people use."""

from __future__ import annotations

from planner.model.base import Frozen, Id, Text


class Provider(Frozen):
    """One row of `catalogs/providers.csv`."""

    id: Id
    name: Text
    families: bool = False
    """Its machines are known by their family: the first part of an instance's name, as p4d of p4d.24xlarge."""
    refreshed: bool = False
    """`planner prices refresh` reads its prices; those of others are renewed by asking it for a quote."""
