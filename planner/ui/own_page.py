"""Page "Own or rent": the yearly cost of the question's trainings on each way, with inputs on sliders."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

import streamlit as st

from planner import clock
from planner.errors import InputError
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.planned_year import PlannedYear
from planner.model.owning.acquisition import Acquisition
from planner.model.plan.plan import Plan
from planner.present.page.charts import counts_around, lacking, year_chart
from planner.present.page.words import MoneyFormat, Words
from planner.present.page.year import YearPage
from planner.scenario.candidate import expand
from planner.scenario.own_machine import OWN
from planner.ui import parts
from planner.ui.ask.question import StampedCatalog, answer_form, at_our_terms
from planner.ui.catalogs import visited_catalog
from planner.ui.scenario import example_plan, examples
from planner.ui.state import chosen_words, current_form, numbers_of_address, remember
from planner.use_cases.owning import Year, own_or_rent_in, owned_machines, yearly_costs

EXAMPLE = "station_own_or_rent"
NUMBERS = ("trainings", "keep", "price", "usd_kwh", "others")
"""Parameters of the sliders in the address."""


@dataclass(frozen=True)
class PlanOnPage:
    """Plan of the page."""

    plan: Plan
    example: bool


def render() -> None:
    """Draw the page."""
    words, today = chosen_words(), clock.today()
    problems: list[InputError] = []
    known = visited_catalog(problems, today)
    form = current_form(problems)
    given = numbers_of_address(NUMBERS, problems)
    try:
        asked = _plan_or_example(answer_form(form, known, now=clock.now()).dated.plan)
        known = at_our_terms(form, known, today=today)
    except InputError as error:
        problems.append(error)
        asked = _plan_or_example(None)
    left, right = st.columns([4, 9], gap="large")
    with left, st.container(border=True):
        site = _site(asked.plan, known, words)
        unchanged = _unchanged_document(asked.plan, site, known, problems, today)
        year = (
            Year() if unchanged is None else _sliders(unchanged, given, words, _used_by_others(asked.plan, site, known))
        )
    with right:
        if asked.example:
            parts.note(
                words("Your question names no machine to own: this is the example {name}.", name=asked.plan.name)
            )
        _answer(asked.plan, known, year, site, problems, words, today)
        parts.problems(problems, words, stands=False)
    if not problems:
        remember(form, words, **_numbers(year))


def _plan_or_example(plan: Plan | None) -> PlanOnPage:
    """Return the question's plan, or the example if it has no machine to own."""
    if plan is None or all(option.offer for option in plan.options):
        return PlanOnPage(example_plan(examples()[EXAMPLE]), example=True)
    return PlanOnPage(plan, example=False)


def _site(plan: Plan, known: StampedCatalog, words: Words) -> str | None:
    """Let the user choose the machine in question, first the plan's first one."""
    sites = owned_machines(plan, known.catalog)
    if not sites:
        return None
    chosen: str = st.selectbox(words("Machine asked about"), list(sites), format_func=sites.__getitem__, key="own-site")
    return chosen


def _used_by_others(plan: Plan, site: str | None, known: StampedCatalog) -> float:
    """Return the stated share of the machine's busy hours that others use."""
    options = (
        candidate.option
        for candidate in expand(plan, known.catalog)
        if candidate.site is not None and candidate.site.id == site
    )
    return next((option.other_use or 0.0 for option in options), 0.0)


def _unchanged_document(
    plan: Plan, site: str | None, known: StampedCatalog, problems: list[InputError], today: date
) -> OwnOrRentDocument | None:
    try:
        return _document(plan, known, Year(), site, today)
    except InputError as error:
        problems.append(error)
        return None


def _sliders(unchanged: OwnOrRentDocument, given: Mapping[str, float], words: Words, others: float) -> Year:
    """Return the changes by sliders. An untouched slider changes nothing, even if its position is rounded."""
    inputs = {resolved.name: resolved.quantity.value for resolved in unchanged.inputs}
    planned = unchanged.by_plan
    usual = max(1, round(planned.trainings_wanted)) if planned and planned.trainings_wanted else 50

    def slider(label: str, name: str, value: float, ends: tuple[float, float, float], unit: str = "%g") -> float | None:
        low, high, step = ends
        high = max(high, low + step * math.ceil(2 * (value - low) / step))

        def on_a_step(number: float) -> float:
            return float(round((min(high, max(low, number)) - low) / step) * step + low)

        key = f"own-{name}-{unchanged.site}-{value:g}"
        st.session_state.setdefault(key, on_a_step(given.get(name, value)))
        chosen = float(st.slider(label, low, high, step=step, format=unit, key=key))
        return None if chosen == on_a_step(value) else chosen

    trainings = slider(words("Trainings a year"), "trainings", float(usual), (1.0, 200.0, 1.0), "%d")
    year = Year(trainings=None if trainings is None else round(trainings))
    if "years" in inputs and not unchanged.site.startswith(OWN):
        keep = slider(words("Years it is kept"), "keep", inputs["years"], (1.0, 10.0, 0.5))
        year = replace(year, years=keep)
    price = inputs.get("server_usd")
    if price and unchanged.acquisition is Acquisition.PURCHASE:
        step = max(100.0, round(price / 50, -2))
        usd = slider(
            words("Price of the machine (USD)"), "price", price, (step, round(3 * price / step) * step, step), "%d"
        )
        year = replace(year, purchase_usd=usd)
    if "usd_per_kwh" in inputs:
        kwh = slider(words("A kWh (USD)"), "usd_kwh", inputs["usd_per_kwh"], (0.01, 0.6, 0.005), "%.3f")
        year = replace(year, usd_per_kwh=kwh)
    shared = slider(words("Busy share of others (%)"), "others", 100 * others, (0.0, 95.0, 5.0), "%d")
    return replace(year, other_use=None if shared is None else shared / 100)


def _answer(
    plan: Plan,
    known: StampedCatalog,
    year: Year,
    site: str | None,
    problems: list[InputError],
    words: Words,
    today: date,
) -> None:
    try:
        document = _document(plan, known, year, site, today)
        by_plan = document.by_plan
        asked = max(1, round(by_plan.trainings_wanted or 1)) if by_plan else 1
        costs = _costs(plan, known, year, counts_around(asked), site, today)
    except InputError as error:
        problems.append(error)
        return
    page = YearPage(document, words)
    parts.html(page.headline_html())
    parts.html(page.horizons_html())
    chart = year_chart(costs, asked, MoneyFormat(words, document.currency))
    if chart is None:
        st.info(lacking(words))
    else:
        st.altair_chart(chart, key="year")
    parts.html(page.ways_html())


def _numbers(year: Year) -> dict[str, float | None]:
    others = None if year.other_use is None else 100 * year.other_use
    values = (year.trainings, year.years, year.purchase_usd, year.usd_per_kwh, others)
    return dict(zip(NUMBERS, values, strict=True))


@lru_cache(maxsize=256)
def _document(plan: Plan, known: StampedCatalog, year: Year, site: str | None, today: date) -> OwnOrRentDocument:
    return own_or_rent_in(plan, known.catalog, year, site=site, today=today)


@lru_cache(maxsize=128)
def _costs(
    plan: Plan, known: StampedCatalog, year: Year, counts: tuple[int, ...], site: str | None, today: date
) -> Mapping[int, PlannedYear]:
    return yearly_costs(plan, known.catalog, year, counts, site=site, today=today)
