"""The bill of an owned machine: electricity, and the rest of owning it (docs/bill.md)."""

from __future__ import annotations

from planner.cost.cloud.bill import Billed
from planner.cost.cloud.bill_lines import Entry, as_bill
from planner.model.currency import Currency
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import Interval

ELECTRICITY, OWNING = "electricity", "owning: all but electricity"
UNSUPPORTED = ("storage", "taxes")


def owned_bill(
    marginal: Quantity | None,
    *,
    trainings: int,
    currency: Currency | None,
    paid_in: str,
    full: Quantity | None = None,
) -> Billed | None:
    """Bill trainings on an owned machine: their electricity, and with `full` the rest of owning it in a second line.

    electricity = trainings x usd_marginal        owning = trainings x (usd_total - usd_marginal)

    Electricity is paid in the tariff's currency, the rest in USD. None where the amount that is asked for is not known.
    """
    counted = marginal if full is None else full
    if counted is None:
        return None
    count = "1 training" if trainings == 1 else f"{trainings} trainings"
    usd = interval(counted, Unit.USD).scaled(trainings)
    source = f"{count} x {counted.value:.5g} USD; {counted.source}"
    entries = []
    if marginal is not None:
        each = interval(marginal, Unit.USD).scaled(trainings)
        why = f"{count} x {marginal.value:.5g} USD; {marginal.source}"
        line = Entry(
            ELECTRICITY, each, float(trainings), "trainings", marginal.value, (marginal,), why, currency=paid_in
        )
        entries.append(line)
    if full is not None:
        known = marginal.value if marginal is not None else 0.0
        rest = Interval(full.value - known, full.low - known, full.high - known)
        parts = (full,) if marginal is None else (full, marginal)
        why = f"{count} x ({full.value:.5g} in full - {known:.5g} of electricity) USD; {full.source}"
        entries.append(Entry(OWNING, rest.scaled(trainings), float(trainings), "trainings", rest.value, parts, why))
    unsupported = UNSUPPORTED if full is None else ("taxes",)
    bill, total = as_bill(entries, usd, trainings=trainings, currency=currency, no_price=(), unsupported=unsupported)
    total = total.model_copy(update={"source": source})
    return Billed(bill, total, total)
