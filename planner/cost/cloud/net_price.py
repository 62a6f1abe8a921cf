"""Net prices from list prices, by the price book. Both stay visible."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.prices.offer import LaterPrice, OpenQuote, Price
from planner.model.prices.price_book import PriceBook


class Net(NamedTuple):
    """Net price, with the entries of the book that led to it, in order."""

    amount: float
    """Price per hour; for hosted training per million tokens."""
    steps: tuple[str, ...]
    committed_nodes: int | None = None
    """Number of instances in the commitment, if the price is that of one. Further instances cost the usual price."""
    agreed: bool = False
    """True for a quote or a commitment, which is not a share of the list price."""


def net_of(price: Price, book: PriceBook, *, on: date) -> Net | None:
    """Return the net price per hour or per million tokens; None if no entry applies or there is no price to change.

    1. An instance already committed to costs the committed price, without discounts.
    2. Otherwise a quote replaces the list price; the lowest of several counts.
    3. Then each discount in the book's order: price -= fraction x (the remaining price, or the list price).
    After a quote only those that say so.

    Commitments and quotes are for machines, by the hour. For hosted training only discounts apply.
    """
    listed = price.amount
    if not listed:
        return None
    by_hour, unit = price.usd_per_hour is not None, "USD/h" if price.usd_per_hour is not None else "USD/M tokens"
    held = [entry for entry in book.commitments if by_hour and entry.applies(price, on)]
    if held:
        first = min(held, key=lambda entry: entry.usd_per_hour)
        text = f"{first.name}: {first.nodes} already bought at {first.usd_per_hour:g} USD/h until {first.valid_until}"
        return Net(first.usd_per_hour, (text,), first.nodes, agreed=True)
    quotes = [entry for entry in book.quotes if by_hour and entry.applies(price, on)]
    net = base = min((entry.usd_per_hour for entry in quotes), default=listed)
    steps = [
        f"{entry.name}: quoted at {base:g} USD/h"
        + (f", to be accepted by {entry.valid_until}" if entry.valid_until is not None else "")
        for entry in quotes if entry.usd_per_hour == base
    ][:1]  # fmt: skip
    for discount in book.stacked():
        if not discount.applies(price, on) or (quotes and not discount.on_quotes):
            continue
        net -= discount.discount_fraction * (base if discount.of == "list" else net)
        steps.append(f"{discount.name}: -{100 * discount.discount_fraction:g} % of the {discount.of}")
        if net <= 0:
            raise InputError(
                f"the price book takes {price.node} ({price.price_kind.value}, {price.region}) down to "
                f"{net:.4g} {unit}: {'; '.join(steps)}.",
                fix="Write of: rest where a discount is of what others have left, or lower the fractions.",
            )
    return Net(net, tuple(steps), agreed=bool(quotes)) if steps else None


def with_book(catalog: Catalog, book: PriceBook, *, on: date) -> Catalog:
    """Return the catalog at the book's prices, each with list price, net price and reason, and the valid credits."""
    return catalog.model_copy(
        update={
            "prices": tuple(net_price(price, book, on=on) for price in catalog.prices),
            "own_prices": tuple(net_price(price, book, on=on) for price in catalog.own_prices),
            "credits": tuple(credit for credit in book.credits if on <= credit.expires),
        }
    )


