"""Bill hours that are bought and not used, dearer after a term, or not available after a window."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.cloud.bill_lines import UnroundedLine
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.billing_terms import BillingTerms, billing_text, priced_hours, sold_hours
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.formula import named, stated
from planner.quantity.interval import Interval

UNUSED, AFTER_TERM = "unused (minimum, rounding or term)", "dearer after its term"
BEYOND = "beyond its window (cannot be had)"


def unused_line(node_hours: float, rates: BillRates, *, bought_hours: float) -> UnroundedLine:
    """Bill the hours that are bought and not used, given in node-hours."""
    usd = named(UNUSED, node_hours * interval(rates.price, Unit.USD_PER_HOUR).value, "USD", "bought and not used")
    source = (
        f"{bought_hours:,.5g} node-h are bought: {billing_text(rates.terms)}; {node_hours:,.5g} of them are left; "
        f"{rates.price.source}"
    )
    return UnroundedLine(
        UNUSED, Interval.exact(usd), node_hours, "node-h", rates.price.value, (rates.price,), source,
        currency=rates.price_currency,
    )  # fmt: skip


def after_term_line(priced: float, rates: BillRates) -> UnroundedLine:
    """Bill the surcharge of hours on demand after a term, given in node-hours at the price of the term."""
    price, terms = interval(rates.price, Unit.USD_PER_HOUR).value, rates.terms
    surcharge, hours = price * (terms.after_factor - 1), priced / (terms.after_factor - 1)
    source = (
        f"{hours:,.5g} node-h after the term, on demand at {price * terms.after_factor:,.5g} USD/h instead of "
        f"{price:,.5g}; {rates.price.source}"
    )
    usd = named(AFTER_TERM, hours * surcharge, "USD", "hours on demand cost more than those of the term")
    return UnroundedLine(
        AFTER_TERM, Interval.exact(usd), hours, "node-h", surcharge, (rates.price,), source,
        currency=rates.price_currency,
    )  # fmt: skip


def dearer_hours(hours: Interval, terms: BillingTerms) -> Interval:
    """Return the surcharge after a term, in hours at the price of the term."""
    return Interval(*(priced_hours(length, terms) - sold_hours(length, terms) for length in hours))


def beyond_window_line(node_hours: float, rates: BillRates) -> UnroundedLine:
    """Subtract the hours that the work would take beyond the end of its window."""
    usd = -node_hours * interval(rates.price, Unit.USD_PER_HOUR).value
    source = f"{billing_text(rates.terms)}; the work takes {node_hours:,.5g} node-h more; {rates.price.source}"
    return UnroundedLine(
        BEYOND, Interval.exact(usd), -node_hours, "node-h", rates.price.value, (rates.price,), source,
        currency=rates.price_currency,
    )  # fmt: skip


def bought_usd(rent: Interval, training: Quantity, rates: BillRates, bought: Sequence[tuple[int, float]]) -> Quantity:
    """Return the USD of the purchase: for each entry, a number of machines and hours for each."""
    hours = " + ".join(f"{machines} x {each:g} h" for machines, each in bought)
    product = f"({hours})" if len(bought) > 1 else hours
    source = f"{product} x {rates.price.value:g} USD/h: {billing_text(rates.terms)}; {rates.price.source}"
    return derived(rent, Unit.USD, training, rates.price, source=source)


def sold_range(hours: Interval, terms: BillingTerms) -> Interval:
    """Return the hours that must be bought, at the likely use and at its range."""
    value, low, high = (sold_hours(length, terms) for length in hours)
    return Interval(stated("sold_hours", value, "h", billing_text(terms)), low, high)  # the seller's own sizes
