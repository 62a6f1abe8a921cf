"""Writes a bill as table rows or in one sentence, and says which parts have a price."""

from __future__ import annotations

from planner.model.answer.bill import Bill, BillLine
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.currency import Currency, LocalAmount, minor_digits
from planner.model.quantity import Quantity
from planner.present.facts import interval_text
from planner.present.table import NOT_KNOWN, Row


def bill_text(bill: Bill) -> str:
    """Write the bill in one line: `bill 3,826.50 USD: compute 1,141.77, ...; priced 10 of 10`."""
    lines = ", ".join(f"{line.what} {line.usd.value:,.2f}" for line in bill.lines if line.usd.value != 0)
    return f"bill {bill.usd_total.value:,.2f} USD: {lines}; {coverage_text(bill)}"


def coverage_text(bill: Bill) -> str:
    """Write how many parts are priced, the parts without a price and the reason, and the parts never counted."""
    coverage = bill.coverage
    whole = len(coverage.priced) + len(coverage.no_price)
    parts = [] if bill.usd_upfront is None else [f"{bill.usd_upfront:,.2f} USD are paid ahead"]
    if bill.usd_to_pay is not None:
        used = ", ".join(f"{credit.name} {credit.usd:,.2f}" for credit in bill.credits)
        parts.append(f"credits pay {used}; {bill.usd_to_pay:,.2f} USD remain to pay")
    parts.append(f"priced {len(coverage.priced)} of {whole}")
    parts += [f"no price: {missing.what} ({missing.reason})" for missing in coverage.no_price]
    parts += [f"assumed: {rate.what} ({rate.reason})" for rate in coverage.assumed]
    if coverage.unsupported:
        parts.append(f"not counted: {', '.join(coverage.unsupported)}")
    return "; ".join(parts)


def local_text(option: OptionEstimate) -> str:
    """Write the bill's total in the plan's own currency, to follow the USD: ` = 5,357,100 KRW`; empty without one."""
    amount = option.bill.local_total if option.bill else None
    return "" if amount is None else f" = {amount_text(amount)}"


def currency_text(currency: Currency) -> str:
    """Write the exchange rate with its range, date and source."""
    spread = "" if currency.lowest == currency.highest else f" ({currency.lowest:,g} to {currency.highest:,g})"
    return f"{currency.per_usd:,g} a USD{spread} of {currency.as_of}, {currency.source}"


def amount_text(amount: LocalAmount) -> str:
    """Write an amount in the plan's own currency."""
    digits = minor_digits(amount.code) if abs(amount.value) < 1000 else 0
    return f"{amount.value:,.{digits}f} {amount.code}"


def bill_rows(bill: Bill) -> list[Row]:
    """Return one row per line, and the total."""
    code = bill.local_total.code if bill.local_total else None
    rows = [_line_row(line, code) for line in bill.lines]
    total = _row("total", "", "", bill.usd_total, "")
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
        "90 % range": interval_text(usd),
        "basis": usd.basis.value,
        "formula and source": source,
    }
