"""Compute a campaign's payments by how its machine is held: now, in cash, after credits, resale, full cost."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.cloud.bill_lines import UnroundedLine
from planner.cost.cloud.cost_by_hours import credits_at
from planner.cost.ownership.life import leased_hours
from planner.cost.ownership.purchase import keeping, lease_term, left, pay_now
from planner.decide.options.option import EstimatedOption
from planner.model.answer.campaign import CostByHours
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.quantity.interval import Interval, doubted, sum_of


@dataclass(frozen=True)
class Bought:
    """Price of machines that are bought, and their resale value on the campaign's last day."""

    paid: Quantity
    left: Quantity | None
    """Resale value; None if that day is not known."""


@dataclass(frozen=True)
class CampaignMoney:
    """Payments of the campaign, as the fields of `CampaignOption`; None if unknown."""

    pay_now_usd: Quantity | None
    cash_usd: Quantity | None
    to_pay_usd: Quantity | None
    taken_off_usd: Quantity | None
    left_usd: Quantity | None
    full_usd: Quantity | None


def held_hours(estimated: EstimatedOption) -> float:
    """Return the hours for which its machines are held: a lease, or a term that is paid already; infinite otherwise."""
    rates, leased = estimated.rates, leased_hours(estimated.resolved)
    paid_term = rates is not None and rates.committed and rates.terms.once
    return min(leased, rates.terms.minimum_hours) if rates is not None and paid_term else leased


def kept_entries(estimated: EstimatedOption, *, nodes: int, days: int | None) -> list[UnroundedLine]:
    """Bill the keeping of machines that are bought or leased for the campaign, from when they are ready to its end."""
    candidate, resolved = estimated.candidate, estimated.resolved
    if candidate is None or candidate.site is None or candidate.hold is Hold.HAVE or resolved is None or days is None:
        return []
    kept = keeping(resolved, nodes=nodes, days=days)
    return [lease_term(resolved, nodes=nodes), *kept] if candidate.hold is Hold.RENT else kept


def bought(estimated: EstimatedOption, catalog: Catalog, *, nodes: int, days: int | None) -> Bought | None:
    """Return the cost of machines that must be bought; None for other options, and if the price is unknown."""
    resolved = estimated.resolved
    if estimated.option.hold is not Hold.BUY or resolved is None:
        return None
    paid = pay_now(resolved, nodes=nodes)
    if days is None:
        return Bought(paid, None)
    return Bought(paid, left(resolved, paid, catalog.holding_defaults.selling_fraction, nodes=nodes, days=days))


def campaign_money(
    estimated: EstimatedOption,
    *,
    campaign_usd: Quantity | None,
    purchase: Bought | None,
    hours: Quantity | None,
    cost: CostByHours | None,
    runs: int,
) -> CampaignMoney:
    """Add up a campaign's money.

    cash   = campaign_usd, of a purchase with what is paid now
    to pay = max(0, cash - credits of the provider that last until the last day)
    taken off = resale value of a purchase if it is sold + other use x (cash - electricity - resale value)
    full   = runs x the full cost of owning for the hours of one training, of an owned or bought machine
    """
    option, total = estimated.option, estimated.option.usd_total
    full = total if option.hold in (Hold.HAVE, Hold.BUY) else None
    if full is not None and total is not None:
        source = f"{runs} x {total.value:.5g} USD; {total.source}"
        full = derived(interval(total, Unit.USD).scaled(runs), Unit.USD, total, source=source)
    paid, known = (purchase.paid, purchase.left) if purchase is not None else (None, None)
    if campaign_usd is None:
        return CampaignMoney(paid, None, None, None, known, full)
    if purchase is None:
        to_pay = _after_credits(campaign_usd, hours, cost)
        return CampaignMoney(None, campaign_usd, to_pay, None, None, full)
    assert paid is not None
    usd = sum_of([interval(paid, Unit.USD), interval(campaign_usd, Unit.USD)])
    source = f"{paid.value:,.2f} USD now + {campaign_usd.value:,.2f} until the campaign ends; {paid.source}"
    heavy = [part for part in (paid, campaign_usd) if part.value >= MATERIAL_FRACTION * usd.value]
    cash = derived(usd, Unit.USD, *heavy, source=source)
    assert option.usd_marginal is not None, "the campaign's bill holds it"
    electricity = interval(option.usd_marginal, Unit.USD).scaled(runs)
    return CampaignMoney(paid, cash, cash, _taken_off(estimated, cash, electricity, purchase), known, full)


def _after_credits(cash: Quantity, hours: Quantity | None, cost: CostByHours | None) -> Quantity:
    """Subtract the credits of its provider that last until the campaign ends, also from the range."""
    if hours is None or cost is None or not cost.credits:
        return cash
    import numpy as np

    lengths, out = doubted(hours), interval(cash, Unit.USD)
    paid = credits_at(cost.credits, np.array(lengths))
    left = Interval(*(max(0.0, usd - float(each)) for usd, each in zip(out, paid, strict=True)))
    source = f"{cash.value:,.2f} USD - {paid[0]:,.2f} of credits; {cash.source}" if paid[0] else cash.source
    return derived(Interval(left.value, min(left), max(left)), Unit.USD, cash, source=source)


def _taken_off(estimated: EstimatedOption, cash: Quantity, electricity: Interval, purchase: Bought) -> Quantity | None:
    """Return the resale value of a bought machine if it is sold, and others' share of its other costs."""
    candidate = estimated.candidate
    assert candidate is not None
    sold = purchase.left if candidate.option.sell_after else None
    others = candidate.option.other_use or 0.0
    if sold is None and not others:
        return None
    left_over = interval(sold, Unit.USD) if sold is not None else Interval.exact(0.0)
    out = interval(cash, Unit.USD)
    value, *ends = (max(0.0, out[end] - electricity[end]) for end in range(3))
    shared = Interval(value, min(value, *ends), max(value, *ends))
    usd = sum_of([left_over.scaled(1 - others), shared.scaled(others)])
    sale = [f"{sold.value:,.2f} USD that it fetches when it is sold"] if sold is not None else []
    share = [f"{others:g} of the rest but its electricity, which others pay (other_use)"] if others else []
    parts = (cash,) if sold is None else (cash, sold)
    return derived(usd, Unit.USD, *parts, source=" + ".join([*sale, *share]))
