"""Compute the cost of one training on one candidate, rented or owned, with reasons for unknown figures."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.cloud.bill import BilledTrainings, rented_bill
from planner.cost.cloud.bill_rates import BillRates
from planner.cost.cloud.billing_terms import terms_notes
from planner.cost.cloud.cloud_cost import rent_usd
from planner.cost.cloud.price import no_price_reason, price_notes
from planner.cost.ownership.owned_bill import owned_bill
from planner.cost.ownership.owned_money import owned_money
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.options.one_training import times_nodes
from planner.model.answer.bill import Bill
from planner.model.answer.reason import Reason
from planner.model.answer.training_time import TrainingTime
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.scenario.candidate import Candidate

LEAST_SAID_USD = 0.01


@dataclass(frozen=True)
class Usage:
    """Hours and energy of one training; None if unknown."""

    epoch: Quantity | None
    """Hours of one epoch's steps; `training` is for all epochs."""
    training: Quantity | None
    time: TrainingTime | None
    energy: Quantity | None
    power: Quantity | None


@dataclass(frozen=True)
class Money:
    """Cost of one training, with reasons for missing figures."""

    usd_per_epoch: Quantity | None = None
    usd_total: Quantity | None = None
    usd_marginal: Quantity | None = None
    smallest_purchase_usd: Quantity | None = None
    bill: Bill | None = None
    missing: tuple[Reason, ...] = ()
    notes: tuple[str, ...] = ()
    resolved: ResolvedSite | None = None
    """Resolved site of an owned machine whose full cost is known."""


def owned(plan: Plan, candidate: Candidate, catalog: Catalog, usage: Usage, *, paid_in: str) -> Money:
    """Compute the marginal and the full cost on an owned machine; its bill holds the marginal cost."""
    wall = usage.time.wall_hours if usage.time is not None else None
    counted = owned_money(
        plan, candidate, catalog, epoch=usage.epoch, training=wall, energy=usage.energy, power=usage.power
    )
    billed = owned_bill(counted.usd_marginal, trainings=1, currency=plan.currency, paid_in=paid_in)
    return Money(
        usd_per_epoch=counted.usd_per_epoch,
        usd_total=counted.usd_total,
        usd_marginal=counted.usd_marginal,
        bill=billed.bill if billed else None,
        missing=counted.missing,
        notes=counted.notes,
        resolved=counted.resolved,
    )


def rented(candidate: Candidate, catalog: Catalog, rates: BillRates | None, usage: Usage, *, longer: float) -> Money:
    """Compute the bill of a single training; without rates there is no price.

    `longer`: how many times its likely hours a block is bought for.
    """
    if rates is None:
        return Money(missing=(no_price_reason(candidate, catalog),))
    if usage.epoch is None or usage.training is None or usage.time is None:
        return Money()
    time = usage.time
    once = BilledTrainings(longer=longer)
    billed = rented_bill(usage.training, rates, once, lost=time.lost_hours, practice=time.practice_hours)
    return Money(
        usd_per_epoch=_rent(usage.epoch, rates.price, candidate),
        usd_total=billed.worth,
        usd_marginal=billed.usd,
        smallest_purchase_usd=billed.bought,
        bill=billed.bill,
        notes=price_notes(candidate) + terms_notes(candidate),
    )


def unpriced(bill: Bill | None) -> tuple[str, ...]:
    """Return the names of items that are not on the bill because their price or size is unknown."""
    return () if bill is None else tuple(dict.fromkeys(each.what for each in bill.coverage.no_price))


def assumed_rates(bill: Bill | None) -> tuple[str, ...]:
    """Return the names of items at an assumed rate that may be 5 % of the bill or more."""
    if bill is None:
        return ()
    least = MATERIAL_FRACTION * bill.usd_total.value
    return tuple(rate.what for rate in bill.coverage.assumed if rate.high_usd >= max(least, LEAST_SAID_USD))


def _rent(hours: Quantity, price: Quantity, candidate: Candidate) -> Quantity:
    usd = rent_usd(
        hours=interval(hours, Unit.HOURS),
        nodes=candidate.nodes,
        usd_per_node_hour=interval(price, Unit.USD_PER_HOUR),
    )
    source = f"{hours.value:.5g} h{times_nodes(candidate)} x {price.value:g} USD/h; {price.source}"
    return derived(usd, Unit.USD, hours, price, source=source)
