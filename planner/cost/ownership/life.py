"""Checks whether a machine lasts as long as the work."""

from __future__ import annotations

import math

from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.quantity.time_units import DAYS_PER_YEAR, HOURS_PER_YEAR


def leased_hours(resolved: ResolvedSite | None) -> float:
    """Return the hours of a machine's lease; infinite if it is not leased."""
    leased = resolved is not None and resolved.site.lease is not None
    return resolved.inputs.years * HOURS_PER_YEAR if resolved is not None and leased else math.inf


def life_reasons(resolved: ResolvedSite | None, catalog: Catalog, *, days: float) -> tuple[Reason, ...]:
    """Return why a machine that is not leased does not last for these days of work; empty if it does.

    Its years are those over which its cost is counted: the remaining life, at least one year. If the cost of owning is
    unknown, it is the default life of a new machine.
    """
    years = resolved.inputs.years if resolved is not None else catalog.owning_defaults.life_years.value
    needed = days / DAYS_PER_YEAR
    if needed <= years or not math.isinf(leased_hours(resolved)):
        return ()
    text = f"needs a replacement: {needed:.3g} years of work pass the {years:.3g} years that it lasts"
    figures = {"needed_years": needed, "left_years": years}
    return (Reason(code=ReasonCode.NEEDS_REPLACEMENT, text=text, figures=figures),)
