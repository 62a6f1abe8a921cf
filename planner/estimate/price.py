"""What one node of a candidate costs an hour, or why that is not known."""

from __future__ import annotations

from planner.estimate.border import stated
from planner.estimate.candidate import Candidate
from planner.estimate.interval import Interval
from planner.model.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit


def price_of(candidate: Candidate) -> Quantity | None:
    """Return the price of one node-hour: the plan's own, or the catalog's with its range; None where there is none."""
    own = candidate.option.usd_per_hour
    if own is not None:
        return stated(Interval.exact(own), Unit.USD_PER_HOUR, Basis.QUOTED, "the plan: usd_per_hour")
    price = candidate.price
    if price is None or price.usd_per_hour is None:
        return None
    value = price.usd_per_hour
    doubt = Interval(value, min(value, price.low_usd_per_hour or value), max(value, price.high_usd_per_hour or value))
    basis = Basis.ASSUMED if price.confidence == "estimate" else Basis.QUOTED
    source = f"{price.price_kind.value} in {price.region}: {price.source}"
    return stated(doubt, Unit.USD_PER_HOUR, basis, source, price.as_of)


def no_price_reason(candidate: Candidate) -> str:
    """Say why there is no price; never zero."""
    if candidate.price is not None and candidate.price.no_price_reason:
        return f"no price: {candidate.price.no_price_reason}"
    kind = (candidate.option.price or PriceKind.ON_DEMAND).value
    where = f" in {candidate.option.region}" if candidate.option.region else ""
    return f"no price: the catalog has no {kind} price of {candidate.node.id}{where}; give usd_per_hour"


def price_notes(training: Quantity, candidate: Candidate) -> tuple[str, ...]:
    """Return what the catalog says of its price, and what is really bought where it has a minimum term.

    The estimate itself counts the hours used.
    """
    price = candidate.price
    if price is None or price.usd_per_hour is None or candidate.option.usd_per_hour is not None:
        return ()
    notes = [f"price: {price.note}"] if price.note else []
    if training.value < price.minimum_hours:
        usd = price.minimum_hours * price.usd_per_hour * candidate.nodes
        notes.append(f"sold for at least {price.minimum_hours:g} h: the smallest purchase is {usd:,.0f} USD")
    return tuple(notes)
