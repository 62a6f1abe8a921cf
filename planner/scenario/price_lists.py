"""Checks which prices the provider's newest complete list still contains. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import ListRead

ANYWHERE = "any"
Scope = tuple[str, PriceKind]


def with_marks(
    bundled: Sequence[Price], observed: Sequence[Price], lists: Iterable[ListRead]
) -> tuple[list[Price], list[Price]]:
    """Return both, with each row that is missing from its provider's newest complete list marked with that list's day.

    A fetched row is compared with lists of its own source: a row that was read before the newest list, and not again
    with it, has vanished. A bundled row is compared with every list: it remains if the same machine is listed on these
    terms in its region. A price that is the same everywhere is superseded by a list of other regions; it is marked too.
    """
    scoped: dict[Scope, list[ListRead]] = {}
    for read in lists:
        scoped.setdefault((read.provider, read.price_kind), []).append(read)
    if not scoped:
        return list(bundled), list(observed)
    fetched = [_fetched(price, scoped.get((price.provider, price.price_kind), ())) for price in observed]
    places: dict[tuple[str, PriceKind], set[str]] = {}
    for price in fetched:
        if price.unlisted_on is None:
            places.setdefault((price.node, price.price_kind), set()).add(price.region)
    return [_bundled(price, scoped, places) for price in bundled], fetched


def _fetched(price: Price, lists: Iterable[ListRead]) -> Price:
    later = [
        read.read_on
        for read in lists
        if read.origin is price.origin and read.read_on > price.fetched_at and read.covers(price)
    ]
    return price.model_copy(update={"unlisted_on": max(later)}) if later else price


def _bundled(price: Price, scoped: dict[Scope, list[ListRead]], places: dict[tuple[str, PriceKind], set[str]]) -> Price:
    lists = scoped.get((price.provider, price.price_kind), ())
    if price.origin is not PriceOrigin.BUNDLED or price.amount is None:
        return price
    days = [read.read_on for read in lists if read.covers(price) and read.read_on >= price.as_of]
    listed = places.get((price.node, price.price_kind), set())
    if not days or price.region in listed or (ANYWHERE in listed):
        return price
    return price.model_copy(update={"unlisted_on": max(days)})


def listed_of(rows: Sequence[Price]) -> Sequence[Price]:
    """Return the listed rows; all rows if none is listed."""
    return [row for row in rows if row.unlisted_on is None] or rows


@dataclass(frozen=True)
class Renewal:
    """Difference between two complete lists of a source."""

    renewed: int
    """Prices of both lists."""
    added: int
    """Prices of the later list only."""
    vanished: int
    """Prices of the earlier list only."""


def renewal_of(
    known: Iterable[Price], fetched: Iterable[Price], lists: Sequence[ListRead], earlier: Sequence[ListRead]
) -> Renewal:
    """Compare complete lists with the earlier prices of the same source that were still listed."""

    def covered(price: Price) -> bool:
        return any(read.origin is price.origin and read.covers(price) for read in lists)

    _, marked = with_marks((), [price for price in known if covered(price)], earlier)
    before = {_key(price) for price in marked if price.unlisted_on is None}
    after = {_key(price) for price in fetched if covered(price)}
    return Renewal(len(before & after), len(after - before), len(before - after))


def _key(price: Price) -> tuple[object, ...]:
    return price.node, price.accelerator, price.accelerators, price.region, price.zone, price.price_kind
