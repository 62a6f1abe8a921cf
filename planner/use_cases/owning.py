"""Answers "own or rent" about one of a plan's owned machines, also with changed inputs of a year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from planner.adapters.files import write_text
from planner.decide.options.estimate_plan import estimate_options
from planner.decide.owning.horizons import horizons
from planner.decide.owning.own_or_rent import own_or_rent as compare_owning
from planner.decide.owning.own_or_rent import year_of_plan
from planner.decide.recommend.answer_plan import answer_plan
from planner.errors import InputError, MissingExtraError
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import PlannedYear
from planner.model.catalog import Catalog
from planner.model.figure import Figure
from planner.model.owning.acquisition import Hold
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.quantity import Basis, FormulaUsed
from planner.quantity.formula import named
from planner.quantity.formula_text import as_name, printed
from planner.quantity.recorded_number import recording
from planner.scenario.candidate import expand
from planner.use_cases.answer_ids import document_id
from planner.use_cases.plans import with_found_options


def own_or_rent(
    plan: Plan,
    catalog: Catalog,
    *,
    today: date,
    site: str | None = None,
    tariff: str | None = None,
    country: str | None = None,
) -> OwnOrRentDocument:
    """Compare an owned machine over a year with everything that the plan could rent, and add the answer of `compare`.

    A `site` that the plan does not name is added to its options. `tariff` replaces the plan's electricity price, and
    `country` replaces the country of its machines.
    """
    if country is not None:
        moved = plan.assumptions.model_copy(update={"country": country})
        plan = plan.model_copy(update={"assumptions": moved})
    if tariff is not None:
        catalog.find_tariff(tariff, where="--tariff")
        update = {"tariff": tariff, "electricity_usd_per_kwh": None, "electricity_local_per_kwh": None}
        plan = plan.model_copy(update={"assumptions": plan.assumptions.model_copy(update=update)})
    plan = with_found_options(plan, catalog, today=today)
    if site is not None and site in catalog.sites and all(option.site != site for option in plan.options):
        plan = plan.model_copy(update={"options": (*plan.options, PlanOption(site=site))})
    with recording():
        estimated = estimate_options(plan, catalog, today=today)
        document = compare_owning(plan, catalog, site=site, today=today, estimates=estimated)
        document = document.model_copy(update={"formulas": _formulas(document)})
    assert document.by_plan is not None, "every answer is given on a year"
    campaign = answer_plan(plan, catalog, today=today, estimated=estimated)
    document = document.model_copy(update={"horizons": horizons(campaign, document.by_plan, plan)})
    return document.model_copy(update={"answer_id": document_id(document)})


def _formulas(document: OwnOrRentDocument) -> tuple[FormulaUsed, ...]:
    """Return the formulas of a year's cost on each machine, and of the chance that it is less than owning."""
    assert document.by_plan is not None, "every answer is given on a year"
    numbers: dict[str, float] = {}
    for option in document.by_plan.options:
        name = as_name(option.display_name or option.id)
        if option.usd_per_year is not None:
            numbers[f"a_year_on_{name}"] = named(f"a_year_on_{name}", option.usd_per_year.value, "USD/year")
        if option.chance_costs_less is not None:
            numbers[f"chance_{name}_costs_less"] = named(f"chance_{name}_costs_less", option.chance_costs_less, "")
    if document.marginal_usd_per_training is not None:
        numbers["electricity_of_a_training"] = document.marginal_usd_per_training.value
    return printed(numbers)


def owned_machines(plan: Plan, catalog: Catalog) -> dict[str, str]:
    """Return the owned machines of a plan with listed options: names by id, in the plan's order."""
    sites = [candidate.site for candidate in expand(plan, catalog) if candidate.site is not None]
    return {site.id: site.name for site in sites}


def write_curve(document: OwnOrRentDocument, path: Path) -> Path:
    """Draw the cost of a busy hour against the busy share, with every rent, as SVG."""
    from planner.present.own_or_rent import curve_svg

    if path.suffix.lower() != ".svg":
        raise InputError(f"{path}: a chart is written as .svg.", fix="Give the file this ending.")
    svg = curve_svg(document)
    if svg is None:
        raise MissingExtraError("The drawing of charts", "app")
    write_text(path, svg)
    return path


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
        sites = catalog.sites | {site: _with_life(catalog.sites[site], year.years)}
        catalog = catalog.model_copy(update={"sites": sites})
    return plan, catalog


def _option(option: PlanOption, year: Year) -> PlanOption:
    update: dict[str, object] = {} if year.other_use is None else {"other_use": year.other_use}
    if year.purchase_usd is not None:
        update |= {"purchase_usd": year.purchase_usd, "hold": Hold.BUY}
    return option.model_copy(update=update)


def _with_life(site: Site, years: float) -> Site:
    """Return the site with another life in years, which is the remaining life for a machine in use."""
    figure = Figure(value=years, basis=Basis.ASSUMED, source=CHANGED)
    if site.already_owned is not None:
        owned = site.already_owned.model_copy(update={"remaining_life_years": figure})
        return site.model_copy(update={"already_owned": owned})
    return site if site.lease is not None else site.model_copy(update={"life_years": figure})
