"""Age of an option's price, whether that is too old for its kind, and how to renew it."""

from __future__ import annotations

from datetime import date
from typing import TypeVar

from planner.model.answer.option_estimate import OptionEstimate
from planner.model.prices.offer import Price, PriceKind, stale_days

Option = TypeVar("Option", bound=OptionEstimate)
REFRESH, QUOTE = "planner prices refresh", "ask for a quote"


def dated(option: Option, *, today: date, row: Price | None = None) -> Option:
    """Return the option with the age of its price; unchanged if the price has no date (the plan's own) or is missing.

    days = today - the day for which the source states the price; `row` knows an offer that is still valid.
    """
    price = option.price
    if price is None or price.as_of is None:
        return option
    age_days = max(0, (today - price.as_of).days)
    stale = age_days > stale_days(option.price_kind or PriceKind.ON_DEMAND) if row is None else row.is_stale(today)
    return option.model_copy(update={"price_age_days": age_days, "price_stale": stale})


def renewal(*refreshed: bool | None, run: str = "run ") -> str:
    """Return how old prices are renewed, by whether a refresh reads each of them. Others need a quote."""
    if False not in refreshed:
        return f"{run}{REFRESH}"
    return (
        QUOTE
        if all(is_refreshed is False for is_refreshed in refreshed)
        else f"{run}{REFRESH}, and {QUOTE} of the others"
    )
