"""Uncertainty of a catalog's price on the day it is used, and the observations behind it."""

from __future__ import annotations

import math
from datetime import date

from planner.model.catalog import Catalog
from planner.model.prices.offer import FAST_KINDS, Price, PriceKind
from planner.quantity.interval import Interval
from planner.scenario.observed_price import FROM_FILES
from planner.scenario.price_choice import current_price

ENOUGH_OBSERVATIONS = 5
"""Observations from which the lowest and highest bound a spot price. Fewer understate the range."""


def price_range(price: Price, amount: float, catalog: Catalog, *, today: date | None) -> tuple[Interval, str]:
    """Return the price with its range on a day, and the source of the range in words.

    firm, stale    low / f .. high x f                    f = `prices.stale_factor` of catalogs/defaults.yaml, to which
    it grows in `prices.stale_after` days
    spot, stale    min(seen, amount / f) .. max(seen, min(amount x f, on demand))           f = `prices.spot_factor`,
    to which it grows in `prices.spot_after` days
    lowest .. highest seen, of five observations or more

    Without a day, and for a price that is not stale, the range is the row's own. Spot stands for marketplace too.
    """
    low = min(amount, price.low_usd_per_hour or amount)
    high = max(amount, price.high_usd_per_hour or amount)
    fast, stale = price.price_kind in FAST_KINDS, today is not None and price.is_stale(today)
    if not fast and (not stale or amount == 0):
        return Interval(amount, low, high), ""
    if price.agreed:
        return Interval(amount, low, high), ""
    words = [_observed(price)] if fast else []
    defaults = catalog.defaults.prices
    if today is None or not stale or defaults is None:
        return Interval(amount, low, high), "; ".join(words)
    over = price.age_days(today) - price.stale_days
    factor = defaults.fast_factor(over) if fast else defaults.firm_factor(over)
    if not fast:
        words.append(f"stale: {price.age_days(today)} days old, +-{100 * (factor - 1):.3g} %")
        return Interval(amount, low / factor, high * factor), "; ".join(words)
    seen = price.seen_usd_per_hour
    highest = max(seen)
    if price.origin not in FROM_FILES:
        highest = max(highest, high)
    if len(seen) < ENOUGH_OBSERVATIONS:
        words.append(f"such prices stay within a factor of {factor:.3g} (90 %)")
        low, highest = min(low, amount / factor), max(highest, min(amount * factor, _ceiling(price, catalog)))
    return Interval(amount, low, highest), "; ".join(words)


def _observed(price: Price) -> str:
    seen = price.seen_usd_per_hour
    if len(seen) < 2:
        return f"one observation of {price.as_of}"
    return f"median of {len(seen)} observations of {price.seen_from} to {price.as_of} ({min(seen):g} to {max(seen):g})"


def _ceiling(price: Price, catalog: Catalog) -> float:
    """Return the upper bound of the price: the on-demand price there, otherwise the row's own highest."""
    row = current_price(price.node, catalog, kind=PriceKind.ON_DEMAND, region=price.region)
    if row is not None and row.usd_per_hour:
        return row.usd_per_hour
    stated = price.high_usd_per_hour or 0.0
    return stated if stated > max(price.seen_usd_per_hour) and price.origin in FROM_FILES else math.inf
