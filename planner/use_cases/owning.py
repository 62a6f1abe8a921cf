"""Answers "own or rent" about one of a plan's owned machines."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from planner.adapters.files import write_text
from planner.decide.options.estimate_plan import estimate_options
from planner.decide.owning.horizons import horizons
from planner.decide.owning.own_or_rent import own_or_rent as compare_owning
from planner.decide.recommend.answer_plan import answer_plan
from planner.errors import InputError, MissingExtraError
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.quantity import FormulaUsed
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
    from planner.present.own_or_rent_chart import curve_svg

    if path.suffix.lower() != ".svg":
        raise InputError(f"{path}: a chart is written as .svg.", fix="Give the file this ending.")
    svg = curve_svg(document)
    if svg is None:
        raise MissingExtraError("The drawing of charts", "app")
    write_text(path, svg)
    return path
