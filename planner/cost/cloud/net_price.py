"""Net prices from list prices, by the price book. Both stay visible."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from planner.errors import InputError
from planner.model.catalog import Catalog
from planner.model.prices.offer import LaterPrice, Price
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
    until: date | None = None
    """Last day of the entry that ends first; None if none ends. A quote only has to be accepted by its last day."""


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
        return Net(first.usd_per_hour, (text,), first.nodes, agreed=True, until=first.valid_until)
    quotes = [entry for entry in book.quotes if by_hour and entry.applies(price, on)]
    net = base = min((entry.usd_per_hour for entry in quotes), default=listed)
    steps = [f"{entry.name}: quoted at {base:g} USD/h" for entry in quotes if entry.usd_per_hour == base][:1]
    ends: list[date] = []
    for discount in book.stacked():
        if not discount.applies(price, on) or (quotes and not discount.on_quotes):
            continue
        net -= discount.discount_fraction * (base if discount.of == "list" else net)
        steps.append(f"{discount.name}: -{100 * discount.discount_fraction:g} % of the {discount.of}")
        ends += [discount.valid_until] if discount.valid_until is not None else []
        if net <= 0:
            raise InputError(
                f"the price book takes {price.node} ({price.price_kind.value}, {price.region}) down to "
                f"{net:.4g} {unit}: {'; '.join(steps)}.",
                fix="Write of: rest where a discount is of what others have left, or lower the fractions.",
            )
    return Net(net, tuple(steps), agreed=bool(quotes), until=min(ends, default=None)) if steps else None


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
    if listed is None or not (net or notes):
        return price
    if net is None:
        return price.model_copy(update={"note": _joined(price.note, *notes)})
    unit = "USD/M tokens" if price.usd_per_hour is None else "USD/h"
    book_note = f"list {listed:g} {unit}, net {net.amount:.6g} by the price book ({'; '.join(net.steps)})"
    later = () if price.usd_per_hour is None else tuple(_later_prices(price, book, net))
    ends = [f"after {change.after} an hour costs {change.usd_per_hour:g} USD" for change in later]
    note = _joined(book_note, *ends, *notes, price.note)
    if price.usd_per_hour is None:
        update = {"usd_per_million_tokens": net.amount, "list_usd_per_million_tokens": listed}
        return price.model_copy(update={**update, "note": note})
    if net.committed_nodes is not None:
        others = net_of(price, book.model_copy(update={"commitments": ()}), on=on)
        agreed = {
            "usd_per_hour": net.amount, "low_usd_per_hour": None, "high_usd_per_hour": None,
            "list_usd_per_hour": listed, "committed_nodes": net.committed_nodes,
            "beyond_usd_per_hour": others.amount if others else listed, "agreed": True, "note": note,
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


def _later_prices(price: Price, book: PriceBook, net: Net) -> Iterator[LaterPrice]:
    """Yield the price after each entry of the book that ends, as the book gives it on the next day."""
    listed, ends = price.usd_per_hour, net.until
    while ends is not None and ends < date.max and listed is not None:
        then = net_of(price, book, on=ends + timedelta(days=1))
        yield LaterPrice(after=ends, usd_per_hour=listed if then is None else then.amount)
        ends = None if then is None else then.until


def _joined(*notes: str | None) -> str:
    return "; ".join(note for note in notes if note)
