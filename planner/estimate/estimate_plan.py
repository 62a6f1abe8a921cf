"""A plan and a catalog in, an estimate of every option out."""

from __future__ import annotations

from planner.estimate.border import stated
from planner.estimate.candidate import Candidate, expand
from planner.estimate.interval import Interval
from planner.estimate.job import resolve_job
from planner.estimate.option import estimate_option
from planner.model.answer import Assumption, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit


def estimate_plan(plan: Plan, catalog: Catalog) -> EstimateDocument:
    """Estimate one training of the plan's job on each of its options."""
    job = resolve_job(plan, catalog)
    return EstimateDocument(
        plan=plan.name,
        assumptions=resolved_assumptions(plan, catalog),
        options=tuple(
            estimate_option(
                job,
                candidate,
                catalog,
                electricity=_electricity(plan, catalog, candidate),
                pue=_pue(plan, catalog, candidate),
            )
            for candidate in expand(plan, catalog)
        ),
    )


def resolved_assumptions(plan: Plan, catalog: Catalog) -> tuple[Assumption, ...]:
    """List what the plan assumes and which defaults were taken, for the reader to check."""
    given = plan.assumptions
    assumptions = [
        Assumption(name="electricity", quantity=_electricity(plan, catalog, None)),
        Assumption(name="pue", quantity=_pue(plan, catalog, None)),
        Assumption(name="goodput", quantity=_from_plan(given.goodput_fraction, Unit.RATIO, "goodput_fraction")),
    ]
    if given.mfu is not None:
        assumptions.append(Assumption(name="mfu", quantity=_from_plan(given.mfu, Unit.RATIO, "mfu")))
    return tuple(assumptions)


def _electricity(plan: Plan, catalog: Catalog, candidate: Candidate | None) -> Quantity:
    """Return the tariff: the plan's, then the site's, then the default."""
    value = plan.assumptions.electricity_usd_per_kwh
    if value is not None:
        return _from_plan(value, Unit.USD_PER_KWH, "electricity_usd_per_kwh")
    site = candidate.site if candidate else None
    return (site.electricity if site else None) or catalog.defaults.electricity


def _pue(plan: Plan, catalog: Catalog, candidate: Candidate | None) -> Quantity:
    """Return the power usage effectiveness: the plan's, then the site's, then the default."""
    value = plan.assumptions.pue
    if value is not None:
        return _from_plan(value, Unit.RATIO, "pue")
    site = candidate.site if candidate else None
    return (site.pue if site else None) or catalog.defaults.pue


def _from_plan(value: float, unit: Unit, key: str) -> Quantity:
    return stated(Interval.exact(value), unit, Basis.ASSUMED, f"the plan: assumptions.{key}")
