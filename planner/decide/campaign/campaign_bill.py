"""Bill a campaign on one option, and count the billed hours of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from planner.cost.cloud.bill import Billed, BilledTrainings, hours_of_a_run, rented_bill
from planner.cost.cloud.bill_lines import UnroundedLine
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.hosted_bill import hosted_bill
from planner.cost.cloud.price import mean_price
from planner.cost.ownership.owned_bill import owned_bill
from planner.decide.options.option import EstimatedOption
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval
from planner.quantity.interval import Interval, sum_of_ends


def campaign_bill(
    estimated: EstimatedOption, work: BilledTrainings, kept: Sequence[UnroundedLine], *, share: float = 1.0
) -> Billed | None:
    """Bill the campaign: a term once for all of it, everything else training by training.

    `share`: the mean work of a training, as a share of the plan's; what is kept and moved is that of the plan's.
    """
    if estimated.hosted is not None:
        tokens = estimated.hosted.million_tokens * share
        return hosted_bill(replace(estimated.hosted, million_tokens=tokens), trainings=work.trainings)
    training, time = _shared(estimated.option.training_hours, share), estimated.option.time
    if estimated.rates is not None:
        if training is None or time is None:
            return None
        rates = replace(estimated.rates, price=_mean_over_sets(estimated, estimated.rates, work, share=share))
        return rented_bill(
            training, rates, work, lost=_shared(time.lost_hours, share), practice=_shared(time.practice_hours, share)
        )
    if estimated.option.site is None:
        return None
    return owned_bill(
        _shared(estimated.option.usd_marginal, share),
        trainings=work.trainings,
        currency=estimated.currency,
        paid_in=estimated.tariff_currency,
        kept=kept,
    )


def _mean_over_sets(estimated: EstimatedOption, rates: BillRates, work: BilledTrainings, *, share: float) -> Quantity:
    """Return the mean price of a node-hour over the hours of all sets of machines, each at the prices of its days.

    Each hour of a term is paid at the price of its day, also after the work.
    """
    changes, nodes = estimated.price_changes, rates.nodes * work.sets
    each = billed_hours(estimated, share=share).value if changes else 0.0
    least = rates.terms.minimum_hours if rates.terms.once and not rates.terms.ends else 0.0
    hours = {runs: max(runs * each, least) for runs in work.by_set}
    prices = {
        runs: mean_price(estimated.price, rates.price, nodes=nodes, hours=of_set, changes=changes)
        for runs, of_set in hours.items()
    }
    first, whole = next(iter(prices.values())), sum(hours[runs] * sets for runs, sets in work.by_set.items())
    if len(prices) == 1 or whole <= 0:
        return first
    shares = [
        interval(prices[runs], Unit.USD_PER_HOUR).scaled(hours[runs] * sets / whole)
        for runs, sets in work.by_set.items()
    ]
    return derived(sum_of_ends(shares), Unit.USD_PER_HOUR, first, source=first.source)


def billed_hours(estimated: EstimatedOption, *, share: float = 1.0) -> Interval:
    """Return the hours of one run that count against a term, a block or an allocation of a rented option."""
    training, time = _shared(estimated.option.training_hours, share), estimated.option.time
    assert estimated.rates is not None, "it is rented"
    assert training is not None, "it has a bill"
    assert time is not None, "it has a bill"
    lost, practice = _shared(time.lost_hours, share), _shared(time.practice_hours, share)
    return hours_of_a_run(training, estimated.rates, lost=lost, practice=practice)


def _shared(quantity: Quantity | None, share: float) -> Quantity | None:
    if quantity is None or share == 1:
        return quantity
    source = f"{share:.4g} of the plan's work x {quantity.value:.5g} {quantity.unit}; {quantity.source}"
    return derived(interval(quantity, quantity.unit).scaled(share), quantity.unit, quantity, source=source)
