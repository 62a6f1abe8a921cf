"""What a campaign costs by how its machine is held: paid now, cash out, to pay, left, in full."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.cloud.bill_lines import UnroundedLine
from planner.cost.cloud.cost_by_hours import after_credits, credits_at
from planner.cost.ownership.purchase import keeping, lease_term, left, pay_now
from planner.decide.options.option import EstimatedOption
from planner.model.answer.cost_by_hours import CostByHours
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.quantity import Quantity, Unit
from planner.quantity.chance import doubted
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval
from planner.quantity.interval import Interval, sum_of


@dataclass(frozen=True)
class Bought:
    """What machines that must be bought cost, and what they fetch on the campaign's last day."""

    paid: Quantity
    left: Quantity | None
    """None where that day is not known."""


@dataclass(frozen=True)
class CampaignMoney:
    """What the campaign costs, as the fields of `CampaignOption`; None where it is not known."""

    pay_now_usd: Quantity | None
    cash_usd: Quantity | None
    to_pay_usd: Quantity | None
    taken_off_usd: Quantity | None
    left_usd: Quantity | None
    full_usd: Quantity | None


def kept_entries(estimated: EstimatedOption, *, nodes: int, days: int | None) -> list[UnroundedLine]:
    """Bill the keeping of machines that are bought or leased for the campaign, from when they are ready to its end."""
    candidate, resolved = estimated.candidate, estimated.resolved
    if candidate is None or candidate.site is None or candidate.hold is Hold.HAVE or resolved is None or days is None:
        return []
    kept = keeping(resolved, nodes=nodes, days=days)
    return [lease_term(resolved, nodes=nodes), *kept] if candidate.hold is Hold.RENT else kept


def bought(estimated: EstimatedOption, catalog: Catalog, *, nodes: int, days: int | None) -> Bought | None:
    """Return what the machines of an option cost that must be bought; None of others, and at a price nobody knows."""
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
    taken off = what is left of a purchase if it is sold + other use x (cash - electricity - that)
    full   = runs x the full cost of owning for the hours of one training, of a machine that somebody has or buys
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
    """Take off what credits of its provider pay, from the range as well: those that last until the campaign ends."""
    if hours is None or cost is None or not cost.credits:
        return cash
    import numpy as np

    paid = float(credits_at(cost.credits, np.array([hours.value]))[0])
    source = f"{cash.value:,.2f} USD - {paid:,.2f} of credits; {cash.source}" if paid else cash.source
    return derived(after_credits(cost, doubted(hours)), Unit.USD, cash, source=source)


def _taken_off(estimated: EstimatedOption, cash: Quantity, electricity: Interval, purchase: Bought) -> Quantity | None:
    """Return what a bought machine fetches where it is sold, and others' share of the rest but its electricity."""
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
