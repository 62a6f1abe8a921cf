"""Writes a bill as table rows: every line and the total, in cents."""

from __future__ import annotations

from planner.model.answer.bill import Bill, BillLine
from planner.model.currency_codes import minor_digits
from planner.model.quantity import Quantity
from planner.present.table import NOT_KNOWN, Row, range_text

TOTAL = "total"


def bill_rows(bill: Bill) -> list[Row]:
    """Return one row per line, and the total."""
    code = bill.local_total.code if bill.local_total else None
    rows = [_line_row(line, code) for line in bill.lines]
    total = _row(TOTAL, "", "", bill.usd_total, "")
    if code is not None and bill.local_total is not None:
        total |= {code: _local(bill.local_total.value, code)}
    return [*rows, total]


def _line_row(line: BillLine, code: str | None) -> Row:
    quantity = f"{line.quantity:,.5g} {line.quantity_unit}"
    if line.hours is not None:
        quantity += f" in {line.hours:,.3g} h"
    price = NOT_KNOWN if line.usd_per_unit is None else f"{line.usd_per_unit:,.6g}"
    row = _row(line.what, quantity, price, line.usd, line.usd.source)
    if code is not None and line.local is not None:
        row |= {code: _local(line.local, code)}
    return row


def _local(amount: float, code: str) -> str:
    return f"{amount:,.{minor_digits(code)}f}"


def _row(what: str, quantity: str, price: str, usd: Quantity, source: str) -> Row:
    return {
        "line": what,
        "quantity": quantity,
        "USD each": price,
        "USD": f"{usd.value:,.2f}",
        "90 % range": "exact" if usd.low == usd.high else range_text(usd),
        "basis": usd.basis.value,
        "formula and source": source,
    }
