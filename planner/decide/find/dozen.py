"""Choose which of all offers a plan compares: the best dozen of several kinds. The rest is counted by reason."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from operator import attrgetter

from planner.decide.find.offered import SHARED, Offered, offered
from planner.decide.find.screen import Shape, coarse_rates
from planner.decide.limits import against
from planner.duration.practice import middle_factor
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import CampaignOption
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.acquisition import Hold
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
"""Offers of each kind that are estimated in full because of their coarse cost, and as many because of their time."""
CHEAPER = 3
"""Offers of each kind if only cheaper ones are wanted. One answer may ask for them up to three times."""
DEARER = "more expensive or slower than others of their kind"
NOT_WHOLE = "do not fit, or no speed is known"
DIVIDED = 2
"""Offers of each size for which split networks are tried. The search for a split takes long."""
LEAST_OF_COARSE = 0.9
"""Smallest ratio of full to coarse estimate of a cost. It was 0.94 to 3.5 over 280 options of three questions and
four setups with a cost similar to the best."""
OF_ONE_SHAPE = 2
"""Offers of one machine shape, each of another provider or kind of price: the cheapest may be out of stock, and the
tenth adds nothing. If the filters leave few shapes, further providers fill the places."""
MOST_UNUSED = 2.0
"""Largest ratio of sold to used hours of a Capacity Block that is shown."""
FEW_SHAPES = 10
"""Offers of each kind that are estimated if the filters leave one or two machine shapes."""
KEPT_OUT = {
    ReasonCode.SPOT_NOT_ALLOWED: "on the spot where limits.spot is never",
    ReasonCode.SPOT_TOO_MUCH: "on more spot machines than one may plan with",
    ReasonCode.PRICE_TOO_OLD: "with a price too old to plan with: planner prices refresh",
}
UNUSED_BLOCK = "Capacity Blocks of which the work uses less than half"
BOUGHT = 3
"""Largest number of machines to buy among the dozen."""


@dataclass(frozen=True)
class Coarse:
    """An offer with coarse hours and USD of all trainings."""

    offer: Offered
    hours: float
    usd: float


def shortlist(
    plan: Plan, catalog: Catalog, accelerators: frozenset[str] | None, *, today: date, below_usd: float = math.inf
) -> tuple[list[PlanOption], Counter[str]]:
    """Return about forty options to estimate in full, and the numbers of other offers by reason.

    `below_usd` leaves only offers that may cost less, and no machines to buy.
    """
    assert plan.find is not None
    filters, all_wanted = within_limits(plan.find, plan), below_usd == math.inf
    found = offered(catalog, filters, accelerators, today=today, framework=plan.training.framework)
    job = resolve_job(plan, catalog)
    at_once = min(plan.campaign.side_by_side, plan.campaign.runs)
    left_out = found.left_out
    reasons = [_kept_out(offer, plan, at_once, today=today) for offer in found.offers]
    # If every price is too old, the best of them are shown, so that the answer can say what to do.
    wanted = None if None in reasons else KEPT_OUT[ReasonCode.PRICE_TOO_OLD]
    offers = [offer for offer, reason in zip(found.offers, reasons, strict=True) if reason == wanted]
    left_out.update(reason for reason in reasons if reason is not None and reason != wanted)
    rates = coarse_rates(job, offers, catalog)
    practice, waves = middle_factor(plan, job, catalog), math.ceil(plan.campaign.runs / at_once)
    timed = []
    for offer in offers:
        rate = rates.get(Shape.of(offer))
        if rate is None:
            left_out[NOT_WHOLE] += 1
            continue
        hours_of_one = job.samples_per_epoch * job.epochs / rate / SECONDS_PER_HOUR * practice
        hours = waves * (hours_of_one + catalog.bill_defaults.setup_hours.value)
        usd = offer.usd_of(hours)
        if usd > MOST_UNUSED * hours * offer.usd_per_hour:
            left_out[UNUSED_BLOCK] += 1
            continue
        timed.append(Coarse(offer, waves * hours_of_one, at_once * usd))
    most = ESTIMATED if all_wanted else CHEAPER
    by_usd, by_hours = attrgetter("usd", "hours"), attrgetter("hours", "usd")
    fresh = [coarse for coarse in timed if coarse.offer.firm and not coarse.offer.price.is_stale(today)]
    first = _first_of_kind(fresh, by_usd, most=most)
    for firm, several in ((True, False), (True, True), (False, None)):
        kind = [
            coarse
            for coarse in timed
            if coarse.offer.firm is firm and (several is None or (coarse.offer.nodes > 1) is several)
        ]
        for key in (by_usd, by_hours) if all_wanted else (by_usd,):
            first += _first_of_kind(kind, key, most=most)
    chosen = {id(coarse): coarse for coarse in first if coarse.usd * LEAST_OF_COARSE <= below_usd}
    options = [coarse.offer.option(any_named=filters.available) for coarse in chosen.values()]
    left_out[DEARER] += len(timed) - len(chosen) + found.unread
    if not rates and job.setup.sample == "tokens":
        to_divide = _to_divide(offers)
        left_out[NOT_WHOLE] -= len(to_divide)
        options = [offer.option(any_named=filters.available) for offer in to_divide]
    return [*_owned(catalog, plan.find, accelerators, to_buy=all_wanted), *options], left_out


def _kept_out(offer: Offered, plan: Plan, at_once: int, *, today: date) -> str | None:
    """Return which limit keeps an offer out even for short work; None if no limit does.

    Offers that need a quote stay, because a person can ask for one.
    """
    reasons = against(offer.terms(plan.limits, today=today), machines=offer.nodes * at_once, days=0.0)
    return next((KEPT_OUT[reason.code] for reason in reasons if reason.code in KEPT_OUT), None)


KINDS: tuple[Callable[[CampaignOption], bool], ...] = (
    lambda row: row.hold is Hold.HAVE,
    lambda row: row.firm is True and row.nodes == 1,
    lambda row: row.firm is True and (row.nodes or 1) > 1,
    lambda row: row.firm is False,
    lambda row: row.hold is Hold.BUY,
)
"""Kinds of options of which the best one is always shown."""


def chosen_dozen(comparison: ComparisonDocument, options: Sequence[PlanOption]) -> list[PlanOption]:
    """Return the dozen options to show, the best first: the first of each kind, then others by rank."""
    listed: dict[tuple[object, ...], PlanOption] = {
        (option.offer, option.site, option.price, option.nodes or 1): option for option in options
    }
    rows = [row for row in comparison.options if row.rank is not None]
    kept = {place for kind in KINDS for place in [place for place, row in enumerate(rows) if kind(row)][:1]}
    bought = 0
    for place, row in enumerate(rows):
        if len(kept) >= DOZEN:
            break
        bought += row.hold is Hold.BUY
        if row.hold is not Hold.BUY or bought <= BOUGHT:
            kept.add(place)
    shown = [rows[place] for place in sorted(kept)[:DOZEN]]
    return [listed[row.offer, row.site, row.price_kind, row.nodes] for row in shown]


def found_note(shown: int, left_out: Counter[str]) -> str:
    """Return a note on the number of offers, and why the others are not shown."""
    total = shown + left_out.total()
    reasons = ", ".join(f"{number:,} {reason}" for reason, number in left_out.most_common() if number)
    return f"Found: {shown} of {total:,} ways to rent or use a machine. Left out: {reasons or 'none'}"


def _first_of_kind(
    of_kind: Iterable[Coarse], key: Callable[[Coarse], tuple[float, float]], *, most: int
) -> list[Coarse]:
    """Return the first offers of a kind, few of each shape, and each of another provider or kind of price."""
    shapes: Counter[Shape] = Counter()
    taken: set[tuple[str, Shape, PriceKind]] = set()
    first: list[Coarse] = []
    others: list[Coarse] = []
    for coarse in sorted(of_kind, key=key):
        shape = replace(Shape.of(coarse.offer), network_gbit_per_s=None)
        same = (provider_of(coarse.offer.node.id), Shape.of(coarse.offer), coarse.offer.price.price_kind)
        if same in taken:
            continue
        taken.add(same)
        shapes[shape] += 1
        (first if shapes[shape] <= OF_ONE_SHAPE else others).append(coarse)
        if len(first) == most:
            return first
    return first + others[: (FEW_SHAPES if len(shapes) <= OF_ONE_SHAPE else most) - len(first)]


def _to_divide(offers: Iterable[Offered]) -> list[Offered]:
    """Return the offers to try with split networks if none fits whole: for each size those with the cheapest memory.

    Known networks come before assumed ones, because a split suffers most from a slow network.
    """
    by_size: dict[int, list[Offered]] = {}
    for offer in sorted(offers, key=_cheapest_memory):
        if offer.firm and offer.accelerators >= SHARED:
            by_size.setdefault(offer.accelerators, []).append(offer)
    return [offer for size in sorted(by_size) for offer in by_size[size][:DIVIDED]]


def _cheapest_memory(offer: Offered) -> tuple[bool, float]:
    assumed = offer.nodes > 1 and offer.node.network_range is not None
    return assumed, offer.usd_per_hour / (offer.accelerators * (offer.accelerator.hbm_gib or 1.0))


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

    Filters on how or where to rent leave out the bundled ones.
    """
    bundled, all_wanted = catalog.bundled_sites, to_buy and not filters.asks_for_rent

    def passes(site: Site) -> bool:
        node = catalog.nodes.get(site.node)
        if node is None or (accelerators is not None and node.accelerator not in accelerators):
            return False
        own = site.id not in bundled
        to_be_bought = all_wanted and site.hold is Hold.BUY and site.purchase is not None
        return (filters.gpus is None or node.accelerators in filters.gpus) and (own or to_be_bought)

    own_first = sorted(catalog.sites.values(), key=lambda site: site.id in bundled)
    return [PlanOption(site=site.id) for site in own_first if passes(site)]
