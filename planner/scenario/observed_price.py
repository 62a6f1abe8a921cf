"""What was seen of a spot or marketplace price lately, as one price: the median of its observations."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.prices.offer import Price, PriceOrigin

LATELY_DAYS = 90
"""Observations this much older than the newest one still count."""
FROM_FILES = frozenset({PriceOrigin.USER, PriceOrigin.BUNDLED})
"""Whose rows are observations of several days. A refresh keeps the last row of each zone alone."""


def median_of(rows: Sequence[Price]) -> Price:
    """Return one row for the observations of one instance, region and kind: that of the median, with what was seen.

    Where the newest rows state no price, there is none.
    """
    median, seen = median_row(rows), _observations(rows)
    if median.usd_per_hour is None:
        return median
    lows = [row.low_usd_per_hour for row in seen if row.low_usd_per_hour]
    amounts = tuple(row.usd_per_hour for row in seen if row.usd_per_hour)
    update = {
        "seen_usd_per_hour": amounts,
        "seen_from": seen[0].as_of,
        "as_of": seen[-1].as_of,
        "low_usd_per_hour": min((*lows, *amounts)) if lows or len(amounts) > 1 else None,
        "high_usd_per_hour": _highest(seen[-1].high_usd_per_hour, amounts),
    }
    return median.model_copy(update=update)


def median_row(rows: Sequence[Price]) -> Price:
    """Return the row of the median, as it is; the newest one where that day's rows state no price.

    Of an even number the median is the later of the two in the middle: a price that was asked, with its source.
    """
    newest = max(row.as_of for row in rows)
    if not any(row.usd_per_hour for row in rows if row.as_of == newest):
        return next(row for row in rows if row.as_of == newest)
    ordered = sorted(_observations(rows), key=lambda row: (row.usd_per_hour or 0.0, row.as_of))
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return max(middle, key=lambda row: (row.as_of, row.usd_per_hour or 0.0))


def _observations(rows: Sequence[Price]) -> list[Price]:
    """Return a row for each day of a source, the oldest first: its lowest zone, as one may choose the zone."""
    days: dict[tuple[int, str], Price] = {}
    for row in rows:
        key = (row.as_of.toordinal(), row.source)
        if row.usd_per_hour and (key not in days or _cost(row) < _cost(days[key])):
            days[key] = row
    return [days[key] for key in sorted(days)]


def _cost(row: Price) -> tuple[bool, float]:
    """Order zones: what can be had before what is sold out, then the cheaper."""
    return row.available is False, row.usd_per_hour or 0.0


def _highest(stated: float | None, amounts: Sequence[float]) -> float | None:
    """Return what the price can rise to, by the newest row or by what was seen; None where one amount says nothing."""
    if stated is None and len(amounts) == 1:
        return None
    return max((*amounts, stated or 0.0))
