"""Which rows of many can be the cheapest of their machine: told from a few cells, before a row is built. Pure.

What is left out can change no answer: by `price_choice`, a row counts for its instance in its region, and a search
takes the cheapest region of an instance and of like instances the cheapest two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from heapq import nsmallest
from math import inf
from typing import NamedTuple

from planner.scenario.price_choice import TIE_FRACTION, TIE_USD

Left = tuple[str, str, str]
"""Accelerator, count and kind of price of instances that are left out."""
LIKE_INSTANCES = 2
"""Of instances that only a price list names, equal in what they carry: as many as a search shows of one shape."""


class Sketch(NamedTuple):
    """What of a row decides whether it may count; `usd` of None: no price, or none that can be read."""

    item: str
    carries: tuple[str, str]
    """Accelerator and count."""
    region: str
    kind: str
    usd: float | None
    to_be_had: bool
    """Whether it is sure to be compared: still listed, and not sold out; of a search for what is said to be had, said
    so by a fresh row."""
    as_of: str
    said: bool = True
    """Of a search for what is said to be had, whether its source says so, now or earlier; of others always."""


Bounds = tuple[Collection[str], float, float]
"""Regions that may be the cheapest of an instance, and between which prices the cheapest lies."""


class Worth(NamedTuple):
    """The instances and regions of which some row may count, and how many instances of which kind were left out."""

    kept: set[tuple[str, str]]
    dearer: Counter[Left]
    unsaid: Counter[Left]
    """Nobody says that they are to be had."""


def worth_reading(
    rows: Sequence[Sketch],
    known: Collection[str],
    standing: Collection[tuple[str, str, str]],
) -> Worth:
    """Return which rows may count.

    `known`: instances that the catalog describes, whose networks differ; of them none is left out, nor of those whose
    rows differ in what they carry. `standing`: instance, region and kind of rows from elsewhere, whose place a row here
    takes: they stay too.
    """
    terms: dict[tuple[str, str], list[Sketch]] = {}
    for row in rows:
        terms.setdefault((row.item, row.kind), []).append(row)
    kept: set[tuple[str, str]] = set()
    like: dict[tuple[tuple[str, str], str], list[tuple[str, Bounds]]] = {}
    unsaid = Counter[Left]()
    for (item, kind), of_terms in terms.items():
        bounds, carries = _bounds(of_terms), of_terms[0].carries
        if item in known or not all(carries) or any(row.carries != carries for row in of_terms):
            kept.update((item, region) for region in bounds[0])
            kept.update((item, row.region) for row in of_terms if (item, row.region, kind) in standing)
        elif not any(row.said for row in of_terms):
            unsaid[*carries, kind] += 1
        else:
            like.setdefault((carries, kind), []).append((item, bounds))
    dearer = Counter[Left]()
    for (carries, kind), instances in like.items():
        highs = ((high, place) for place, (_, (_, _, high)) in enumerate(instances) if high < inf)
        surest = nsmallest(LIKE_INSTANCES, highs)
        last = surest[-1] if len(surest) == LIKE_INSTANCES else (inf, 0)
        for place, (item, (regions, low, _)) in enumerate(instances):
            if (low, place) <= last:
                kept.update((item, region) for region in regions)
            else:
                dearer[*carries, kind] += 1
    return Worth(kept, dearer, unsaid)


def _bounds(rows: Sequence[Sketch]) -> Bounds:
    """Bound the price that counts of one instance on one kind of price, and in each region.

    In a region one of its rows counts, so it lies between the lowest and the highest; a region is sure to be compared
    where all of its rows are to be had and as new as the newest.
    """
    if len(rows) == 1:
        [row] = rows
        low = 0.0 if row.usd is None else row.usd
        return (row.region,), low, low if row.to_be_had and row.usd is not None else inf
    newest = max(row.as_of for row in rows)
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for row in rows:
        sure = row.to_be_had and row.usd is not None and row.as_of == newest
        lows[row.region] = min(lows.get(row.region, inf), row.usd or 0.0)
        highs[row.region] = max(highs.get(row.region, 0.0), (row.usd or 0.0) if sure else inf)
    high = min(highs.values())
    near = high + max(TIE_FRACTION * high, TIE_USD)
    regions = [region for region, low in lows.items() if low <= near]
    # If the cheapest region may be sold out, the instance may not be compared at all.
    surest = inf if any(highs[region] == inf for region in regions) else high
    return regions, min(lows.values()), surest
