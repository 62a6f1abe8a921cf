"""Applies credits of the price book to the bill of a campaign or of one training."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from planner.model.answer.bill import Bill, CreditUsed
from planner.model.prices.price_book import Credit
from planner.quantity.cents import to_cents


def credits_until(credits: Sequence[Credit], *, provider: str, finish: date) -> float:
    """Return the total of a provider's credits that last until the last billed day."""
    return sum(credit.usd for credit in credits if credit.provider == provider and credit.expires >= finish)


def with_credits(bill: Bill, credits: Sequence[Credit], *, provider: str, finish: date | None) -> Bill:
    """Return the bill with the provider's credits applied, those that expire first before the others.

    to pay = max(0, total - credits that last until the last day of what is billed)

    A credit that expires sooner counts as zero, because the part of the bill that it would still pay is unknown. The
    bill's total does not change. Budget and ranking count the remaining payment (`planner/decide/campaign/held.py`).
    """
    left, used = to_cents(bill.usd_total.value), []
    for credit in sorted(credits, key=lambda credit: credit.expires):
        paid = min(left, to_cents(credit.usd))
        if credit.provider != provider or finish is None or credit.expires < finish or paid <= Decimal(0):
            continue
        left -= paid
        source = f"{credit.source}; {credit.usd:,.2f} USD until {credit.expires}"
        used.append(CreditUsed(name=credit.name, usd=float(paid), source=source))
    return bill.model_copy(update={"credits": tuple(used), "usd_to_pay": float(left)}) if used else bill
