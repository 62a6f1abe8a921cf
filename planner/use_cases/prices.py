"""Fetches prices, shows them and their history, and checks price files."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from planner.adapters.http_fetch import TIMEOUT_S
from planner.adapters.price_file import checked_prices
from planner.adapters.price_sources.all_sources import SourceChoice, source_answers
from planner.adapters.stored_prices.price_filter import NOTHING, PriceFilter
from planner.adapters.stored_prices.price_store import PriceStore
from planner.adapters.workspace import workspace_dir
from planner.cost.cloud.net_price import net_of
from planner.cost.cloud.price_level import accelerators_of_price, price_bands, usd_per_accelerator_hour
from planner.errors import InputError, NotFoundError, PriceSourceError
from planner.model.answer.price_answer import (
    PriceHistoryDocument,
    PriceRow,
    PricesDocument,
    PriceSpan,
    RefreshDocument,
    SourceReport,
)
from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_book import PriceBook
from planner.scenario.price_choice import ANY_REGION, in_use
from planner.scenario.price_lists import renewal_of, with_marks
from planner.use_cases.catalogs import accelerators_meant, open_catalog, with_wanted


class SortKey(StrEnum):
    """Field that orders price rows, lowest first. Unknown values come last."""

    ACCELERATOR_HOUR = "usd_per_accelerator_hour"
    HOUR = "usd_per_hour"
    AGE = "age_days"
    ITEM = "item"


def refresh(
    choice: SourceChoice, *, home: str | None, now: datetime, regions: Sequence[str] = (), timeout_s: float = TIMEOUT_S,
) -> RefreshDocument:  # fmt: skip
    """Fetch prices from all sources at once and store every observation. A failing source is reported.

    Each source is stored when it answers, so an interrupted refresh loses only the sources that had not answered. A
    damaged file of fetched prices is set aside first. Raises PriceSourceError if no source returned a price.
    """
    store = PriceStore(workspace_dir(home))
    reports: list[SourceReport] = []
    healed = tuple(str(path) for path in store.heal())
    catalog = open_catalog(home)
    for source, answer in source_answers(choice, catalog, now, tuple(regions), timeout_s):
        renewal = renewal_of(store.current(), answer.prices, answer.lists, store.lists())
        new = store.add(answer.prices)
        store.add_lists(answer.lists)
        report = SourceReport(
            source=source.value, prices=len(answer.prices), new=new, renewed=renewal.renewed, added=renewal.added,
            vanished=renewal.vanished, problems=tuple(answer.problems),
            left_out=dict(answer.left_out), not_asked=tuple(answer.not_asked),
        )  # fmt: skip
        reports.append(report)
    reports.sort(key=lambda report: list(SourceChoice).index(SourceChoice(report.source)))
    if not any(report.prices for report in reports):
        problems = " ".join(problem for report in reports for problem in report.problems)
        reasons = [f"{reason} ({rows})" for report in reports for reason, rows in report.left_out.items()]
        problems = problems or f"Every fetched price was left out: {'; '.join(reasons[:3])}." if reasons else problems
        raise PriceSourceError(
            f"no price was fetched; the known prices are kept. {problems}".strip(),
            fix="See the known prices and their age: planner prices show",
        )
    bundled = [price for price in catalog.prices if price.origin is PriceOrigin.BUNDLED]
    marked, fetched = with_marks(bundled, store.current(), store.lists())
    listed = {(price.node, price.price_kind) for price in fetched if price.unlisted_on is None}
    renewed = sum((price.node, price.price_kind) in listed for price in marked)
    unlisted = sum(price.unlisted_on is not None and (price.node, price.price_kind) not in listed for price in marked)
    return RefreshDocument(
        sources=tuple(reports), healed=healed, bundled_renewed=renewed, bundled_unlisted=unlisted,
        bundled_not_asked=len(bundled) - renewed - unlisted,
    )  # fmt: skip


def show(
    *, home: str | None, now: datetime, accelerator: str | None = None, region: str | None = None,
    kind: PriceKind | None = None, provider: str | None = None, sort: SortKey = SortKey.ACCELERATOR_HOUR,
    every: bool = False, book: PriceBook | None = None,
) -> PricesDocument:  # fmt: skip
    """Return the prices that pass the filters: those in use, or with `every` all known ones."""
    catalog = open_catalog(home, wanted=NOTHING)
    wanted = PriceFilter(
        accelerators=None if accelerator is None else accelerators_meant(accelerator, catalog),
        regions=None if region is None else frozenset((region, ANY_REGION)),
        kinds=None if kind is None else frozenset((kind.value,)),
        providers=None if provider is None else frozenset((provider,)),
        carried={node.id: node.accelerator for node in catalog.nodes.values()},
    )
    catalog = with_wanted(catalog, wanted, home)
    known = [*catalog.own_prices, *catalog.prices]
    providers, regions = {price.provider for price in known}, {price.region for price in known}
    if not ({provider} <= {None, *providers} and {region} <= {None, *regions}):
        _check_places(provider, region, open_catalog(home))
    rows = _rows([price for price in known if wanted.of_price(price)], catalog, now, book=book)
    used = [row for row in rows if every or row.used]
    return PricesDocument(prices=tuple(sorted(used, key=lambda row: _order(row, sort))))


def history(item: str, *, home: str | None, now: datetime) -> PriceHistoryDocument:
    """Return every observation of an item, bundled and fetched, oldest first, with their spans."""
    wanted = PriceFilter(items=frozenset((item,)))
    catalog = open_catalog(home, wanted=wanted)
    known = [*catalog.own_prices, *catalog.prices, *PriceStore(workspace_dir(home)).history(wanted)]
    of_item = list(dict.fromkeys(price for price in known if price.node == item))
    if not of_item:
        whole = open_catalog(home)
        items = {price.node for price in (*whole.own_prices, *whole.prices)}
        raise NotFoundError("price of", item, items, fix="List them with: planner prices show")
    rows = sorted(_rows(of_item, catalog, now), key=lambda row: (row.region, row.price_kind, row.as_of))
    return PriceHistoryDocument(item=item, spans=tuple(_spans(rows)), prices=tuple(rows))


def check(path: Path, catalog: Catalog, *, now: datetime) -> PricesDocument:
    """Read a price file as an estimate would, and return its prices. Raises InputError for the first wrong cell."""
    bands = price_bands((price for price in catalog.prices if price.origin is PriceOrigin.BUNDLED), catalog.nodes)
    prices = checked_prices(path, nodes=catalog.nodes, bands=bands, origin=PriceOrigin.USER, today=now.date())
    for price in prices:
        accelerator = accelerators_of_price(price, catalog.nodes)
        if accelerator is None and price.price_kind is not PriceKind.HOSTED_TRAINING:
            raise InputError(
                f"{path}: instance_type: {price.node} is not in the catalog.",
                fix="Fill accelerator and accelerators, or describe it in the workspace's hardware/nodes.csv.",
            )
        if accelerator is not None and accelerator[0] not in catalog.accelerators:
            raise NotFoundError("accelerator", accelerator[0], catalog.accelerators, where=str(path))
    return PricesDocument(prices=tuple(_rows(prices, catalog, now)))


def _rows(prices: Sequence[Price], catalog: Catalog, now: datetime, *, book: PriceBook | None = None) -> list[PriceRow]:
    groups: dict[tuple[str, str, str], list[Price]] = {}
    for price in prices:
        groups.setdefault((price.node, price.region, price.price_kind.value), []).append(price)
    used = {id(price) for group in groups.values() for price in in_use(group)}
    return [_row(price, catalog, now, used=id(price) in used, book=book) for price in prices]


def _row(price: Price, catalog: Catalog, now: datetime, *, used: bool, book: PriceBook | None) -> PriceRow:
    accelerator, count = accelerators_of_price(price, catalog.nodes) or (None, None)
    today = now.date()
    net = None if book is None else net_of(price, book, on=today)
    net_amount = None if book is None else net.amount if net else price.amount
    return PriceRow.model_construct(
        **{name: getattr(price, name) for name in Price.model_fields if name in PriceRow.model_fields}
        | {
            "item": price.node, "accelerator": accelerator, "accelerators": count, "used": used,
            "usd_per_accelerator_hour": usd_per_accelerator_hour(price, catalog.nodes),
            "age_days": price.age_days(today), "stale": price.is_stale(today),
            "net_usd_per_hour": net_amount if price.usd_per_hour is not None else None,
            "net_usd_per_million_tokens": net_amount if price.usd_per_hour is None else None,
            "net_because": None if net is None else "; ".join(net.steps),
        }
    )  # fmt: skip


def _check_places(provider: str | None, region: str | None, catalog: Catalog) -> None:
    """Refuse a provider or region without any known price."""
    known = (*catalog.own_prices, *catalog.prices)
    for what, name, names in (
        ("provider", provider, sorted({price.provider for price in known})),
        ("region", region, sorted({price.region for price in known})),
    ):
        if name is not None and name not in names:
            raise NotFoundError(what, name, names, where="prices", fix=f"Known: {', '.join(names)}")


def _order(row: PriceRow, sort: SortKey) -> tuple[bool, float | str, str, str]:
    value = getattr(row, sort.value)
    return value is None, value if value is not None else 0.0, row.item, row.region


def _spans(rows: Iterable[PriceRow]) -> list[PriceSpan]:
    groups: dict[tuple[str, PriceKind], list[PriceRow]] = {}
    for row in rows:
        if row.usd_per_hour is not None:
            groups.setdefault((row.region, row.price_kind), []).append(row)
    return [
        PriceSpan(
            region=region, price_kind=kind, observations=len(group), first=group[0].as_of, last=group[-1].as_of,
            low_usd_per_hour=min(row.usd_per_hour or 0.0 for row in group),
            median_usd_per_hour=statistics.median(row.usd_per_hour or 0.0 for row in group),
            high_usd_per_hour=max(row.usd_per_hour or 0.0 for row in group),
        )
        for (region, kind), group in groups.items()
    ]  # fmt: skip
