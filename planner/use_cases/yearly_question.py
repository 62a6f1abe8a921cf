"""Answers "own or rent" with changed inputs of a year, and for several numbers of trainings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from planner.decide.options.estimate_plan import estimate_options
from planner.decide.owning.own_or_rent import year_of_plan
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import PlannedYear
from planner.model.catalog import Catalog
from planner.model.figure import Figure
from planner.model.owning.acquisition import Hold
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.quantity import Basis
from planner.scenario.candidate import expand
from planner.use_cases.owning import own_or_rent

CHANGED = "changed by the reader"


@dataclass(frozen=True)
class Year:
    """Changed inputs of a year. None keeps the value of the plan or the catalog."""

    trainings: int | None = None
    years: float | None = None
    """Years for which the machine is kept."""
    purchase_usd: float | None = None
    """Price in USD of a machine to be bought."""
    usd_per_kwh: float | None = None
    other_use: float | None = None
    """Share of the machine's busy hours that others use."""


def own_or_rent_in(plan: Plan, catalog: Catalog, year: Year, *, site: str | None, today: date) -> OwnOrRentDocument:
    """Answer own or rent with the changes of a year."""
    asked, known = changed(plan, catalog, year, site=site)
    return own_or_rent(asked, known, today=today, site=site)


def yearly_costs(
    plan: Plan, catalog: Catalog, year: Year, trainings: Sequence[int], *, site: str | None, today: date
) -> dict[int, PlannedYear]:
    """Return the year's costs by number of trainings. Numbers with unknown costs are left out."""
    found = {}
    asked, known = changed(plan, catalog, year, site=site)
    estimates = estimate_options(asked, known, today=today)
    for count in trainings:
        limits = asked.campaign.model_copy(update={"runs_per_year": count})
        planned = asked.model_copy(update={"campaign": limits})
        by_plan = year_of_plan(planned, known, site=site, today=today, estimates=estimates)
        if by_plan is not None:
            found[count] = by_plan
    return found


def changed(plan: Plan, catalog: Catalog, year: Year, *, site: str | None) -> tuple[Plan, Catalog]:
    """Return the plan and the catalog with the changes of a year, applied to the machine at `site`.

    `site` may be the id of a card without a site (`own/RTX-3090-x2`).
    """
    if year.trainings is not None:
        update = {"runs_per_year": year.trainings}
        plan = plan.model_copy(update={"campaign": plan.campaign.model_copy(update=update)})
    if year.usd_per_kwh is not None:
        tariff = {"electricity_usd_per_kwh": year.usd_per_kwh, "electricity_local_per_kwh": None, "tariff": None}
        plan = plan.model_copy(update={"assumptions": plan.assumptions.model_copy(update=tariff)})
    places = [
        candidate.option
        for candidate in expand(plan, catalog)
        if candidate.site is not None and candidate.site.id == site
    ]
    options = tuple(_option(option, year) if option in places else option for option in plan.options)
    plan = plan.model_copy(update={"options": options})
    if year.years is not None and site in catalog.sites:
        sites = catalog.sites | {site: _kept(catalog.sites[site], year.years)}
        catalog = catalog.model_copy(update={"sites": sites})
    return plan, catalog


def _option(option: PlanOption, year: Year) -> PlanOption:
    update: dict[str, object] = {} if year.other_use is None else {"other_use": year.other_use}
    if year.purchase_usd is not None:
        update |= {"purchase_usd": year.purchase_usd, "hold": Hold.BUY}
    return option.model_copy(update=update)


def _kept(site: Site, years: float) -> Site:
    """Return the site with another life in years, which is the remaining life for a machine in use."""
    figure = Figure(value=years, basis=Basis.ASSUMED, source=CHANGED)
    if site.already_owned is not None:
        owned = site.already_owned.model_copy(update={"remaining_life_years": figure})
        return site.model_copy(update={"already_owned": owned})
    return site if site.lease is not None else site.model_copy(update={"life_years": figure})
