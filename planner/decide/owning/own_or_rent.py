"""Answer "own or rent" for a plan and one of its owned machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.cost.cloud.bill_lines import local_amount
from planner.cost.ownership.owed_anyway import avoidable, is_paid
from planner.cost.ownership.owned_cost import busy_gpu_hours_per_year
from planner.cost.ownership.owned_money import full_price, resolve_candidate
from planner.cost.ownership.resolve_site import NoOwningCost
from planner.cost.ownership.resolved_site import ResolvedSite
from planner.decide.campaign.run_groups import mean_work, run_groups
from planner.decide.options.estimate_plan import Estimated, estimate_options
from planner.decide.owning.machine_choices import OwnedOption, choices
from planner.decide.owning.owning_costs import (
    annual_usd,
    cost_lines,
    curve,
    marginal_price,
    usd_per_allocated_gpu_hour,
    usd_per_node_hour,
    year_at_work,
)
from planner.decide.owning.owning_sentence import headline, site_sentence
from planner.decide.owning.planned_year import YearAsked, planned_year
from planner.decide.owning.rental_alternatives import rental_alternative
from planner.decide.owning.tornado import sensitivities
from planner.errors import InputError, NotFoundError
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.own_or_rent import IncentiveLine, Input, OwnOrRentDocument, RentalOption
from planner.model.answer.planned_year import PlannedYear
from planner.model.answer.reason import OVERLOADS, Reason, ReasonCode, codes_of, text_of
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
from planner.model.plan.plan import Plan
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Quantity
from planner.scenario.candidate import Candidate, expand


@dataclass(frozen=True)
class OwningQuestion:
    """One owned machine of a plan, with everything that it is compared with."""

    asked: YearAsked
    in_full: ResolvedSite
    """Costs of the machine, including those that are owed anyway."""
    candidate: Candidate
    rentals: tuple[RentalOption, ...]
    """Rented options, each compared with the machine as an investment."""


def asked_of_plan(
    plan: Plan, catalog: Catalog, *, site: str | None, today: date, estimates: Estimated | None = None
) -> OwningQuestion | NoOwningCost:
    """Return the question about the plan's first owned machine, or the named one; else why its cost is unknown."""
    candidates = expand(plan, catalog)
    estimated = (estimates or estimate_options(plan, catalog, today=today)).options
    options = {each.option.id: each.option for each in estimated}
    chosen = _chosen(candidates, site)
    resolved = {
        candidate.id: resolve_candidate(plan, candidate, catalog, power=options[candidate.id].power_kw)
        for candidate in candidates
        if candidate.site is not None
    }
    in_full = resolved[chosen.id]
    if isinstance(in_full, NoOwningCost):
        return NoOwningCost(f"the cost of owning {chosen.id} is not known: {in_full.reason}")
    owned = _owned(chosen, options[chosen.id], in_full)
    others = [
        _owned(candidate, options[candidate.id], site_cost)
        for candidate in candidates
        if candidate.id != chosen.id and isinstance(site_cost := resolved.get(candidate.id), ResolvedSite)
    ]

    def against(costs: ResolvedSite) -> tuple[RentalOption, ...]:
        return tuple(
            rental_alternative(
                costs, owned.option, options[other.id], same_hardware=_hardware(chosen) == _hardware(other)
            )
            for other in candidates
            if other.site is None
        )

    rents, rentals = [each for each in estimated if each.option.site is None], against(owned.resolved)
    asked = YearAsked(plan, today, owned, others, rents, rentals, mean_work(run_groups(plan, catalog)))
    as_investment = rentals if owned.as_bought is None else against(owned.as_bought)
    return OwningQuestion(asked, in_full, chosen, as_investment)


def year_of_plan(
    plan: Plan, catalog: Catalog, *, site: str | None, today: date, estimates: Estimated | None = None
) -> PlannedYear | None:
    """Return a year of the plan's trainings with its first owned machine, or the named one.

    None if the plan owns nothing, or the cost of owning is unknown.
    """
    if all(option.offer is not None for option in plan.options):
        return None
    question = asked_of_plan(plan, catalog, site=site, today=today, estimates=estimates)
    return None if isinstance(question, NoOwningCost) else planned_year(question.asked)