def net_price(price: Price, book: PriceBook, *, on: date) -> Price:
    """Return the price with the book applied, its range in proportion. Credits are named and change nothing."""
    net = net_of(price, book, on=on)
    owed = [credit for credit in book.credits if credit.provider == price.provider and on <= credit.expires]
    notes = [f"credit {credit.name}: {credit.usd:,.2f} USD left until {credit.expires}" for credit in owed]
    listed = price.amount
    later = () if price.usd_per_hour is None else tuple(_later_prices(price, book, net, on=on))
    if listed is None or not (net or notes or later):
        return price
    price = price.model_copy(update={"open_quote": _open_quote(price, book, on=on)})
    ends = [f"after {change.after} an hour costs {change.usd_per_hour:g} USD" for change in later]
    if net is None:
        return price.model_copy(update={"later": later, "note": _joined(*ends, *notes, price.note)})
    unit = "USD/M tokens" if price.usd_per_hour is None else "USD/h"
    book_note = f"list {listed:g} {unit}, net {net.amount:.6g} by the price book ({'; '.join(net.steps)})"
    note = _joined(book_note, *ends, *notes, price.note)
    if price.usd_per_hour is None:
        update = {"usd_per_million_tokens": net.amount, "list_usd_per_million_tokens": listed}
        return price.model_copy(update={**update, "note": note})
    if net.committed_nodes is not None:
        agreed = {
            "usd_per_hour": net.amount, "low_usd_per_hour": None, "high_usd_per_hour": None,
            "list_usd_per_hour": listed, "committed_nodes": net.committed_nodes,
            "beyond_usd_per_hour": _beyond(price, book, on=on), "agreed": True, "note": note,
            "later": later,
        }  # fmt: skip
        return price.model_copy(update=agreed)
    low, high, factor = price.low_usd_per_hour, price.high_usd_per_hour, net.amount / listed
    return price.model_copy(
        update={
            "usd_per_hour": net.amount,
            "low_usd_per_hour": None if low is None else min(low * factor, net.amount),
            "high_usd_per_hour": None if high is None else max(high * factor, net.amount),
            "list_usd_per_hour": listed,
            "agreed": net.agreed,
            "later": later,
            "note": note,
        }
    )


def _open_quote(price: Price, book: PriceBook, *, on: date) -> OpenQuote | None:
    """Return the quote that counts, with what an hour costs if it is not accepted; None if nothing is lost by that."""
    quotes = [entry for entry in book.quotes if price.usd_per_hour is not None and entry.applies(price, on)]
    ends = [entry.valid_until for entry in quotes if entry.usd_per_hour == min(each.usd_per_hour for each in quotes)]
    last = max((end for end in ends if end is not None), default=date.max)
    if last == date.max or None in ends:
        return None
    quoted, otherwise = _beyond(price, book, on=on), _beyond(price, book, on=last + timedelta(days=1))
    if quoted is None or otherwise is None or otherwise <= quoted:
        return None
    beside = any(entry.applies(price, on) for entry in book.commitments)
    return OpenQuote(accept_by=last, usd_per_hour=quoted, otherwise_usd_per_hour=otherwise, beside_commitment=beside)


def _beyond(price: Price, book: PriceBook, *, on: date) -> float | None:
    """Return the price of an instance beyond the commitments."""
    others = net_of(price, book.model_copy(update={"commitments": ()}), on=on)
    return others.amount if others else price.usd_per_hour


def _later_prices(price: Price, book: PriceBook, net: Net | None, *, on: date) -> Iterator[LaterPrice]:
    """Yield the price after each later day on which the book changes it.

    A quote that can be accepted today holds for all of the work.
    """
    listed = price.usd_per_hour
    if listed is None:
        return
    accepted = [entry.model_copy(update={"valid_until": None}) for entry in book.quotes if entry.applies(price, on)]
    book = book.model_copy(update={"quotes": tuple(accepted)})
    days = {
        day
        for entry in (*book.commitments, *book.discounts)
        if entry.covers(price)
        for day in (entry.valid_until, entry.valid_from - timedelta(days=1) if entry.valid_from else None)
        if day is not None and on <= day < date.max
    }
    before = (listed, None) if net is None else (net.amount, net.committed_nodes)
    for after in sorted(days):
        then = net_of(price, book, on=after + timedelta(days=1))
        amount, nodes = (listed, None) if then is None else (then.amount, then.committed_nodes)
        if (amount, nodes) != before:
            beyond = None if nodes is None else _beyond(price, book, on=after + timedelta(days=1))
            yield LaterPrice(after=after, usd_per_hour=amount, committed_nodes=nodes, beyond_usd_per_hour=beyond)
        before = (amount, nodes)


def _joined(*notes: str | None) -> str:
    return "; ".join(note for note in notes if note)
