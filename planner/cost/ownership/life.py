"""Checks whether a machine lasts as long as the work."""

from __future__ import annotations

from planner.cost.ownership.resolved_site import ResolvedSite
from planner.model.answer.reason import Reason, ReasonCode
from planner.model.catalog import Catalog
from planner.quantity.time_units import DAYS_PER_YEAR


def life_reasons(resolved: ResolvedSite | None, catalog: Catalog, *, days: float) -> tuple[Reason, ...]:
    """Return why a machine does not last for these days of work; empty if it does.

    Its years are those over which its cost is counted: the remaining life, at least one year, or the term of its lease.
    If the cost of owning is unknown, it is the default life of a new machine.
    """
    years = resolved.inputs.years if resolved is not None else catalog.owning_defaults.life_years.value
    needed = days / DAYS_PER_YEAR
    if needed <= years:
        return ()
    leased = resolved is not None and resolved.site.lease is not None
    end = f"the {years:.3g} years of its lease" if leased else f"the {years:.3g} years that it lasts"
    text = f"needs a replacement: {needed:.3g} years of work pass {end}"
    figures = {"needed_years": needed, "left_years": years}
    return (Reason(code=ReasonCode.NEEDS_REPLACEMENT, text=text, figures=figures),)
