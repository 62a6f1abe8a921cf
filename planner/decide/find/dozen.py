"""Which of all offers a plan compares: the best dozen, of more than one kind, the rest counted with the reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from planner.decide.find.offered import SHARED, Offered, offered
from planner.decide.find.screen import Shape, coarse_rates
from planner.decide.limits import against
from planner.duration.practice import middle_factor
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.hold import Hold
from planner.model.owning.site import Site
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import PriceKind
from planner.quantity.time_units import SECONDS_PER_HOUR
from planner.scenario.allowed_offers import provider_of
from planner.scenario.job import resolve_job

DOZEN = 12
ESTIMATED = 5
"""Offers of each kind that are estimated in full, by coarse cost; and as many again by coarse time."""
CHEAPER = 3
"""The same where only cheaper ones are looked for, which is asked up to three times beside one answer."""
DEARER = "dearer or slower than those of their kind"
NOT_WHOLE = "do not fit, or no speed is known"
DIVIDED = 2
"""Offers of one size that are tried divided: each is searched through, which takes long."""
LEAST_OF_COARSE = 0.9
"""The full estimate of a cost over the coarse one, at least: 0.94 to 3.5 over 280 options of three questions and four
setups, where the cost was near that of the best."""
OF_ONE_SHAPE = 2
"""Offers of one machine shape among them, each of another provider or kind of price: the cheapest may be out of stock,
the tenth adds nothing. Where the filters leave few shapes, further providers fill the places."""
MOST_UNUSED = 2.0
"""A Capacity Block is shown where the work uses half of its days or more."""
FEW_SHAPES = 10
"""Offers of each kind that are estimated where the filters leave one machine shape or two."""
KEPT_OUT = {
    ReasonCode.SPOT_NOT_ALLOWED: "on the spot where limits.spot is never",
    ReasonCode.SPOT_TOO_MUCH: "on more spot machines than one may plan with",
    ReasonCode.PRICE_TOO_OLD: "with a price too old to plan with: planner prices refresh",
}
UNUSED_BLOCK = "Capacity Blocks of which the work uses less than half"
BOUGHT = 3
"""Machines to buy among the dozen, at most; and kept of each other kind, at least one where there is one."""


@dataclass(frozen=True)
class Coarse:
    """An offer with its coarse hours and dollars for all trainings."""

    offer: Offered
    hours: float
    usd: float


def shortlist(
    plan: Plan, catalog: Catalog, accelerators: frozenset[str] | None, *, today: date, below_usd: float = math.inf
) -> tuple[list[PlanOption], Counter[str]]:
    """Return the options to estimate in full, some forty, and how many others were left out for which reason.

    With `below_usd` only those that may cost less, and none to buy: the full estimate adds what the coarse one leaves
    out.
    """
    assert plan.find is not None
    filters = within_limits(plan.find, plan)
    found = offered(catalog, filters, accelerators, today=today, framework=plan.training.framework)
    job = resolve_job(plan, catalog)
    at_once = min(plan.campaign.side_by_side, plan.campaign.runs)
    left_out = found.left_out
    kept_out = {id(offer): _kept_out(offer, plan, at_once, today=today) for offer in found.offers}
    offers = [offer for offer in found.offers if kept_out[id(offer)] is None]
    if not offers:  # where all prices are too old, the answer says so of the best, and what to do
        offers = [offer for offer in found.offers if kept_out[id(offer)] == KEPT_OUT[ReasonCode.PRICE_TOO_OLD]]
    kept = {id(offer) for offer in offers}
    left_out.update(words for one, words in kept_out.items() if words is not None and one not in kept)
    rates = coarse_rates(job, offers, catalog)
    practice, waves = middle_factor(plan, job, catalog), math.ceil(plan.campaign.runs / at_once)
    timed = []
    for offer in offers:
        rate = rates.get(Shape.of(offer))
        if rate is None:
            left_out[NOT_WHOLE] += 1
            continue
        of_one = job.samples_per_epoch * job.epochs / rate / SECONDS_PER_HOUR * practice
        hours = waves * (of_one + catalog.bill_defaults.setup_hours.value)
        usd = offer.usd_of(hours)
        if usd > MOST_UNUSED * hours * offer.usd_per_hour:
            left_out[UNUSED_BLOCK] += 1
            continue
        timed.append(Coarse(offer, waves * of_one, at_once * usd))
    chosen: dict[int, Coarse] = {}
    fresh = [one for one in timed if one.offer.firm and not one.offer.price.is_stale(today)]
    most = ESTIMATED if below_usd == math.inf else CHEAPER
    chosen |= {id(one): one for one in _first(fresh, _by_usd, most=most)}
    for of_kind in (_firm_on_one, _firm_on_several, _on_spot):
        kind = [one for one in timed if of_kind(one.offer)]
        for key in (_by_usd, _by_hours) if below_usd == math.inf else (_by_usd,):
            chosen |= {id(one): one for one in _first(kind, key, most=most)}
    chosen = {key: one for key, one in chosen.items() if one.usd * LEAST_OF_COARSE <= below_usd}
    options = [one.offer.option(any_named=filters.available) for one in chosen.values()]
    left_out[DEARER] += len(timed) - len(chosen) + found.unread
    if not rates and job.setup.sample == "tokens":
        to_divide = _to_divide(offers)
        left_out[NOT_WHOLE] -= len(to_divide)
        options = [offer.option(any_named=filters.available) for offer in to_divide]
    return [*_owned(catalog, plan.find, accelerators, to_buy=below_usd == math.inf), *options], left_out


def _kept_out(offer: Offered, plan: Plan, at_once: int, *, today: date) -> str | None:
    """Return in words which limit keeps an offer out for however short a work; None where none does.

    What is known to need a quote stays: a person can ask for one.
    """
    reasons = against(offer.terms(plan.limits, today=today), machines=offer.nodes * at_once, days=0.0)
    return next((KEPT_OUT[reason.code] for reason in reasons if reason.code in KEPT_OUT), None)


def chosen_dozen(comparison: ComparisonDocument, options: Sequence[PlanOption]) -> list[PlanOption]:
    """Return the dozen that is shown, best first: the first of each kind, then by rank, of what has a rank."""
    by_key: dict[tuple[object, ...], PlanOption] = {
        (one.offer, one.site, one.price, one.nodes or 1): one for one in options
    }
    able = [
        (one, by_key[_key(one.offer, one.site, one.price_kind, one.nodes)])
        for one in comparison.options
        if one.rank is not None
    ]
    kept: list[int] = []
    for kind in (
        lambda one: one.hold is Hold.HAVE,
        lambda one: one.firm is True and one.nodes == 1,
        lambda one: one.firm is True and one.nodes > 1,
        lambda one: one.firm is False,
        lambda one: one.hold is Hold.BUY,
    ):
        kept += [place for place, (one, _) in enumerate(able) if kind(one)][:1]
    bought = 0
    for place, (one, _) in enumerate(able):
        if len(set(kept)) >= DOZEN:
            break
        bought += one.hold is Hold.BUY
        if one.hold is not Hold.BUY or bought <= BOUGHT:
            kept.append(place)
    return [able[place][1] for place in sorted(set(kept))[:DOZEN]]


def _key(*parts: object) -> tuple[object, ...]:
    return parts


def found_note(shown: int, left_out: Counter[str]) -> str:
    """Return the line that says how many offers were looked at and why they are not shown."""
    total = shown + left_out.total()
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in left_out.most_common() if number)
    return f"Found: {shown} of {total:,} ways to rent or use a machine. Left out: {reasons or 'none'}"


def _first(of_kind: Iterable[Coarse], key: Callable[[Coarse], tuple[float, float]], *, most: int) -> list[Coarse]:
    shapes: Counter[Shape] = Counter()
    taken: set[tuple[str, Shape, PriceKind]] = set()
    first: list[Coarse] = []
    others: list[Coarse] = []
    for one in sorted(of_kind, key=key):
        shape = replace(Shape.of(one.offer), network_gbit_per_s=None)
        same = (provider_of(one.offer.node.id), Shape.of(one.offer), one.offer.price.price_kind)
        if same in taken:
            continue
        taken.add(same)
        shapes[shape] += 1
        (first if shapes[shape] <= OF_ONE_SHAPE else others).append(one)
        if len(first) == most:
            return first
    return first + others[: (FEW_SHAPES if len(shapes) <= OF_ONE_SHAPE else most) - len(first)]


def _to_divide(offers: Iterable[Offered]) -> list[Offered]:
    """Return, where no network fits undivided, the offers to try divided: of each size the cheapest firm memory.

    Some of each size, with networks that are known before those that are assumed, as a slow one divides badly.
    """
    by_size: dict[int, list[Offered]] = {}
    for offer in sorted(offers, key=_cheapest_memory):
        if offer.firm and offer.accelerators >= SHARED:
            by_size.setdefault(offer.accelerators, []).append(offer)
    return [offer for size in sorted(by_size) for offer in by_size[size][:DIVIDED]]


def _cheapest_memory(offer: Offered) -> tuple[bool, float]:
    assumed = offer.nodes > 1 and offer.node.network_range is not None
    return assumed, offer.usd_per_hour / (offer.accelerators * (offer.accelerator.hbm_gib or 1.0))


def _by_usd(one: Coarse) -> tuple[float, float]:
    return one.usd, one.hours


def _by_hours(one: Coarse) -> tuple[float, float]:
    return one.hours, one.usd


def _firm_on_one(offer: Offered) -> bool:
    return offer.firm and offer.nodes == 1


def _firm_on_several(offer: Offered) -> bool:
    return offer.firm and offer.nodes > 1


def _on_spot(offer: Offered) -> bool:
    return not offer.firm


def within_limits(filters: FindFilters, plan: Plan) -> FindFilters:
    """Return the filters with the providers and regions that the plan's limits allow, so that no others are read."""
    limits = plan.limits
    narrowed: dict[str, object] = {}
    if limits.providers.allow is not None and filters.provider is None:
        narrowed["provider"] = limits.providers.allow
    places = (limits.data_region,) if limits.data_region is not None else limits.allowed_regions
    if places is not None and filters.region is None:
        narrowed["region"] = places
    return filters.model_copy(update=narrowed)


def _owned(
    catalog: Catalog, filters: FindFilters, accelerators: frozenset[str] | None, *, to_buy: bool
) -> list[PlanOption]:
    """Return the workspace's own sites and, with `to_buy`, the bundled ones that can be bought at a known price.

    None of the latter where the filters say how, or where, to rent.
    """

    def passes(site: Site) -> bool:
        node = catalog.nodes.get(site.node)
        if node is None or (accelerators is not None and node.accelerator not in accelerators):
            return False
        return filters.gpus is None or node.accelerators in filters.gpus

    sites = [site for site in catalog.sites.values() if passes(site)]
    mine = [PlanOption(site=site.id) for site in sites if site.id not in catalog.bundled_sites]
    if filters.asks_for_rent or not to_buy:
        return mine
    return mine + [
        PlanOption(site=site.id)
        for site in sites
        if site.id in catalog.bundled_sites and site.hold is Hold.BUY and site.purchase is not None
    ]
