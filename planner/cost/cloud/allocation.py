"""Checks whether work fits into an allocation: its node-hours, and the window in which they can be used."""

from __future__ import annotations

import math
from datetime import date

from planner.model.answer.bill import Bill
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.prices.offer import Price, PriceKind

NODE_HOURS = "node-h"


def node_hours_of(bill: Bill) -> float:
    """Return the node-hours that a bill counts, including set-up and waiting."""
    return sum(
        line.quantity for line in bill.lines if line.quantity_unit == NODE_HOURS and line.usd_per_unit is not None
    )


def first_day(price: Price | None, *, today: date) -> date:
    """Return the first day on which the offer can be used. A grant's window may open later."""
    opens = price.valid_from if price is not None and price.price_kind is PriceKind.GRANT else None
    return max(opens or today, today)


def allocation_reasons(
    price: Price | None, *, bill: Bill | None, finish: date | None, longer: float = 1.0
) -> tuple[Reason, ...]:
    """Return why the price's allocation does not hold the work; empty if it does.

    Its node-hours bind for every kind of price. Its window binds only a grant, because an offer's last day is that of
    accepting it. Work waits until the window opens (`first_day`). `longer` is the multiple of the bill's hours that the
    work stays under with the plan's confidence; `finish` is the last day with that confidence.
    """
    if price is None:
        return ()
    reasons = []
    needed, held = longer * node_hours_of(bill) if bill is not None else 0.0, price.node_hours_limit
    if held is not None and needed > held:
        text = f"the allocation holds {held:,.6g} node-hours, up to {math.ceil(10 * needed) / 10:,.6g} are needed"
        figures = {"held_node_hours": held, "needed_node_hours": needed}
        reasons.append(Reason(code=ReasonCode.ALLOCATION_TOO_SMALL, text=text, figures=figures))
    if price.price_kind is PriceKind.GRANT:
        last = price.valid_until
        if last is not None and finish is not None and finish > last:
            text = f"the allocation ends on {last}, the work on {finish}"
            late = {"late_days": (finish - last).days}
            reasons.append(Reason(code=ReasonCode.ALLOCATION_ENDED, text=text, figures=late))
    return tuple(reasons)
