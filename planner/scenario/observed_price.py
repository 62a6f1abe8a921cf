"""Recent observations of a spot or marketplace price as one price: their median."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.prices.offer import Price, PriceOrigin

LATELY_DAYS = 90
"""Days by which an observation may be older than the newest one and still count."""
FROM_FILES = frozenset({PriceOrigin.USER, PriceOrigin.BUNDLED})
"""Origins whose rows are observations of several days. A refresh keeps only the last row of each zone."""


def median_of(rows: Sequence[Price]) -> Price:
    """Return one row for the observations of an instance, region and kind: the median row, with the observations.

    If the newest rows state no price, there is none.
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
    """Return the median row unchanged, or the newest row if that day's rows state no price.

    For an even number the median is the later of the two in the middle: a real price, with its source.
    """
    newest = max(row.as_of for row in rows)
    if not any(row.usd_per_hour for row in rows if row.as_of == newest):
        return next(row for row in rows if row.as_of == newest)
    ordered = sorted(_observations(rows), key=lambda row: (row.usd_per_hour or 0.0, row.as_of))
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return max(middle, key=lambda row: (row.as_of, row.usd_per_hour or 0.0))


def _observations(rows: Sequence[Price]) -> list[Price]:
    """Return a row for each day of a source, the oldest first: its lowest zone, as the user may choose the zone."""
    days: dict[tuple[int, str], Price] = {}
    for row in rows:
        key = (row.as_of.toordinal(), row.source)
        if row.usd_per_hour and (key not in days or _cost(row) < _cost(days[key])):
            days[key] = row
    return [days[key] for key in sorted(days)]


def _cost(row: Price) -> tuple[bool, float]:
    """Return the sort key of zones: available before sold out, then the cheaper."""
    return row.available is False, row.usd_per_hour or 0.0


def _highest(stated: float | None, amounts: Sequence[float]) -> float | None:
    """Return the highest possible price, from the newest row or the observations; None from a single amount."""
    if stated is None and len(amounts) == 1:
        return None
    return max((*amounts, stated or 0.0))
