"""A plan and one of its owned machines in, the whole answer to "own or rent" out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from planner.errors import InputError, NotFoundError
from planner.estimate.border import computed, interval, stated
from planner.estimate.candidate import Candidate, expand
from planner.estimate.estimate_plan import estimate_plan
from planner.estimate.owned_cost import (
    HOURS_PER_YEAR,
    AnnualCost,
    annual_cost,
    busy_gpu_hours_per_year,
    marginal_usd_per_busy_gpu_hour,
    usd_per_busy_gpu_hour,
)
from planner.estimate.owned_inputs import NoOwningCost
from planner.estimate.owned_money import full_price, resolve_candidate
from planner.estimate.resolved_site import ResolvedSite
from planner.model.answer import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.own_or_rent import CostLine, CurvePoint, IncentiveLine, Input, OwnOrRentDocument, Rival, Sensitivity
from planner.model.plan import Plan
from planner.model.quantity import Quantity, Unit, weakest
from planner.recommend.choices import OwnedOption, choices
from planner.recommend.own_or_rent_sentence import sentence
from planner.recommend.rivals import Duel, rival_of
from planner.recommend.tornado import sensitivities

CURVE_STEPS = 20
"""Points of the curve: every 5 % of the hours."""


def own_or_rent(plan: Plan, catalog: Catalog, *, site: str | None) -> OwnOrRentDocument:
    """Compare one owned machine of the plan (the first, or the one named) with everything that the plan could rent."""
    candidates = expand(plan, catalog)
    options = {option.id: option for option in estimate_plan(plan, catalog).options}
    candidate = _chosen(candidates, site)
    resolved = _resolved(candidate, options, plan, catalog)
    if isinstance(resolved, NoOwningCost):
        raise InputError(
            f"own-or-rent: the cost of owning {candidate.id} is not known: {resolved.reason}.",
            fix="Describe the machine in your workspace's sites folder; see docs/owning.md.",
        )
    owned = OwnedOption(options[candidate.id], resolved, candidate.node)
    rented = [other for other in candidates if other.site is None]
    rivals = tuple(
        rival_of(Duel(resolved, owned.option, options[other.id], same_hardware=_same_hardware(candidate, other)))
        for other in rented
    )
    against = next((rival for rival in rivals if rival.usd_per_owned_gpu_hour is not None), None)
    reasons = [] if rented else ["break_even_utilisation, npv_usd, payback_months: the plan names nothing to rent"]
    if rented and against is None:
        reasons.append("npv_usd, payback_months: no rented option has a price and a speed to compare with")
    return OwnOrRentDocument(
        plan=plan.name,
        site=resolved.site.id,
        name=resolved.site.name,
        acquisition=resolved.inputs.acquisition,
        nodes=resolved.site.nodes,
        accelerators_per_node=candidate.node.accelerators,
        accelerator=candidate.accelerator.id,
        usd_per_busy_gpu_hour=full_price(resolved),
        usd_per_allocated_gpu_hour=_per_allocated(resolved),
        usd_per_node_hour=_per_node_hour(resolved),
        usd_per_training=owned.option.usd_total,
        marginal_usd_per_busy_gpu_hour=_marginal(resolved),
        marginal_usd_per_training=owned.option.usd_marginal,
        annual=_lines(resolved),
        annual_usd_per_node=_annual(resolved),
        against=against.id if against else None,
        break_even_utilisation={
            rival.price_kind: rival.break_even_utilisation
            for rival in reversed(rivals)
            if rival.price_kind is not None and rival.usd_per_owned_gpu_hour is not None
        },
        npv_usd=against.npv_usd if against else None,
        npv_after_tax_usd=against.npv_after_tax_usd if against else None,
        payback_months=against.payback_months if against else None,
        curve=_curve(resolved),
        rivals=rivals,
        choices=choices(
            owned,
            _other_owned(candidates, candidate, options, plan, catalog),
            rivals,
        ),
        sensitivities=_sensitivities(resolved, against, rivals),
        incentives=_incentives(resolved),
        fits_circuit=_fits(candidate, owned.option),
        sentence=sentence(resolved, rivals, against),
        inputs=tuple(
            Input(name=name, quantity=found, default=_is_default(name, resolved))
            for name, found in resolved.quantities.items()
        ),
        notes=resolved.notes + owned.option.notes,
        why_not="; ".join([*reasons, *([owned.option.obstacles] if owned.option.obstacles else [])]) or None,
    )


def _chosen(candidates: Sequence[Candidate], site: str | None) -> Candidate:
    owned = {candidate.id: candidate for candidate in candidates if candidate.site is not None}
    if not owned:
        raise InputError(
            "own-or-rent: the plan has no owned machine.",
            fix="Add one to its options, e.g. {site: hgx-h200-8x}, or name one with --site.",
        )
    if site is None:
        return next(iter(owned.values()))
    for candidate in owned.values():
        if site in (candidate.id, candidate.site.id if candidate.site else None):
            return candidate
    raise NotFoundError("owned machine", site, owned, where="--site", fix=f"The plan has: {', '.join(owned)}")


def _resolved(
    candidate: Candidate, options: dict[str, OptionEstimate], plan: Plan, catalog: Catalog
) -> ResolvedSite | NoOwningCost:
    power = options[candidate.id].power_kw
    return resolve_candidate(plan, candidate, catalog, power=power)


def _other_owned(
    candidates: Sequence[Candidate],
    chosen: Candidate,
    options: dict[str, OptionEstimate],
    plan: Plan,
    catalog: Catalog,
) -> list[OwnedOption]:
    found = []
    for candidate in candidates:
        if candidate.site is None or candidate.id == chosen.id:
            continue
        resolved = _resolved(candidate, options, plan, catalog)
        if isinstance(resolved, ResolvedSite):
            found.append(OwnedOption(options[candidate.id], resolved, candidate.node))
    return found


def _same_hardware(one: Candidate, other: Candidate) -> bool:
    def key(candidate: Candidate) -> tuple[object, ...]:
        return (
            candidate.accelerator.id,
            candidate.accelerators_per_node,
            candidate.nodes,
            candidate.node.link,
            candidate.strategy,
            candidate.option.step,
        )

    return key(one) == key(other)


def _per_allocated(resolved: ResolvedSite) -> Quantity | None:
    """USD a year / (GPUs x 8,766 x allocated share): what a user pays whose jobs hold GPUs without using them."""
    used = resolved.site.utilisation
    if used is None or used.allocated is None:
        return None
    allocated, gpus = used.allocated.value, resolved.inputs.gpus
    value = resolved.range_of(lambda inputs: annual_cost(inputs).total / (gpus * HOURS_PER_YEAR * allocated))
    total = annual_cost(resolved.inputs).total
    source = f"{total:,.0f} USD a year / ({gpus} GPUs x 8,766 h x {allocated:g} allocated)"
    return stated(value, Unit.USD_PER_GPU_HOUR, resolved.basis, source, resolved.as_of)


def _annual(resolved: ResolvedSite) -> Quantity:
    value = resolved.range_of(lambda inputs: annual_cost(inputs).total)
    return stated(value, Unit.USD_PER_YEAR, resolved.basis, "sum of the parts", resolved.as_of)


def _per_node_hour(resolved: ResolvedSite) -> Quantity:
    year = _annual(resolved)
    each = interval(year, Unit.USD_PER_YEAR).scaled(1 / HOURS_PER_YEAR)
    return computed(each, Unit.USD_PER_HOUR, year, source=f"{year.value:,.0f} USD a year / 8,766 h")


def _marginal(resolved: ResolvedSite) -> Quantity:
    inputs = resolved.inputs
    parts = [resolved.quantities[name] for name in ("training_kw", "pue", "usd_per_kwh")]
    source = (
        f"{inputs.training_kw:g} kW x {inputs.pue:g} PUE x {inputs.usd_per_kwh:g} USD/kWh / {inputs.gpus} GPUs; "
        + "; ".join(part.source for part in parts)
    )
    value = resolved.range_of(marginal_usd_per_busy_gpu_hour)
    return stated(value, Unit.USD_PER_GPU_HOUR, weakest(*(part.basis for part in parts)), source, resolved.as_of)


PARTS = {
    "recovery": ("server_usd", "resale_usd", "years", "discount_rate_per_year"),
    "residual": ("residual_fraction", "server_usd", "resale_usd"),
    "lease": ("lease_usd_per_month",),
    "spares": ("spares_fraction_of_nodes",),
    "maintenance": ("maintenance_fraction_per_year", "maintenance_usd_per_node_year"),
    "software": ("software_usd_per_gpu_year",),
    "colocation": ("colocation_usd_per_kw_month", "reserved_kw"),
    "room": ("room_usd_per_month",),
    "staff": ("fte_per_node", "usd_per_fte_year"),
    "power": ("training_kw", "idle_kw", "busy_fraction", "pue", "usd_per_kwh"),
    "demand": ("contracted_kw", "demand_usd_per_kw_month"),
}
"""Which inputs each part of the yearly cost is computed from."""


def _lines(resolved: ResolvedSite) -> tuple[CostLine, ...]:
    """Return every part that the site has, with its range and the inputs behind it."""
    hours = busy_gpu_hours_per_year(resolved.inputs)
    lines = []
    for part in fields(AnnualCost):
        inputs = [resolved.quantities[name] for name in PARTS[part.name] if name in resolved.quantities]
        if not inputs:
            continue
        value = resolved.range_of(lambda each, name=part.name: getattr(annual_cost(each), name))  # type: ignore[misc]
        source = "; ".join(dict.fromkeys(found.source for found in inputs))
        quantity = computed(value, Unit.USD_PER_YEAR, *inputs, source=source)
        lines.append(CostLine(part=part.name, usd_per_node_year=quantity, usd_per_busy_gpu_hour=value.value / hours))
    return tuple(lines)


def _curve(resolved: ResolvedSite) -> tuple[CurvePoint, ...]:
    points = []
    for step in range(1, CURVE_STEPS + 1):
        share = step / CURVE_STEPS
        there = replace(
            resolved,
            inputs=replace(resolved.inputs, busy_fraction=share),
            quantities={name: found for name, found in resolved.quantities.items() if name != "busy_fraction"},
        )
        full = there.range_of(usd_per_busy_gpu_hour)
        points.append(
            CurvePoint(
                busy_fraction=share,
                usd_per_busy_gpu_hour=full.value,
                low_usd_per_busy_gpu_hour=full.low,
                high_usd_per_busy_gpu_hour=full.high,
                marginal_usd_per_busy_gpu_hour=marginal_usd_per_busy_gpu_hour(there.inputs),
            )
        )
    return tuple(points)


def _sensitivities(resolved: ResolvedSite, against: Rival | None, rivals: Sequence[Rival]) -> tuple[Sensitivity, ...]:
    if against is None or against.usd_per_owned_gpu_hour is None:
        return ()
    rents = [rival.usd_per_owned_gpu_hour.value for rival in rivals if rival.usd_per_owned_gpu_hour is not None]
    return sensitivities(resolved, against.usd_per_owned_gpu_hour, rents)


def _incentives(resolved: ResolvedSite) -> tuple[IncentiveLine, ...]:
    return tuple(
        IncentiveLine(
            name=line.incentive.name,
            kind=line.incentive.kind,
            counts=line.counts,
            usd=line.usd,
            reason=line.reason,
            eligibility=line.incentive.eligibility,
            expires=line.incentive.expires,
            source=line.incentive.source,
        )
        for line in resolved.incentives
    )


def _fits(candidate: Candidate, option: OptionEstimate) -> bool | None:
    site = candidate.site
    assert site is not None
    if site.circuit_kw is None and site.rack_kw is None:
        return None
    return "does not fit its" not in (option.why_not or "")


def _is_default(name: str, resolved: ResolvedSite) -> bool:
    alias = {"usd_per_kwh": "electricity", "residual_fraction": "residual", "years": "life_years"}.get(name, name)
    return name in resolved.defaults or alias in resolved.defaults
