"""Which rows of a fetched price table a search for the cheapest machines reads: told from their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from planner.model.catalog import Catalog
from planner.model.prices.offer import PriceKind, stale_days
from planner.model.prices.price_list import EVERYWHERE, ListRead
from planner.model.prices.unread import Unread
from planner.scenario.cheapest_rows import Left, Sketch, worth_reading
from planner.scenario.price_choice import LOOKED_AT as KINDS
from planner.scenario.region_groups import is_in

LOOKED_AT = frozenset(kind.value for kind in KINDS)


@dataclass(frozen=True)
class Search:
    """What a search for the cheapest machines asks of prices; of the rows of one provider it reads what may count."""

    regions: frozenset[str] | None = None
    said_on: date | None = None
    """Today, where only what its source says is to be had is looked for."""
    known: Collection[str] = frozenset()
    standing: Collection[tuple[str, str, str]] = frozenset()
    lists: Sequence[ListRead] = ()
    """The whole lists that were read."""
    left_out: Counter[tuple[str, Left, bool]] = field(default_factory=Counter, compare=False)
    """Filled as files are read: instances that were not, by provider, what they carry, and whether because nobody says
    that they are to be had."""

    def beside(self, catalog: Catalog, lists: Sequence[ListRead] = ()) -> Search:
        """Return the search beside a catalog: its machines, and the prices that what is read takes the place of."""
        rows = (*catalog.prices, *catalog.own_prices)
        standing = frozenset((row.node, row.region, row.price_kind.value) for row in rows)
        return replace(self, known=catalog.nodes.keys() | {row.node for row in rows}, standing=standing, lists=lists)

    def worth_reading(
        self, header: Sequence[str], rows: Sequence[tuple[int, list[str]]]
    ) -> list[tuple[int, list[str]]]:
        """Return the rows of a provider, with their lines, that may count; of each region one, so that it is known."""
        if not {"accelerator", "accelerators", "origin", "fetched_at", "available"} <= set(header):
            return list(rows)
        place = {name: header.index(name) for name in header}
        provider, instance, region = place["provider"], place["instance_type"], place["region"]
        items = [f"{cells[provider]}/{cells[instance]}" for _, cells in rows]
        sketches = self._sketches(place, items, rows)
        kept, dearer, unsaid = worth_reading(sketches, self.known, self.standing)
        for counted, nobody_says in ((dearer, False), (unsaid, True)):
            for what, instances in counted.items():
                self.left_out[rows[0][1][provider], what, nobody_says] += instances
        seen = {where for _, where in kept}
        read = []
        for item, row in zip(items, rows, strict=True):
            where = row[1][region]
            if (item, where) in kept or where not in seen:
                kept.add((item, where))
                seen.add(where)
                read.append(row)
        return read

    def unread(self) -> tuple[Unread, ...]:
        """Return what was left out of the files that were read."""
        return tuple(
            Unread(
                provider=provider, accelerator=accelerator, accelerators=int(count), price_kind=PriceKind(kind),
                instances=instances, nobody_says=nobody_says,
            )
            for (provider, (accelerator, count, kind), nobody_says), instances in self.left_out.items()
        )  # fmt: skip

    def leave_out(self, unread: Iterable[Unread]) -> None:
        """Count what an earlier reading left out as if it had been this one."""
        for row in unread:
            what = (row.accelerator, str(row.accelerators), row.price_kind.value)
            self.left_out[row.provider, what, row.nobody_says] += row.instances

    def _sketches(
        self, place: Mapping[str, int], items: Sequence[str], rows: Sequence[tuple[int, list[str]]]
    ) -> list[Sketch]:
        provider, origin, fetched, available = (
            place[name] for name in ("provider", "origin", "fetched_at", "available")
        )
        card, cards, region, kind = (place[name] for name in ("accelerator", "accelerators", "region", "price_kind"))
        usd, as_of = place["usd_per_hour"], place["as_of"]
        later = _days_of(self.lists)
        inside = {name: self.regions is None or is_in(name, self.regions) for name in {row[region] for _, row in rows}}
        today = self.said_on
        first_fresh = {}
        if today is not None:
            first_fresh = {kind.value: (today - timedelta(days=stale_days(kind))).isoformat() for kind in KINDS}
        sketches = []
        for item, (_, cells) in zip(items, rows, strict=True):
            where, terms = cells[region], cells[kind]
            if not inside[where] or terms not in LOOKED_AT:
                continue
            of_list = (cells[provider], cells[origin], terms)
            listed = of_list not in later or all(
                day <= cells[fetched] for place, day in later[of_list] if place in (EVERYWHERE, where)
            )
            carries = (cells[card], cells[cards] if cells[cards].isdecimal() else "")
            if today is None:
                said, sure = True, cells[available] != "false"
            else:
                said = cells[available] == "true"
                sure = said and cells[as_of] >= first_fresh[terms]
            to_be_had = listed and sure
            sketches.append(Sketch(item, carries, where, terms, _number(cells[usd]), to_be_had, cells[as_of], said))
        return sketches


def _days_of(lists: Sequence[ListRead]) -> dict[tuple[str, str, str], list[tuple[str, str]]]:
    """Return by provider, origin and kind the regions of the lists that were read, each with its day."""
    days: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for read in lists:
        terms = (read.provider, read.origin.value, read.price_kind.value)
        days.setdefault(terms, []).append((read.region, read.read_on.isoformat()))
    return days


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None
