"""What credits of the price book leave to pay of a bill: a campaign's, or that of one training."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from planner.model.answer.bill import Bill, CreditUsed
from planner.model.prices.price_book import Credit
from planner.quantity.cents import to_cents


def credits_until(credits: Sequence[Credit], *, provider: str, finish: date) -> float:
    """Return what credits of a provider hold that last until the last day of what is billed."""
    return sum(credit.usd for credit in credits if credit.provider == provider and credit.expires >= finish)


def with_credits(bill: Bill, credits: Sequence[Credit], *, provider: str, finish: date | None) -> Bill:
    """Return the bill with what the provider's credits pay of it, those that expire first before the others.

    to pay = max(0, total - credits that last until the last day of what is billed)

    A credit that expires sooner counts for nothing: which part of the bill it would still meet is not known. The
    bill's total does not change; budget and ranking count what remains to pay (`planner/decide/campaign/held.py`).
    """
    left, used = to_cents(bill.usd_total.value), []
    for credit in sorted(credits, key=lambda one: one.expires):
        paid = min(left, to_cents(credit.usd))
        if credit.provider != provider or finish is None or credit.expires < finish or paid <= Decimal(0):
            continue
        left -= paid
        source = f"{credit.source}; {credit.usd:,.2f} USD until {credit.expires}"
        used.append(CreditUsed(name=credit.name, usd=float(paid), source=source))
    return bill.model_copy(update={"credits": tuple(used), "usd_to_pay": float(left)}) if used else bill
