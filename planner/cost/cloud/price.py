"""Price of a candidate's node-hour, or the reason why it is unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import TypeVar

from planner.cost.cloud.price_doubt import price_range
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.prices.offer import LaterPrice, OpenQuote, Price, PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.cents import local_to_usd
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.interval import Interval, sum_of
from planner.scenario.candidate import Candidate
from planner.scenario.price_choice import current_price, prices_of

Priced = TypeVar("Priced", Price, LaterPrice)
BLOCK_PRICE = "block_usd_per_hour"
"""Figure of a reason that names the price of a block if there is none by the hour."""


def node_hour_price(candidate: Candidate, catalog: Catalog, *, today: date | None = None) -> Quantity | None:
    """Return the price of one node-hour: the plan's own, or the catalog's with its range; None if there is none.

    With `today`, the catalog's range includes possible changes since the price was stated.
    """
    own, local = candidate.option.usd_per_hour, candidate.option.local_per_hour
    if own is not None:
        return to_quantity(Interval.exact(own), Unit.USD_PER_HOUR, Basis.QUOTED, "the plan: usd_per_hour")
    if local is not None:
        assert candidate.currency is not None, "the plan's model asks for it"
        return local_to_usd(local, candidate.currency, Unit.USD_PER_HOUR, Basis.QUOTED, "the plan: local_per_hour")
    price = candidate.price
    if price is None or price.usd_per_hour is None:
        return None
    value = price.usd_per_hour
    mean = beyond_commitment(price, nodes=candidate.nodes)
    if mean is not None:
        return mean
    return listed_price(price, value, Unit.USD_PER_HOUR, catalog, today=today)


def listed_price(price: Price, amount: float, unit: Unit, catalog: Catalog, *, today: date | None) -> Quantity:
    """Return a row's price as a quantity: per hour, or per million tokens."""
    doubt, words = price_range(price, amount, catalog, today=today)
    basis = Basis.ASSUMED if price.confidence == "estimate" else Basis.QUOTED
    source = f"{price.price_kind.value} in {price.region}: {price.source}" + (f"; {words}" if words else "")
    return to_quantity(doubt, unit, basis, source, price.as_of)


def no_price_reason(candidate: Candidate, catalog: Catalog) -> Reason:
    """Return why there is no price; never zero."""
    block = current_price(candidate.node.id, catalog, kind=PriceKind.CAPACITY_BLOCK, region=None)
    if candidate.price is not None and candidate.price.no_price_reason:
        text, figures = f"no price: {candidate.price.no_price_reason}", dict[str, float]()
        if block is not None and block.amount is not None:
            figures = {BLOCK_PRICE: block.amount}
            text += (
                f"; as a block {block.amount:,.2f} USD/h in {block.region} (price: {PriceKind.CAPACITY_BLOCK.value})"
            )
        return Reason(code=ReasonCode.NO_PRICE, text=text, figures=figures)
    kind = (candidate.option.price or PriceKind.ON_DEMAND).value
    where = f" in {candidate.option.region}" if candidate.option.region else ""
    rows = prices_of(candidate.node.id, catalog)
    regions: dict[str, dict[str, None]] = {}
    for row in rows:
        regions.setdefault(row.price_kind.value, {})[row.region] = None
    known = [f"{listed} in {', '.join(places)}" for listed, places in regions.items()]
    instead = f"it has {'; '.join(known)}" if known else "give usd_per_hour"
    text = f"no price: the catalog has no {kind} price of {candidate.node.id}{where}; {instead}"
    return Reason(code=ReasonCode.NO_PRICE, text=text)


def price_notes(candidate: Candidate) -> tuple[str, ...]:
    """Return the catalog's note on the price that was used."""
    price = _listed(candidate)
    return (f"price: {price.note}",) if price is not None and price.note else ()


def list_price_of(candidate: Candidate) -> float | None:
    """Return the list price beside a net one; None if the price is the list price."""
    price = _listed(candidate)
    return None if price is None else price.list_usd_per_hour


def open_quote_of(candidate: Candidate) -> OpenQuote | None:
    """Return the quote behind its price that has to be accepted by a last day; None if there is none."""
    price = _listed(candidate)
    return None if price is None else price.open_quote


def beyond_commitment(price: Price | None, *, nodes: int) -> Quantity | None:
    """Return the mean price of a node-hour if more nodes work at once than were bought; otherwise None."""
    if price is None or price.usd_per_hour is None:
        return None
    mean, words = _mean_of_nodes(price, price.usd_per_hour, nodes=nodes)
    if not words:
        return None
    source = f"{words}; {price.price_kind.value} in {price.region}: {price.source}"
    return to_quantity(Interval.exact(mean), Unit.USD_PER_HOUR, Basis.QUOTED, source, price.as_of)


def _mean_of_nodes(price: Price | LaterPrice, usd_per_hour: float, *, nodes: int) -> tuple[float, str]:
    """Return the mean price of a node-hour in USD, in words too if more nodes work at once than were bought.

    USD = (bought x their price + the others x the price of others) / nodes
    """
    bought, beyond = price.committed_nodes, price.beyond_usd_per_hour
    if bought is None or beyond is None or nodes <= bought:
        return usd_per_hour, ""
    mean = (bought * usd_per_hour + (nodes - bought) * beyond) / nodes
    return mean, (f"({bought} bought already x {usd_per_hour:g} + {nodes - bought} x {beyond:g} USD/h) / {nodes} nodes")


def with_nodes_used(price: Price, nodes: int) -> Price:
    """Return the price if other work uses these nodes of its commitments."""

    def left(row: Priced) -> Priced:
        if row.committed_nodes is None:
            return row
        if row.committed_nodes > nodes:
            return row.model_copy(update={"committed_nodes": row.committed_nodes - nodes})
        usual = row.beyond_usd_per_hour or row.usd_per_hour
        return row.model_copy(update={"committed_nodes": None, "beyond_usd_per_hour": None, "usd_per_hour": usual})

    return left(price).model_copy(update={"later": tuple(map(left, price.later))})


def mean_price(
    price: Price | None, usd_per_hour: Quantity, *, nodes: int, hours: float, changes: Sequence[float]
) -> Quantity:
    """Return the mean price of a node-hour over the work, by a price book.

    first = `beyond_commitment`, or the price itself
    USD   = sum over prices of (hours at the price x price) / hours

    `changes` are the hours from the start of the work until each of the price's `later` prices begins.
    """
    first = beyond_commitment(price, nodes=nodes) or usd_per_hour
    if price is None or not changes or hours <= changes[0]:
        return first
    ends = [min(hours, change) for change in (*changes, math.inf)]
    shares = [(end - begin) / hours for begin, end in pairwise((0.0, *ends))]
    at_first = interval(first, Unit.USD_PER_HOUR).scaled(shares[0]) if shares[0] > 0 else Interval.exact(0.0)
    amounts = [_mean_of_nodes(row, row.usd_per_hour, nodes=nodes)[0] for row in price.later]
    later = [Interval.exact(share * usd) for share, usd in zip(shares[1:], amounts, strict=True)]
    named = [f"{share:.3g} of the hours after {row.after} at {usd:g} USD/h"
             for share, row, usd in zip(shares[1:], price.later, amounts, strict=True) if share > 0]  # fmt: skip
    source = "; ".join([*named, first.source])
    return derived(sum_of([at_first, *later]), Unit.USD_PER_HOUR, first, source=source)


def _listed(candidate: Candidate) -> Price | None:
    """Return the catalog's price if it is the one that counts."""
    price = candidate.price
    return None if price is None or price.usd_per_hour is None or candidate.has_own_price else price
