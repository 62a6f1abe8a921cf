"""Renders prices, one item's history, and the effect of discounts and credits on an answer's bills."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from planner.decide.options.card_name import card_names
from planner.decide.options.display_name import provider_name
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.price_answer import PriceHistoryDocument, PriceRow, PriceSpan
from planner.model.catalog import Catalog
from planner.present.page.templating import render
from planner.present.page.words import MoneyFormat, Words

SHOWN = 60
WEB = re.compile(r"https://[^\s;,)\"'<>]{4,300}")


@dataclass(frozen=True)
class Listed:
    """Texts of one price."""

    name: str
    item: str
    region: str
    terms: str
    listed: str
    net: str
    because: str
    a_card: str
    age: str
    stale: bool
    source: str
    link: str


def prices_html(rows: Sequence[PriceRow], catalog: Catalog, words: Words, *, with_book: bool) -> str:
    """Render the first prices. `with_book` adds the net price of the price book."""
    shown = [_listed(row, catalog, words) for row in rows[:SHOWN]]
    return render("lists.html", "prices", words, shown, max(0, len(rows) - SHOWN), with_book)


def history_html(document: PriceHistoryDocument, words: Words) -> str:
    """Render every observation of an item, and their span by region and kind."""
    known = [row for row in document.prices if row.usd_per_hour]
    most = max((row.usd_per_hour or 0.0 for row in known), default=1.0)
    points = [
        {
            "day": words.day(row.as_of),
            "terms": f"{_terms(row.price_kind.value)}, {row.region}",
            "share": 100 * (row.usd_per_hour or 0.0) / most,
            "text": f"{words.number(row.usd_per_hour or 0.0, digits=4)} USD/h",
        }
        for row in known
    ]
    spans = [_span(span, words) for span in document.spans]
    return render("lists.html", "history", words, spans, points)


def finance_html(document: ComparisonDocument, words: Words) -> str:
    """Render list price, net price, bill, credits and amount to pay of every rented option."""
    money = MoneyFormat(words, document.currency)
    rows = [
        {
            "name": option.display_name,
            "listed": words.number(option.list_price or option.price.value, digits=4),
            "net": words.number(option.price.value, digits=4),
            "bill": money.text(option.campaign_usd.value),
            "credits": money.text(option.campaign_usd.value - option.payable_usd.value),
            "to_pay": money.text(option.payable_usd.value),
        }
        for option in document.options
        if option.offer is not None and option.price and option.campaign_usd and option.payable_usd
    ]
    return render("lists.html", "finance", words, rows, money) if rows else ""


def _span(span: PriceSpan, words: Words) -> list[str]:
    usd = (span.low_usd_per_hour, span.median_usd_per_hour, span.high_usd_per_hour)
    days = [words.day(day) for day in (span.first, span.last)]
    amounts = [words.number(amount, digits=4) for amount in usd]
    return [span.region, _terms(span.price_kind.value), str(span.observations), *days, *amounts]


def _listed(row: PriceRow, catalog: Catalog, words: Words) -> Listed:
    provider = provider_name(row.provider, catalog.providers, machine=row.instance_type)
    card = row.accelerator
    carries = f", {row.accelerators}x {card_names({card})[card]}" if card else ""
    amount, net = row.usd_per_hour, row.net_usd_per_hour
    found = WEB.search(row.source)
    link = found[0] if found else ""
    return Listed(
        name=f"{provider}{carries}",
        item=row.item,
        region=row.zone or row.region,
        terms=_terms(row.price_kind.value),
        listed=words("not known") if amount is None else words.number(amount, digits=5),
        net="" if net is None or net == amount else words.number(net, digits=5),
        because=row.net_because or "",
        a_card="" if row.usd_per_accelerator_hour is None else words.number(row.usd_per_accelerator_hour, digits=4),
        age=words("{n} days", n=row.age_days),
        stale=row.stale,
        source=urlsplit(link).hostname or row.source[:80] if link else row.source[:80],
        link=link,
    )


def _terms(kind: str) -> str:
    return kind.replace("_", " ")
