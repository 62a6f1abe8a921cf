"""Bill of an owned machine: electricity, and the cost of keeping a bought or leased one meanwhile (docs/bill.md)."""

from __future__ import annotations

from collections.abc import Sequence

from planner.cost.cloud.bill import Billed
from planner.cost.cloud.bill_lines import UnroundedLine, as_bill
from planner.model.currency import Currency
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import sum_of

ELECTRICITY = "electricity"
NOT_COUNTED = ("storage", "taxes", "your own people's time")


def owned_bill(
    marginal: Quantity | None,
    *,
    trainings: int,
    currency: Currency | None,
    paid_in: str,
    kept: Sequence[UnroundedLine] = (),
) -> Billed | None:
    """Bill trainings on an owned machine: electricity = trainings x usd_marginal, plus the cost of keeping it.

    Electricity is paid in the tariff's currency, the rest in USD. Returns None if the electricity is unknown.
    """
    if marginal is None:
        return None
    count = "1 training" if trainings == 1 else f"{trainings} trainings"
    each = interval(marginal, Unit.USD).scaled(trainings)
    source = f"{count} x {marginal.value:.5g} USD; {marginal.source}"
    line = UnroundedLine(
        ELECTRICITY, each, float(trainings), "trainings", marginal.value, (marginal,), source, currency=paid_in
    )
    usd = sum_of([each, *(entry.usd for entry in kept)])
    bill, total = as_bill(
        [line, *kept], usd, trainings=trainings, currency=currency, no_price=(), unsupported=NOT_COUNTED
    )
    if not kept:
        total = total.model_copy(update={"source": source})
    return Billed(bill, total, total)
