"""How a machine is held for a campaign."""

from __future__ import annotations

from enum import StrEnum


class Hold(StrEnum):
    """How a machine is had for a campaign, which decides what it costs and when it can start."""

    HAVE = "have"
    """It stands there: the campaign adds to its bills, now."""
    RENT = "rent"
    """A cloud's or a lessor's: its bill."""
    BUY = "buy"
    """Somebody must buy it first: its purchase, after its lead time."""
    USE = "use"
    """A grant, a hosted service or a commitment that is bought already: what it adds to the bills."""
