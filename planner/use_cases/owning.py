"""Own or rent: what is asked of a plan about one of its owned machines."""

from __future__ import annotations

from planner.model.catalog import Catalog
from planner.model.own_or_rent import OwnOrRentDocument
from planner.model.plan import Plan, PlanOption
from planner.recommend.own_or_rent import own_or_rent as compare_owning


def own_or_rent(
    plan: Plan, catalog: Catalog, *, site: str | None = None, tariff: str | None = None
) -> OwnOrRentDocument:
    """Compare an owned machine with everything that the plan could rent.

    `site` may be one that the plan does not name: it is then added to the options. `tariff` takes the place of the
    plan's electricity.
    """
    if tariff is not None:
        catalog.find_tariff(tariff, where="--tariff")
        update = {"tariff": tariff, "electricity_usd_per_kwh": None, "electricity_local_per_kwh": None}
        plan = plan.model_copy(update={"assumptions": plan.assumptions.model_copy(update=update)})
    if site is not None and site in catalog.sites and all(option.site != site for option in plan.options):
        plan = plan.model_copy(update={"options": (*plan.options, PlanOption(site=site))})
    return compare_owning(plan, catalog, site=site)
