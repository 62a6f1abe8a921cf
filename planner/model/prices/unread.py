"""Prices that a search skipped before they were read: they cannot be among those that it shows."""

from __future__ import annotations

from planner.model.base import Count, Frozen, Id
from planner.model.prices.offer import PriceKind


class Unread(Frozen):
    """Number of a provider's instances with equal accelerators."""

    provider: Id
    accelerator: Id
    accelerators: Count
    price_kind: PriceKind
    instances: Count
    nobody_says: bool = False
    """True if they were skipped because their availability is not stated, false because others cost no more."""
