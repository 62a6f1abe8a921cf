"""Compute the bills of a campaign at other lengths than the most likely one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from planner.cost.cloud.bill import BilledTrainings
from planner.cost.cloud.billing_terms import BillingTerms
from planner.decide.campaign.campaign_bill import billed_hours, campaign_bill
from planner.decide.options.option import EstimatedOption
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import interval
from planner.quantity.interval import MOST, doubted

LENGTHS = (0.02, 1.0, 50.0)
"""Multiples of the most likely hours between which a bill grows linearly, except at the end of its term."""
MOST_TERMS = 24
"""Terms, one after another, whose ends are followed exactly: two years of a lease by the month."""
JUMP = 1e-6
"""Share of a term within which a bill rises by another whole term."""


def cost_by_hours(
    estimated: EstimatedOption, work: BilledTrainings, *, share: float, hours: Quantity | None, usd: Quantity | None,
    credits: Sequence[LastingCredit],
) -> CostByHours | None:  # fmt: skip
    """Return the campaign's bill at other lengths than the most likely one; None if it grows only with the hours.

    `hours`: hours of the campaign; of one run if others take turns with the machines, as then those of `credits` are.
    `share`: mean work of a training, as a share of the plan's. A block, a window and a price by the token cost the same
    however long the work takes.
    """
    if hours is None or usd is None or hours.value <= 0 or usd.value <= 0:
        return None
    rates = estimated.rates
    if rates is None and not credits:
        return None
    if rates is None or rates.committed or rates.terms.ends:
        if not credits:
            return None
        lengths, bills, whole = [1.0], [usd.value], doubted(usd)
    else:
        if not rates.terms.once and not credits and not estimated.price_changes:
            return None
        exact, lengths = _at_exact_hours(estimated), list(LENGTHS)
        if rates.terms.once:
            single, double = (billed_hours(exact, share=times * share).value for times in (1, 2))
            per_run = [bend / runs for runs in work.by_set for bend in _bends(rates.terms)]
            ends = [(each - (2 * single - double)) / max(double - single, 1e-12) for each in per_run]
            lengths = sorted({*lengths, *(end for end in ends if LENGTHS[0] < end < LENGTHS[-1])})
        each = billed_hours(exact, share=share).value
        changes = [change / (runs * each) for runs in work.by_set for change in estimated.price_changes]
        lengths = sorted({*lengths, *(change for change in changes if LENGTHS[0] < change < LENGTHS[-1])})
        billed = [campaign_bill(exact, work, (), share=share * length) for length in (*lengths, 1.0)]
        known = [each.usd for each in billed if each is not None]
        bills, whole = [each.value for each in known[:-1]], interval(known[-1], Unit.USD)
    return CostByHours(
        hours=tuple(hours.value * length for length in lengths),
        usd=tuple(bills),
        least_factor=max(whole.low / whole.value, 1 / MOST),
        most_factor=whole.high / whole.value,
        credits=tuple(credits),
    )


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
