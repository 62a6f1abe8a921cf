"""Where the plan allows the work to be done; a place that is not known is not allowed."""

from __future__ import annotations

from planner.estimate.candidate import ANY_REGION, Candidate
from planner.model.plan import PlaceLimits


def not_allowed(candidate: Candidate, limits: PlaceLimits) -> str | None:
    """Return why the plan's limits rule this option out, or None.

    An option's place is its region, or the id of its site. `any` and no region at all stand for a place that nobody
    named, which no list can hold.
    """
    place = _place(candidate)
    reasons = []
    if limits.allowed_regions is not None and place not in limits.allowed_regions:
        reasons.append(
            f"{_where(candidate, place)}, and limits.allowed_regions holds {', '.join(limits.allowed_regions)}"
        )
    if limits.data_region is not None and place != limits.data_region:
        reasons.append(f"{_where(candidate, place)}, and limits.data_region keeps the data in {limits.data_region}")
    return "; ".join(reasons) or None


def _place(candidate: Candidate) -> str | None:
    if candidate.site is not None:
        return candidate.site.id
    named = candidate.option.region if candidate.has_own_price else None
    region = named or (candidate.price.region if candidate.price else candidate.option.region)
    return None if region == ANY_REGION else region


def _where(candidate: Candidate, place: str | None) -> str:
    if candidate.site is not None:
        return f"it stands at {place} (list the site's id where that is an allowed place)"
    return f"it is in {place}" if place else "its region is not known"
