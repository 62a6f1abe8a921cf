"""A plan and a catalog in, an estimate of every option out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from planner.cost.cloud.bill_rates import bill_assumptions
from planner.cost.power.electricity import borrowed_price, electricity, pue
from planner.decide.options.display_name import with_display_names
from planner.decide.options.hosted import estimate_hosted, expand_hosted
from planner.decide.options.option import EstimatedOption, estimate_option
from planner.decide.options.plan_remarks import plan_remarks
from planner.decide.options.practice_note import practice_note
from planner.decide.options.rollout_note import rollout_note
from planner.duration.runtime_inputs import goodput_assumptions, is_preempted
from planner.model.answer.documents import Assumption, EstimateDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import CampaignLimits, Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval
from planner.scenario.allowed_offers import check_providers
from planner.scenario.candidate import Candidate, expand
from planner.scenario.job import resolve_job
from planner.scenario.own_machine import host_kw
from planner.scenario.places import check_limits
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.speed import Speed


@dataclass(frozen=True)
class Estimated:
    """The estimate of every option, with what a campaign's bill multiplies."""

    document: EstimateDocument
    options: tuple[EstimatedOption, ...]


class Paced(NamedTuple):
    """A machine and its speed; None: it is still to be found, with the strategy."""

    candidate: Candidate
    speed: Speed | None


def estimate_plan(plan: Plan, catalog: Catalog, *, today: date | None = None) -> EstimateDocument:
    """Estimate one training of the plan's job on each of its options; with `today`, prices show their age."""
    return estimate_options(plan, catalog, today=today).document


def without_limits(plan: Plan) -> Plan:
    """Return the plan with no limits of its campaign but the first day, on which alone estimates of one training rest.

    Plans that are equal so have the same estimates (`estimate_options`).
    """
    return plan.model_copy(update={"campaign": CampaignLimits(start=plan.campaign.start)})


def paced_candidates(plan: Plan, catalog: Catalog) -> list[Paced]:
    """Return the plan's machines with their speeds, for whoever estimates them more than once."""
    job = resolve_job(plan, catalog)
    return [Paced(*fastest(job, one, catalog)) for one in expand(plan, catalog)]


def paced_again(plan: Plan, catalog: Catalog, known: Sequence[Paced]) -> list[Paced]:
    """Return the machines of a plan that lists fewer of the same options, with the speeds that they had."""
    by_option = {one.candidate.option: one for one in known}
    again = []
    for machine in expand(plan, catalog):
        candidate, speed = by_option[machine.option]
        again.append(Paced(replace(candidate, id=machine.id, position=machine.position), speed))
    return again


def estimate_options(
    plan: Plan, catalog: Catalog, *, today: date | None = None, paced: Sequence[Paced] | None = None
) -> Estimated:
    """Estimate one training on each option, and keep what the bill of a whole campaign needs.

    `paced`: its machines with their speeds, where these are known already (`paced_candidates`).
    """
    check_providers(plan, catalog)
    check_limits(plan, catalog)
    job = resolve_job(plan, catalog)
    known = [Paced(one, None) for one in expand(plan, catalog)] if paced is None else paced
    candidates = [one.candidate for one in known]
    placed = [
        (one.position, estimate_option(plan, job, one, catalog, today=today, speed=speed)) for one, speed in known
    ]
    services = expand_hosted(plan, catalog)
    placed += [(one.position, estimate_hosted(plan, job, one, catalog, today=today)) for one in services]
    placed.sort(key=lambda pair: pair[0])  # the plan's order
    remarks = [plan_remarks(plan.options[position]) for position, _ in placed]
    options = with_display_names([one.option for _, one in placed], catalog.providers, catalog.nodes, remarks)
    estimated = tuple(replace(one, option=option) for (_, one), option in zip(placed, options, strict=True))
    document = EstimateDocument(
        plan=plan.name,
        currency=plan.currency,
        assumptions=_assumptions(plan, catalog, candidates, estimated),
        notes=tuple(
            filter(
                None,
                (
                    job.samples_note,
                    plan.found,
                    rollout_note(options),
                    *_borrowed_prices(plan, catalog, estimated),
                    practice_note(plan, [one.option for one in estimated]),
                    *_doubted_runs(estimated),
                ),
            )
        ),
        options=options,
    )
    return Estimated(document, estimated)


def _borrowed_prices(plan: Plan, catalog: Catalog, estimated: Sequence[EstimatedOption]) -> tuple[str, ...]:
    """Return a line for each price of a kWh that is another country's."""
    sites = [one.resolved.site for one in estimated if one.resolved is not None]
    notes = [borrowed_price(site, plan, catalog) for site in sites]
    return tuple(dict.fromkeys(note for note in notes if note is not None))


def _doubted_runs(estimated: Sequence[EstimatedOption]) -> tuple[str, ...]:
    """Return a line for each run whose speed cannot be true, and which decides nothing."""
    lines = [run.text for one in estimated for run in one.option.runs_not_counted if not run.believed]
    return tuple(dict.fromkeys(lines))


def _assumptions(
    plan: Plan, catalog: Catalog, candidates: Sequence[Candidate], estimated: Sequence[EstimatedOption]
) -> tuple[Assumption, ...]:
    """List what the answer took from the plan, the sites and the defaults, each as often as it differs."""
    assumed = [
        Assumption(name=name, quantity=read(candidate.site, plan, catalog))
        for name, read in (("electricity", electricity), ("pue", pue))
        for candidate in candidates
        if candidate.site is not None
    ]
    for one in candidates:
        if one.option.own is not None and one.accelerator.tdp_w is not None:
            host = host_kw(one.accelerator, one.node.accelerators, catalog)
            assumed.append(Assumption(name=f"power of the host of {one.node.id}", quantity=host))
    given = plan.assumptions
    if given.goodput_fraction is not None:
        goodput = _from_plan(given.goodput_fraction, Unit.RATIO, "goodput_fraction")
        assumed.append(Assumption(name="goodput", quantity=goodput))
    elif candidates:
        assumed += goodput_assumptions(plan, catalog, spot=any(is_preempted(candidate) for candidate in candidates))
    if given.mfu is not None:
        assumed.append(Assumption(name="mfu", quantity=_from_plan(given.mfu, Unit.RATIO, "mfu")))
    if any(candidate.site is None for candidate in candidates):
        assumed += bill_assumptions(plan, catalog)
    if any(option.power_from_rated_share for option in estimated):
        assumed.append(Assumption(name="power in training", quantity=catalog.defaults.training_power_fraction))
    return tuple(dict.fromkeys(assumed))


def _from_plan(value: float, unit: Unit, key: str) -> Quantity:
    return to_quantity(Interval.exact(value), unit, Basis.ASSUMED, f"the plan: assumptions.{key}")