def own_or_rent(
    plan: Plan, catalog: Catalog, *, site: str | None, today: date, estimates: Estimated | None = None
) -> OwnOrRentDocument:
    """Compare one owned machine of the plan (the first, or the named one) with everything that the plan could rent.

    `estimates` are those of one training on each option, if the caller has them. Raises InputError if the cost of
    owning is unknown.
    """
    question = asked_of_plan(plan, catalog, site=site, today=today, estimates=estimates)
    if isinstance(question, NoOwningCost):
        raise InputError(
            f"own-or-rent: {question.reason}.",
            fix="Give its option hold: buy and purchase_usd, or describe it in your workspace's sites folder; see "
            "docs/owning.md.",
        )
    asked, candidate, resolved = question.asked, question.candidate, question.in_full
    owned, rentals = asked.owned, question.rentals
    against = next((rental for rental in rentals if rental.usd_per_owned_gpu_hour is not None), None)
    by_plan = planned_year(asked)
    clauses = headline(by_plan, confidence=plan.campaign.confidence, currency=plan.currency)
    reasons = (*_no_comparison(rentals, against), *owned.option.blocking_reasons)
    return OwnOrRentDocument(
        plan=plan.name,
        currency=plan.currency,
        site=resolved.site.id,
        name=resolved.site.name,
        acquisition=resolved.inputs.acquisition,
        nodes=resolved.site.nodes,
        accelerators_per_node=candidate.node.accelerators,
        accelerator=candidate.accelerator.id,
        usd_per_busy_gpu_hour=full_price(resolved),
        local_per_busy_gpu_hour=local_amount(full_price(resolved), plan.currency),
        usd_per_allocated_gpu_hour=usd_per_allocated_gpu_hour(resolved),
        usd_per_node_hour=usd_per_node_hour(resolved),
        usd_per_training=owned.option.usd_total,
        marginal_usd_per_busy_gpu_hour=marginal_price(resolved),
        marginal_usd_per_training=owned.option.usd_marginal,
        annual=cost_lines(resolved, hours=busy_gpu_hours_per_year(resolved.inputs)),
        annual_usd_per_node=annual_usd(resolved),
        year_parts=year_at_work(owned.resolved, by_plan, other_use=owned.other_use),
        against=against.id if against else None,
        break_even_utilisation=_break_even_by_kind(rentals),
        npv_usd=against.npv_usd if against else None,
        npv_after_tax_usd=against.npv_after_tax_usd if against else None,
        payback_months=against.payback_months if against else None,
        curve=curve(resolved),
        rivals=rentals,
        choices=choices(owned, asked.others, rentals, plan.currency),
        sensitivities=sensitivities(owned.at_its_price, against, rentals),
        incentives=_incentives(resolved),
        fits_circuit=_fits(candidate, owned.option),
        confidence=plan.campaign.confidence,
        by_plan=by_plan,
        headline=clauses,
        sentence=" ".join(clauses),
        site_sentence=site_sentence(owned.at_its_price, owned.option, rentals, against),
        inputs=_inputs(resolved),
        notes=tuple(dict.fromkeys(resolved.notes + owned.option.notes)),
        why_not=text_of(reasons),
        why_not_codes=codes_of(reasons),
    )


def _break_even_by_kind(rentals: Sequence[RentalOption]) -> dict[PriceKind, Quantity | None]:
    """Return the break-even against the first rented option of each kind of price."""
    return {
        rental.price_kind: rental.break_even_utilisation
        for rental in reversed(rentals)
        if rental.price_kind is not None and rental.usd_per_owned_gpu_hour is not None
    }


def _inputs(resolved: ResolvedSite) -> tuple[Input, ...]:
    """Return the site's inputs, with those marked that are defaults, perhaps under another name."""
    aliases = {"usd_per_kwh": "electricity", "residual_fraction": "residual", "years": "life_years"}
    return tuple(
        Input(name=name, quantity=quantity, default=not {name, aliases.get(name, name)}.isdisjoint(resolved.defaults))
        for name, quantity in resolved.quantities.items()
    )


def _no_comparison(rentals: Sequence[RentalOption], against: RentalOption | None) -> tuple[Reason, ...]:
    """Return why the machine cannot be compared with renting; empty if it can."""
    if not rentals:
        text = "break-even, NPV and payback: the plan names nothing to rent"
        return (Reason(code=ReasonCode.NOTHING_TO_RENT, text=text),)
    if against is None:
        text = "NPV and payback: no rented option has a price and a speed to compare with"
        return (Reason(code=ReasonCode.NO_COMPARABLE_RENT, text=text),)
    return ()


def _chosen(candidates: Sequence[Candidate], site: str | None) -> Candidate:
    """Return the named owned machine, else the first. Among options of one site, the existing machine comes first."""
    owned = {candidate.id: candidate for candidate in candidates if candidate.site is not None}
    if not owned:
        raise InputError(
            "own-or-rent: the plan has no owned machine.",
            fix="Add one to its options, e.g. {site: hgx-h200-8x}, or name one with --site.",
        )
    if site in owned:
        return owned[site]
    first = next(iter(owned.values())).site
    name = site or (first.id if first else None)
    of_site = [candidate for candidate in owned.values() if candidate.site is not None and candidate.site.id == name]
    if of_site:
        return next((candidate for candidate in of_site if candidate.hold is Hold.HAVE), of_site[0])
    assert site is not None, "the first one has a site"
    raise NotFoundError("owned machine", site, owned, where="--site", fix=f"The plan has: {', '.join(owned)}")


def _owned(candidate: Candidate, option: OptionEstimate, resolved: ResolvedSite) -> OwnedOption:
    """Return the option with the costs that renting would save."""
    as_bought = resolved if is_paid(resolved, option.hold) else None
    others = candidate.option.other_use or 0.0
    return OwnedOption(option, avoidable(resolved, option.hold), candidate.node, others, as_bought)


def _hardware(candidate: Candidate) -> tuple[object, ...]:
    """Return what determines the speed of a candidate: equal hardware trains equally fast."""
    return (
        candidate.accelerator.id,
        candidate.accelerators_per_node,
        candidate.nodes,
        candidate.node.link,
        candidate.strategy,
        candidate.any_strategy,
        candidate.option.step,
    )


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
    return not OVERLOADS.intersection(option.why_not_codes)
