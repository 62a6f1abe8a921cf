"""Cost of one training on an owned machine: the electricity it adds, and its share of owning in full."""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.ownership.owned_cost import annual_cost, busy_gpu_hours_per_year, usd_per_busy_gpu_hour
from planner.cost.ownership.resolve_site import NoOwningCost, resolve_site
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.cost.power.electricity import electricity, pue
from planner.cost.power.energy import energy_usd
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity, Unit
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.spread import signed_product
from planner.scenario.candidate import Candidate


@dataclass(frozen=True)
class OwnedMoney:
    """Money of one training. Null parts have their reason in `missing`."""

    usd_per_epoch: Quantity | None
    usd_total: Quantity | None
    usd_marginal: Quantity | None
    missing: tuple[Reason, ...]
    notes: tuple[str, ...]
    resolved: ResolvedSite | None = None
    """Resolved site; None if the full cost of owning is unknown."""


def owned_money(
    plan: Plan,
    candidate: Candidate,
    catalog: Catalog,
    *,
    epoch: Quantity | None,
    training: Quantity | None,
    energy: Quantity | None,
    power: Quantity | None,
) -> OwnedMoney:
    """Count a training at the margin (its electricity) and in full (its busy GPU-hours of the site's annual cost)."""
    site = candidate.site
    marginal = _electricity_usd(energy, electricity(site, plan, catalog), pue(site, plan, catalog))
    resolved = resolve_candidate(plan, candidate, catalog, power=power)
    if isinstance(resolved, NoOwningCost):
        text = f"usd_total, usd_per_epoch: the full cost of owning is not known: {resolved.reason}"
        missing: tuple[Reason, ...] = (Reason(code=ReasonCode.OWNING_NOT_KNOWN, text=text),)
        if candidate.hold is Hold.BUY:
            missing = (_no_purchase(candidate, resolved), *missing)
        return OwnedMoney(None, None, marginal, missing, ())
    price = full_price(resolved)
    notes = list(resolved.notes)
    if resolved.defaults:
        notes.append(f"cost of owning: defaults taken for {', '.join(resolved.defaults)}")
    return OwnedMoney(
        usd_per_epoch=_share(epoch, price, candidate),
        usd_total=_share(training, price, candidate),
        usd_marginal=marginal,
        missing=(),
        notes=tuple(notes),
        resolved=resolved,
    )


def resolve_candidate(
    plan: Plan, candidate: Candidate, catalog: Catalog, *, power: Quantity | None
) -> ResolvedSite | NoOwningCost:
    """Resolve the site of an owned candidate. Its own power counts if the whole node works."""
    assert candidate.site is not None
    whole = candidate.accelerators_per_node == candidate.node.accelerators
    return resolve_site(
        candidate.site,
        candidate.node,
        candidate.accelerator,
        plan,
        catalog,
        training_power=power if whole else None,
    )


def _no_purchase(candidate: Candidate, resolved: NoOwningCost) -> Reason:
    """Return why the cost of a machine that must be bought is unknown."""
    assert candidate.site is not None
    unpriced = candidate.site.purchase is None
    text = "its price is not known; give purchase_usd" if unpriced else f"what buying it costs: {resolved.reason}"
    return Reason(code=ReasonCode.PURCHASE_NOT_KNOWN, text=text)


def full_price(resolved: ResolvedSite) -> Quantity:
    """Return the full cost of a busy GPU-hour, with its range and arithmetic."""
    inputs = resolved.inputs
    total, hours = annual_cost(inputs).total, busy_gpu_hours_per_year(inputs)
    source = (
        f"{total:,.0f} USD a year of one node / ({inputs.gpus} GPUs x 8,766 h x {inputs.busy_fraction:g} busy x "
        f"{inputs.availability:g} available = {hours:,.0f} h); site {resolved.site.id}: {resolved.site.source}"
    )
    price = resolved.range_of(usd_per_busy_gpu_hour)
    return to_quantity(price, Unit.USD_PER_GPU_HOUR, resolved.basis, source, resolved.as_of)


def _share(hours: Quantity | None, price: Quantity, candidate: Candidate) -> Quantity | None:
    """Return USD = hours x accelerators x USD per busy GPU-hour."""
    if hours is None:
        return None
    usd = signed_product(interval(hours, Unit.HOURS), interval(price, Unit.USD_PER_GPU_HOUR)).scaled(
        candidate.accelerators
    )
    arithmetic = (
        f"{hours.value:.5g} h x {candidate.accelerators} accelerators x {price.value:.4g} USD per busy GPU-hour"
    )
    return derived(usd, Unit.USD, hours, price, source=f"{arithmetic}; {price.source}")


def _electricity_usd(energy: Quantity | None, price: Quantity, building: Quantity) -> Quantity | None:
    if energy is None:
        return None
    usd = energy_usd(
        energy_kwh=interval(energy, Unit.KWH),
        pue=interval(building, Unit.RATIO),
        usd_per_kwh=interval(price, Unit.USD_PER_KWH),
    )
    product = f"{energy.value:.5g} kWh x {building.value:g} PUE x {price.value:g} USD/kWh"
    source = f"{product}; {price.source}; PUE: {building.source}; {energy.source}"
    return derived(usd, Unit.USD, energy, price, building, source=source)
