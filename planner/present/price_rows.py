"""Writes prices as table rows."""

from __future__ import annotations

from collections.abc import Iterable

from planner.model.answer.price_answer import PriceRow, PriceSpan, SourceReport
from planner.model.prices.offer import PriceKind
from planner.present.table import NOT_KNOWN, Row

WORDY = ("source", "note", "range", "to be had")
"""Columns that are too wide for a terminal."""


def price_rows(
    prices: Iterable[PriceRow], *, with_book: bool = False, with_replaced: bool = False, brief: bool = False
) -> list[Row]:
    """Return one row per price with its amount, certainty and age. `brief` leaves out long texts.

    `with_replaced` adds a column that tells whether plans use the price.
    """
    rows = [
        _row(price, with_book=with_book) | ({"used": "yes" if price.used else "no"} if with_replaced else {})
        for price in prices
    ]
    return [{name: cell for name, cell in row.items() if name not in WORDY} for row in rows] if brief else rows


def span_rows(spans: Iterable[PriceSpan]) -> list[Row]:
    """Return one row per region and kind: lowest, median and highest price."""
    return [
        {
            "region": span.region,
            "kind": span.price_kind.value,
            "observations": str(span.observations),
            "from": str(span.first),
            "to": str(span.last),
            "lowest USD/h": _usd(span.low_usd_per_hour),
            "median USD/h": _usd(span.median_usd_per_hour),
            "highest USD/h": _usd(span.high_usd_per_hour),
        }
        for span in spans
    ]


def refresh_rows(reports: Iterable[SourceReport]) -> list[Row]:
    """Return one row per source."""
    return [
        {
            "source": report.source,
            "prices": str(report.prices),
            "new": str(report.new),
            "not listed any more": str(report.vanished),
            "left out": str(sum(report.left_out.values())),
            "problems": "; ".join(report.problems),
        }
        for report in reports
    ]


def _row(price: PriceRow, *, with_book: bool) -> Row:
    hosted, net_hosted = price.usd_per_million_tokens, price.net_usd_per_million_tokens
    net = _usd(price.net_usd_per_hour) if net_hosted is None else f"{net_hosted:g} per million tokens"
    book = {"net USD/h": net, "book": price.net_because or ""} if with_book else {}
    amount = price.usd_per_hour
    return {
        "item": price.item,
        "accelerators": _carries(price),
        "region": price.zone or price.region,
        "kind": price.price_kind.value,
        "USD/h": f"{hosted:g} per million tokens" if hosted is not None else _usd(amount),
        "USD/accelerator-h": _usd(price.usd_per_accelerator_hour),
        "range": _range(price),
        **book,
        "as of": str(price.as_of),
        "age": f"{price.age_days} d" + (", stale" if price.stale else ""),
        "to be had": {None: "", True: "yes", False: "no"}[price.available],
        "known from": f"{price.origin.value}, {price.confidence}",
        "source": price.source,
        "note": price.no_price_reason or price.note or "",
    }


def _carries(price: PriceRow) -> str:
    if price.price_kind is PriceKind.HOSTED_TRAINING:
        return "a service"
    return f"{price.accelerators}x {price.accelerator}" if price.accelerator else NOT_KNOWN


def _range(price: PriceRow) -> str:
    low, high = price.low_usd_per_hour, price.high_usd_per_hour
    value = price.usd_per_hour
    if value is None or (low is None and high is None):
        return ""
    return f"{_usd(low or value)}-{_usd(high or value)}"


def _usd(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:,.4f}".rstrip("0").ljust(len(f"{value:,.2f}"), "0")
