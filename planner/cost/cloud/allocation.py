"""Whether work fits into an allocation: the node-hours that it holds, and the window in which they can be used."""

from __future__ import annotations

from datetime import date

from planner.model.answer.bill import Bill
from planner.model.prices.offer import Price, PriceKind

NODE_HOURS = "node-h"


def node_hours_of(bill: Bill) -> float:
    """Return the node-hours that a bill counts, set-up and waiting included."""
    return sum(
        line.quantity for line in bill.lines if line.quantity_unit == NODE_HOURS and line.usd_per_unit is not None
    )


def beyond_allocation(price: Price | None, *, bill: Bill | None, start: date, finish: date | None) -> str | None:
    """Return why the price's allocation does not hold the work, or None.

    Its node-hours bind whatever the kind of price. Its window binds a grant alone: an offer's last day is that of
    accepting it.
    """
    if price is None:
        return None
    reasons = []
    if price.node_hours_limit is not None and bill is not None and node_hours_of(bill) > price.node_hours_limit:
        reasons.append(
            f"the allocation holds {price.node_hours_limit:,.6g} node-hours, {node_hours_of(bill):,.6g} are needed"
        )
    if price.price_kind is PriceKind.GRANT:
        if price.valid_from is not None and start < price.valid_from:
            reasons.append(f"the allocation begins on {price.valid_from}, the work on {start}")
        if price.valid_until is not None and finish is not None and finish > price.valid_until:
            reasons.append(f"the allocation ends on {price.valid_until}, the work on {finish}")
    return "; ".join(reasons) or None
