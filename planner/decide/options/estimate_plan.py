"""Estimate one training on every option of a plan."""

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
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.cents import old_rate_note
from planner.quantity.conversion import to_quantity
from planner.quantity.interval import Interval
from planner.scenario.allowed_offers import check_providers
from planner.scenario.candidate import Candidate, expand
from planner.scenario.job import resolve_job
from planner.scenario.own_machine import host_kw
from planner.scenario.places import check_limits
from planner.speed.throughput.fastest_strategy import fastest
from planner.speed.throughput.speed import Speed

HELD_AT_CONFIDENCE = (PriceKind.CAPACITY_BLOCK, PriceKind.GRANT)
"""Prices of hours that are bought, or given, for as long as the work takes with the confidence."""


@dataclass(frozen=True)
class Estimated:
    """Estimates of every option, with the rates of a campaign's bill."""

    document: EstimateDocument
    """Without notes that depend on which option is recommended (`answer`)."""
    options: tuple[EstimatedOption, ...]

    @property
    def answer(self) -> EstimateDocument:
        """The document as an answer of its own, with the phases of a step with rollouts on the cheapest option."""
        phases = rollout_note(self.document.options)
        return self.document if phases is None else self.document.model_copy(
            update={"notes": (*self.document.notes, phases)}
        )  # fmt: skip


class Paced(NamedTuple):
    """A machine and its speed; None if the speed and the strategy are still to be found."""

    candidate: Candidate
    speed: Speed | None


def estimate_plan(plan: Plan, catalog: Catalog, *, today: date | None = None) -> EstimateDocument:
    """Estimate one training of the plan's job on each of its options; with `today`, prices show their age."""
    return estimate_options(plan, catalog, today=today).answer


def without_limits(plan: Plan) -> Plan:
    """Return the plan with no limits of its campaign but those on which estimates of one training rest.

    These are the first day, and the confidence with which a block or grant holds it. Plans that are equal so have the
    same estimates (`estimate_options`).
    """
    left = CampaignLimits(start=plan.campaign.start)
    if any(option.price in HELD_AT_CONFIDENCE for option in plan.options):
        left = left.model_copy(update={"confidence": plan.campaign.confidence})
    return plan.model_copy(update={"campaign": left})


def paced_candidates(plan: Plan, catalog: Catalog) -> list[Paced]:
    """Return the plan's machines with their speeds, to estimate them more than once."""
    job = resolve_job(plan, catalog)
    return [Paced(*fastest(job, candidate, catalog)) for candidate in expand(plan, catalog)]


def paced_again(plan: Plan, catalog: Catalog, known: Sequence[Paced]) -> list[Paced]:
    """Return the machines of a plan that lists some of the same options, with their known speeds."""
    by_option = {pace.candidate.option: pace for pace in known}
    again = []
    for machine in expand(plan, catalog):
        candidate, speed = by_option[machine.option]
        again.append(Paced(replace(candidate, id=machine.id, position=machine.position), speed))
    return again


def estimate_options(
    plan: Plan, catalog: Catalog, *, today: date | None = None, paced: Sequence[Paced] | None = None
) -> Estimated:
    """Estimate one training on each option, and keep the rates for the bill of a whole campaign.

    `paced`: its machines with their speeds if they are known already (`paced_candidates`).
    """
    check_providers(plan, catalog)
    check_limits(plan, catalog)
    job = resolve_job(plan, catalog)
    known = [Paced(candidate, None) for candidate in expand(plan, catalog)] if paced is None else paced
    candidates = [pace.candidate for pace in known]
    placed = [
        (candidate.position, estimate_option(plan, job, candidate, catalog, today=today, speed=speed))
        for candidate, speed in known
    ]
    services = expand_hosted(plan, catalog)
    placed += [(service.position, estimate_hosted(plan, job, service, catalog, today=today)) for service in services]
    placed.sort(key=lambda pair: pair[0])  # the plan's order
    remarks = [plan_remarks(plan.options[position]) for position, _ in placed]
    options = with_display_names([estimate.option for _, estimate in placed], catalog.providers, catalog.nodes, remarks)
    estimated = tuple(replace(estimate, option=option) for (_, estimate), option in zip(placed, options, strict=True))
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
                    old_rate_note(plan.currency, today=today),
                    *_borrowed_prices(plan, catalog, estimated),
                    practice_note(plan, [estimate.option for estimate in estimated]),
                    *_doubted_runs(estimated),
                ),
            )
        ),
        options=options,
    )
    return Estimated(document, estimated)


def _borrowed_prices(plan: Plan, catalog: Catalog, estimated: Sequence[EstimatedOption]) -> tuple[str, ...]:
    """Return a line for each electricity price that was taken from another country."""
    sites = [estimate.resolved.site for estimate in estimated if estimate.resolved is not None]
    notes = [borrowed_price(site, plan, catalog) for site in sites]
    return tuple(dict.fromkeys(note for note in notes if note is not None))


def _doubted_runs(estimated: Sequence[EstimatedOption]) -> tuple[str, ...]:
    """Return a line for each run whose speed cannot be true and is therefore not used."""
    lines = [run.text for estimate in estimated for run in estimate.option.runs_not_counted if not run.believed]
    return tuple(dict.fromkeys(lines))


def _assumptions(
    plan: Plan, catalog: Catalog, candidates: Sequence[Candidate], estimated: Sequence[EstimatedOption]
) -> tuple[Assumption, ...]:
    """List the values that the answer took from the plan, the sites and the defaults, without duplicates."""
    assumed = [
        Assumption(name=name, quantity=read(candidate.site, plan, catalog))
        for name, read in (("electricity", electricity), ("pue", pue))
        for candidate in candidates
        if candidate.site is not None
    ]
    for candidate in candidates:
        if candidate.option.own is not None and candidate.accelerator.tdp_w is not None:
            host = host_kw(candidate.accelerator, candidate.node.accelerators, catalog)
            assumed.append(Assumption(name=f"power of the host of {candidate.node.id}", quantity=host))
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
