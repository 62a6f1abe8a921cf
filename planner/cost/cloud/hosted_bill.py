"""Bill of a service that trains for a price per million tokens."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.cloud.bill import Billed, support_entry
from planner.cost.cloud.bill_lines import UnroundedLine, as_bill
from planner.model.currency import Currency
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import sum_of

BY_TOKENS = "training by the token"
NOT_COUNTED = ("validation tokens", "keeping and serving the trained model", "taxes")
"""Charges of services besides the tokens that are trained on."""


@dataclass(frozen=True)
class HostedRates:
    """Factors of the bill."""

    usd_per_million_tokens: Quantity
    million_tokens: float
    """Million tokens of one training."""
    support_fraction: Quantity
    currency: Currency | None


def hosted_bill(rates: HostedRates, *, trainings: int) -> Billed:
    """Bill trainings by the token, with the support that the plan adds to a provider's bill."""
    price = rates.usd_per_million_tokens
    count = trainings * rates.million_tokens
    usd = interval(price, Unit.USD_PER_MILLION_TOKENS).scaled(count)
    times = f"{trainings} trainings x " if trainings > 1 else ""
    source = f"{times}{rates.million_tokens:,.6g} million tokens x {price.value:g} USD; {price.source}"
    entries = [UnroundedLine(BY_TOKENS, usd, count, "M tokens", price.value, (price,), source)]
    if rates.support_fraction.value > 0:
        entries.append(support_entry(entries, usd, rates.support_fraction))
    total = sum_of([entry.usd for entry in entries])
    bill, exact = as_bill(
        entries, total, trainings=trainings, currency=rates.currency, no_price=(), unsupported=NOT_COUNTED
    )
    return Billed(bill, exact, exact)
