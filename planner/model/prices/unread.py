"""Prices that a search passed over before they were read: they cannot be among those that it shows."""

from __future__ import annotations

from planner.model.base import Count, Frozen, Id
from planner.model.prices.offer import PriceKind


class Unread(Frozen):
    """How many instances of a provider, equal in what they carry."""

    provider: Id
    accelerator: Id
    accelerators: Count
    price_kind: PriceKind
    instances: Count
    nobody_says: bool = False
    """Whether they were passed over as nobody says that they are to be had; else as others cost no more."""
