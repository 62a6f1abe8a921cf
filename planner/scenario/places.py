"""Places in which the plan allows the work. An unknown place is not allowed."""

from __future__ import annotations

from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.model.plan.plan import OptionLimits, Plan
from planner.scenario.candidate import Candidate
from planner.scenario.price_choice import ANY_REGION
from planner.scenario.region_groups import check_places, is_in


def reasons_not_allowed(candidate: Candidate, limits: OptionLimits) -> tuple[Reason, ...]:
    """Return why the plan's limits rule this option out; empty if they allow it."""
    if candidate.site is not None:
        return place_reasons(candidate.site.id, candidate.site.id, limits)
    named = candidate.option.region if candidate.has_own_price else None
    region = named or (candidate.price.region if candidate.price else candidate.option.region)
    return place_reasons(place_of_region(region), None, limits)


def check_limits(plan: Plan, catalog: Catalog) -> None:
    """Refuse limits on places that name no region, site or group."""
    limits = plan.limits
    known = {row.region for row in (*catalog.prices, *catalog.own_prices)} | catalog.sites.keys()
    known |= {option.region for option in plan.options if option.region is not None}
    known |= {option.site for option in plan.options if option.site is not None}
    check_places(limits.allowed_regions or (), known, where="limits.allowed_regions")
    check_places((limits.data_region,) if limits.data_region else (), known, where="limits.data_region")


def place_of_region(region: str | None) -> str | None:
    """Return the place of a rented machine. `any` and a missing region mean an unknown place."""
    return None if region == ANY_REGION else region


def place_reasons(place: str | None, site: str | None, limits: OptionLimits) -> tuple[Reason, ...]:
    """Return why the plan's limits rule a place out. No list can contain an unknown place."""
    if site is not None:
        where = f"it stands at {site} (list the site's id where that is an allowed place)"
    else:
        where = f"it is in {place}" if place else "its region is not known"
    reasons = []
    if limits.allowed_regions is not None and not is_in(place, limits.allowed_regions):
        text = f"{where}, and limits.allowed_regions holds {', '.join(limits.allowed_regions)}"
        reasons.append(Reason(code=ReasonCode.PLACE_NOT_ALLOWED, text=text))
    if limits.data_region is not None and not is_in(place, (limits.data_region,)):
        text = f"{where}, and limits.data_region keeps the data in {limits.data_region}"
        reasons.append(Reason(code=ReasonCode.DATA_LEAVES_REGION, text=text))
    return tuple(reasons)
