"""Finds the price of a node-hour on a target, with its source and notes for the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from planner.errors import InputError
from planner.launcher.backends.hosts import Host
from planner.launcher.plan.bill import NodeRate
from planner.launcher.plan.target import LaunchProvider, Purchase, Target
from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, PriceKind, stale_days
from planner.model.quantity import Basis
from planner.scenario.price_choice import current_price
from planner.use_cases.launching.launch_target import LaunchTerms

KINDS: Mapping[Purchase, PriceKind] = {
    "on_demand": PriceKind.ON_DEMAND,
    "spot": PriceKind.SPOT,
    "reservation": PriceKind.ON_DEMAND,
    "capacity_block": PriceKind.CAPACITY_BLOCK,
}


@dataclass(frozen=True)
class Priced:
    """The price of a node-hour or the reason for its absence, with its region and notes for the user."""

    rate: NodeRate | None
    no_price_reason: str | None
    region: str | None
    notes: tuple[str, ...] = ()


def launch_price(
    target: Target, terms: LaunchTerms, catalog: Catalog, hosts: Mapping[str, Host], *, today: date
) -> Priced:
    """Return the user's own price, else that of hosts.yaml, else the catalog's."""
    if terms.usd_per_hour is None and target.provider is LaunchProvider.HOST:
        rate = _rate_of_hosts(target, hosts)
        if rate is not None:
            return Priced(rate, None, None)
    if not target.is_cloud:
        if terms.usd_per_hour is not None:
            return Priced(_given(terms.usd_per_hour), None, target.region)
        reason = f"{target.id} is there already; launching on it makes no invoice of its own"
        return Priced(None, reason, target.region)
    row = current_price(target.id, catalog, kind=KINDS[target.purchase], region=target.region)
    known = _rate_of_row(row) if row is not None and row.usd_per_hour is not None else None
    region = target.region or (None if row is None or known is None or row.region == "any" else row.region)
    if target.reservation is not None and region is None:
        raise InputError(
            f"{target.reservation}: lies in one region, and which one is not known.", fix="Give it: --region us-east-2"
        )
    rate = _given_for_cloud(target, terms.usd_per_hour, known) if terms.usd_per_hour is not None else known
    if rate is None:
        where = f" in {target.region}" if target.region else ""
        stated = row.no_price_reason if row is not None else None
        reason = stated or f"the catalog has no {target.purchase} price of {target.id}{where}"
        return Priced(None, reason, target.region)
    rate = _beside_list(rate, target.model_copy(update={"region": region}), catalog)
    if target.reservation is not None:
        rate = _or_on_demand(rate, current_price(target.id, catalog, kind=PriceKind.ON_DEMAND, region=region))
    return Priced(rate, None, region, tuple(_notes(target, rate, known, today=today)))


def _rate_of_hosts(target: Target, hosts: Mapping[str, Host]) -> NodeRate | None:
    """Return the mean price of the hosts, so that nodes x price is their sum; None if none has a price.

    A host without a price counts as the dearest one.
    """
    names = (target.name, *target.more_hosts)
    stated = {name: usd for name in names if (usd := hosts[name].usd_per_hour) is not None}
    if not stated:
        return None
    dearest = max(stated.values())
    silent = [name for name in names if name not in stated]
    source = f"hosts.yaml: {', '.join(f'{name} {usd:g}' for name, usd in stated.items())} USD per hour"
    if silent:
        source += f"; {', '.join(silent)}: no price, taken as the dearest"
    return _simple(sum(stated.get(name, dearest) for name in names) / len(names), source)


def _given(usd: float) -> NodeRate:
    return _simple(usd, "--usd-per-hour of the launch command")


def _beside_list(rate: NodeRate, target: Target, catalog: Catalog) -> NodeRate:
    """Add the published list price of the machine to a rate, if it is another price.

    Takes the list price on the same terms, else the user's own price on these terms, else the lowest price on any terms
    in any region.
    """
    published = catalog.model_copy(update={"own_prices": ()})
    wanted = KINDS[target.purchase]
    asked = [(published, wanted, target.region), (catalog, wanted, target.region)]
    asked += [(catalog, kind, None) for kind in KINDS.values()]
    rows = [current_price(target.id, prices_of, kind=kind, region=region) for prices_of, kind, region in asked]
    listed = [None if row is None or not row.usd_per_hour else float(row.usd_per_hour) for row in rows]
    same_terms = next((usd for usd in listed[:2] if usd is not None), None)
    usd = same_terms if same_terms is not None else min((usd for usd in listed[2:] if usd is not None), default=None)
    return rate if usd in (None, rate.usd_per_node_hour) else rate.model_copy(update={"list_usd_per_node_hour": usd})


def _given_for_cloud(target: Target, usd: float, known: NodeRate | None) -> NodeRate:
    """Return the user's price. A spot price may rise to the catalog's highest."""
    if usd == 0 and target.reservation is None:
        raise InputError(
            f"--usd-per-hour 0: {target.id} sends an invoice, so no cap could hold.", fix="Give what an hour costs."
        )
    rate = _given(usd)
    if target.spot and known is not None:
        highest = max(usd, known.highest_usd_per_node_hour)
        return rate.model_copy(update={"highest_usd_per_node_hour": highest})
    return rate


def _or_on_demand(rate: NodeRate, row: Price | None) -> NodeRate:
    """Return the rate with the on-demand price as its maximum: a wrong machine may run for minutes until it is seen."""
    on_demand = row.usd_per_hour if row is not None else None
    return rate.model_copy(
        update={"highest_usd_per_node_hour": max(rate.highest_usd_per_node_hour, float(on_demand or 0.0))}
    )


def _simple(usd: float, source: str) -> NodeRate:
    return NodeRate(usd_per_node_hour=usd, highest_usd_per_node_hour=usd, basis=Basis.QUOTED, source=source, as_of=None)


def _rate_of_row(row: Price) -> NodeRate:
    price = float(row.usd_per_hour or 0.0)
    return NodeRate(
        usd_per_node_hour=price,
        highest_usd_per_node_hour=max(price, row.high_usd_per_hour or price),
        basis=Basis.ASSUMED if row.confidence == "estimate" else Basis.QUOTED,
        source=f"{row.price_kind.value} in {row.region}: {row.source}",
        as_of=row.as_of,
        minimum_hours=0.0 if row.price_kind is PriceKind.CAPACITY_BLOCK else row.minimum_hours,
        note=row.note,
    )


def _notes(target: Target, rate: NodeRate, known: NodeRate | None, *, today: date) -> list[str]:
    notes = []
    if rate.note:
        notes.append(f"price: {rate.note}")
    if rate.as_of is not None and (today - rate.as_of).days > stale_days(KINDS[target.purchase]):
        notes.append(f"price: it is {(today - rate.as_of).days} days old; look for a newer one: planner prices refresh")
    if known is not None and rate.usd_per_node_hour < known.usd_per_node_hour and rate.as_of is None:
        notes.append(f"price: the catalog asks {known.usd_per_node_hour:g} USD per node-hour ({known.source})")
    if target.reservation is not None and rate.highest_usd_per_node_hour > rate.usd_per_node_hour:
        notes.append("the worst case counts the on-demand price, in which a machine beside the reservation would run")
    if target.purchase == "capacity_block":
        notes.append("the Capacity Block itself is paid for in advance and whole; this counts the hours used of it")
        if rate is known:
            notes.append("the rate is the catalog's; give your block's with --usd-per-hour")
    return notes
