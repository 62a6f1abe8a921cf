"""Availability of a machine, as far as its price row tells."""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.prices.offer import Price

Availability = Literal["yes", "no", "unknown"]


def availability(price: Price | None, *, today: date | None) -> Availability:
    """Return what the price's row says about availability; unknown if it says nothing, is stale, or is the plan's own.

    A machine that a later complete list of the provider no longer contains is not available.
    """
    if price is not None and price.unlisted_on is not None:
        return "no"
    if price is None or price.available is None or today is None or price.is_stale(today):
        return "unknown"
    return "yes" if price.available else "no"


def availability_reasons(price: Price | None, *, today: date | None) -> tuple[Reason, ...]:
    """Return why a machine that is sold out, or above the account's quota, is not available."""
    if price is None or availability(price, today=today) != "no":
        return ()
    if price.unlisted_on is not None:
        text = f"it is no longer listed (price list of {price.unlisted_on}; last priced {price.as_of})"
        return (Reason(code=ReasonCode.NOT_LISTED, text=text),)
    text = f"not to be had ({price.source}, {price.as_of})" + (f": {price.note}" if price.note else "")
    return (Reason(code=ReasonCode.NOT_AVAILABLE, text=text),)
