"""Compute the rent of a set of machines at other hours than the most likely ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.billing_terms import BillingTerms, priced_hours
from planner.cost.cloud.price import mean_price
from planner.decide.campaign.campaign_bill import billed_hours, campaign_bill
from planner.decide.options.option import EstimatedOption
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import MOST, doubted

LONGEST = 1e6
"""Hours up to which a rent grows: 114 years."""
MOST_TERMS = 24
"""Terms, one after another, whose ends are followed exactly: two years of a lease by the month."""
JUMP = 1e-6
"""Share of a term within which a bill rises by another whole term."""


def cost_by_hours(
    estimated: EstimatedOption, work: BilledTrainings, *, share: float, usd: Quantity | None,
    credits: Sequence[LastingCredit],
) -> CostByHours | None:  # fmt: skip
    """Return the rent of a set of machines by its billed hours; None if the bill grows only with the hours.

    `share`: mean work of a training, as a share of the plan's. `usd`: bill of the campaign. A block, a window and a
    price by the token cost the same however long the work takes.
    """
    if usd is None or usd.value <= 0:
        return None
    rates = estimated.rates
    hours: tuple[float, ...] = (0.0,)
    rents: tuple[float, ...] = (usd.value,)
    if rates is None or rates.committed or rates.terms.ends:
        if not credits:
            return None
        run_hours, whole = 0.0, doubted(usd)
    else:
        if not rates.terms.once and not credits and not estimated.price_changes:
            return None
        billed = campaign_bill(_at_exact_hours(estimated), work, (), share=share)
        assert billed is not None, "it has a bill"
        ends = _bends(rates.terms) if rates.terms.once else []
        hours = tuple(sorted({0.0, *ends, *estimated.price_changes, LONGEST}))
        rents = tuple(_rent(estimated, rates, each, sets=work.sets) for each in hours)
        run_hours, whole = billed_hours(estimated, share=share).value, interval(billed.usd, Unit.USD)
    return CostByHours(
        hours=hours,
        usd=rents,
        run_hours=run_hours,
        least_factor=max(whole.low / whole.value, 1 / MOST),
        most_factor=whole.high / whole.value,
        credits=tuple(credits),
    )


def _rent(estimated: EstimatedOption, rates: BillRates, hours: float, *, sets: int) -> float:
    """Return the rent of one of several sets of machines for its billed hours, with the support on it.

    USD = nodes x hours sold, at the price of the term x mean price of the days on which they are paid x (1 + support)
    """
    terms = rates.terms if rates.terms.once else BillingTerms()
    price = mean_price(
        estimated.price, rates.price, nodes=rates.nodes * sets, hours=max(hours, terms.minimum_hours),
        changes=estimated.price_changes,
    )  # fmt: skip
    return rates.nodes * priced_hours(hours, terms) * price.value * (1 + rates.support_fraction.value)


def _bends(terms: BillingTerms) -> list[float]:
    """Return the hours of a set at which its bill changes its slope: the end of a term, and where another costs less.

    Without a price on demand the bill jumps at the end of each term.
    """
    term, factor = terms.minimum_hours, terms.after_factor
    if factor <= 1:
        return [term]
    another = 1 + (JUMP if math.isinf(factor) else 1 / factor)
    return [term * part for count in range(MOST_TERMS) for part in (count + 1, count + another)]


def _at_exact_hours(estimated: EstimatedOption) -> EstimatedOption:
    """Return the option as if the hours of its training were certain."""
    time = estimated.option.time
    update: dict[str, object] = {"training_hours": _certain(estimated.option.training_hours)}
    if time is not None:
        lost, practice = _certain(time.lost_hours), _certain(time.practice_hours)
        update["time"] = time.model_copy(update={"lost_hours": lost, "practice_hours": practice})
    return replace(estimated, option=estimated.option.model_copy(update=update))


def _certain(quantity: Quantity | None) -> Quantity | None:
    return None if quantity is None else quantity.model_copy(update={"low": quantity.value, "high": quantity.value})
