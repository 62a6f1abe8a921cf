"""Ways to hold a machine for a campaign."""

from __future__ import annotations

from enum import StrEnum


class Hold(StrEnum):
    """Way to hold a machine for a campaign. It decides the cost and the earliest start."""

    HAVE = "have"
    """The machine exists: the campaign adds to its bills, from now on."""
    RENT = "rent"
    """It belongs to a cloud or a lessor, who sends a bill."""
    BUY = "buy"
    """It must be bought first: its purchase, after its lead time."""
    USE = "use"
    """A grant, a hosted service or a commitment already bought: what it adds to the bills."""
