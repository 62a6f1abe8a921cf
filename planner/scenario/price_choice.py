"""Which of several prices of one thing is believed."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.prices.offer import Price, PriceOrigin


def believed(rows: Sequence[Price]) -> list[Price]:
    """Return, of one instance, kind and region, the rows to believe; several only where they differ by zone.

    The user's own come first. Of the others, these are the newest rows of the most trusted origin (`PriceOrigin`) that
    is not out of date: its newest row may be older than the newest of all by no more than such a price keeps.
    """
    own = [row for row in rows if row.origin is PriceOrigin.USER]
    rows = own or rows
    newest = max(row.as_of for row in rows)
    best = min(
        (row for row in rows if (newest - row.as_of).days <= row.stale_days),
        key=lambda row: (list(PriceOrigin).index(row.origin), -row.as_of.toordinal()),
    )
    return [row for row in rows if (row.origin, row.as_of) == (best.origin, best.as_of)]
