"""Decide: the question, the recommendation in one sentence, what it costs, what else there is, and why not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from planner import clock
from planner.adapters.catalog import load_catalog
from planner.errors import InputError
from planner.model.answer.documents import ComparisonDocument, RankedOption
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.model.quantity import Quantity
from planner.present import charts, html, report
from planner.present.facts import LEFT_OUT, MODELLED_MEANS_ESTIMATED, WHAT_OWNED_COUNTS, name_text, verdict_text
from planner.ui import scenario
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import compare, read_plan

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

OWN = "your plan"
MOST_RUNS = 1_000_000
NOT_KNOWN_WHY = "Not known: the words above or the notes below say why."


@dataclass(frozen=True)
class OwnPlan:
    """The last uploaded plan that could be read and answered; `upload` tells one upload from the next."""

    upload: str
    plan: Plan


def render() -> None:
    """Draw the page. Everything is read and computed anew on each change: that takes some 20 ms."""
    st.html(f"<style>{html.render('style.css')}</style>")
    today = clock.today()
    problems: list[InputError] = []
    catalog = _catalog(problems)
    own = _own_plan(catalog, problems, today=today)
    with st.sidebar:
        st.header("Training planner")
        key, plan = _question(own)
        asked = _form(key, plan, problems, today=today)
        _uploads()
    comparison = _answer((asked, plan), catalog, problems, today=today)
    for problem in problems:
        _show(problem)
    _draw(comparison)


def _catalog(problems: list[InputError]) -> Catalog:
    """Open the catalog with the workspace and the uploaded runs; what cannot be read is left out and reported."""
    try:
        catalog = open_catalog()
    except InputError as error:
        problems.append(error)
        catalog = load_catalog()
    files: list[UploadedFile] = st.session_state.get("run_files") or []
    for file in files:
        try:
            catalog = scenario.with_run(catalog, scenario.run_of_upload(file.name, file.getvalue()))
        except InputError as error:
            problems.append(error)
    return catalog


def _own_plan(catalog: Catalog, problems: list[InputError], *, today: date) -> OwnPlan | None:
    """Return the uploaded plan; where it cannot be read or answered, or is taken away, the one before it stays."""
    file: UploadedFile | None = st.session_state.get("plan_file")
    previous: OwnPlan | None = st.session_state.get("own_plan")
    if file is None:  # also for a moment while one upload replaces another
        return previous
    try:
        plan = scenario.plan_of_upload(file.name, file.getvalue())
        compare(plan, catalog, today=today)
    except InputError as error:
        problems.append(error)
        return previous
    own = OwnPlan(upload=file.file_id, plan=plan)
    if previous is None or previous.upload != own.upload:
        st.session_state["question"] = OWN
    st.session_state["own_plan"] = own
    return own


def _question(own: OwnPlan | None) -> tuple[str, Plan]:
    """Choose between the examples and the uploaded plan; the key names the choice for the form."""
    plans = {name: read_plan(path) for name, path in scenario.examples().items()}
    choices = [*plans, OWN] if own else list(plans)
    if st.session_state.get("question") not in choices:
        st.session_state["question"] = choices[0]
    names = {name: plan.name for name, plan in plans.items()} | ({OWN: f"Yours: {own.plan.name}"} if own else {})
    chosen: str = st.selectbox("Question", choices, format_func=names.__getitem__, key="question")
    if own and chosen == OWN:
        return own.upload, own.plan
    return chosen, plans[chosen]


def _form(key: str, plan: Plan, problems: list[InputError], *, today: date) -> Plan:
    """Let the limits be changed; a wrong value is reported, and the plan stays as it was.

    Streamlit lets a field be emptied only where its default is empty, so the plan's values are set through the state.
    """
    campaign, assumed = plan.campaign, plan.assumptions
    st.session_state.setdefault(f"deadline-{key}", campaign.deadline)
    st.session_state.setdefault(f"budget-{key}", _decimal(campaign.budget_usd))
    st.session_state.setdefault(f"tariff-{key}", _decimal(assumed.electricity_usd_per_kwh))
    days = [day for day in (today, campaign.start, campaign.deadline) if day is not None]
    runs = st.number_input(
        "Trainings in the campaign",
        min_value=1,
        max_value=max(MOST_RUNS, campaign.runs),
        value=campaign.runs,
        key=f"runs-{key}",
    )
    deadline = st.date_input(
        "Deadline (end of that day)",
        value=None,
        min_value=date(min(days).year - 1, 1, 1),
        max_value=date(min(max(days).year + 20, date.max.year), 12, 31),
        key=f"deadline-{key}",
        help=f"The campaign starts on {campaign.start or today}. Empty: no deadline.",
    )
    budget = st.number_input(
        "Budget (USD)",
        min_value=0.0,
        value=None,
        step=1000.0,
        key=f"budget-{key}",
        placeholder="no budget",
        help="What may be paid, after credits and with purchases. Empty: no budget.",
    )
    tariff = st.number_input(
        "Electricity (USD/kWh)",
        min_value=0.0,
        value=None,
        step=0.01,
        format="%.4f",
        key=f"tariff-{key}",
        placeholder="from the catalog",
        help="Of owned machines. Empty: what the site or the catalog says.",
    )
    try:
        return scenario.with_limits(
            plan, runs=runs, deadline=deadline, budget_usd=budget, electricity_usd_per_kwh=tariff
        )
    except InputError as error:
        problems.append(error)
        return plan


def _uploads() -> None:
    st.file_uploader("Your own plan (YAML or JSON)", type=["yaml", "yml", "json"], key="plan_file")
    st.file_uploader("Your run records (JSON)", type=["json"], accept_multiple_files=True, key="run_files")
    st.caption("Uploads stay in this session. Nothing here spends money or needs a credential.")


def _answer(plans: Sequence[Plan], catalog: Catalog, problems: list[InputError], *, today: date) -> ComparisonDocument:
    """Answer the first plan that can be answered; the last resort is the first example on the bundled catalog."""
    for plan in plans:
        try:
            return compare(plan, catalog, today=today)
        except InputError as error:
            if str(error) not in map(str, problems):
                problems.append(error)
    example = read_plan(next(iter(scenario.examples().values())))
    return compare(example, load_catalog(), today=today)


def _show(problem: InputError) -> None:
    """Return what is wrong and how to put it right; messages are text, never Markdown."""
    lines = [f"<b>{escape(line)}</b>" for line in problem.message.splitlines()] + [escape(problem.fix)]
    _html(f'<div class="problem" role="alert">{"<br>".join(lines)}</div>')


def _draw(comparison: ComparisonDocument) -> None:
    shown = comparison.recommended or comparison.nearest
    option = next((option for option in comparison.options if option.id == shown), None)
    _html(html.sentence_html(comparison))
    if comparison.recommended is None:
        st.warning("No option is recommended. The figures are those of the nearest one, if there is one.")
    if option is not None:
        _html(html.doubts_html(option))
    _html(html.cards_html(_key_figures(option)))
    st.caption(f"{WHAT_OWNED_COUNTS} {MODELLED_MEANS_ESTIMATED}")
    st.subheader("Cost against time")
    _chart(comparison)
    st.subheader("All options")
    _html(html.options_html(comparison))
    st.subheader("Every number of one option")
    _details(comparison, shown)
    with st.expander("Assumptions"):
        _html(html.assumptions_html(comparison.assumptions))
    st.subheader("Report")
    _downloads(comparison)
    st.caption(LEFT_OUT)


def _key_figures(option: RankedOption | None) -> Sequence[tuple[str, Quantity | None]]:
    return [
        ("Campaign time", option.campaign_hours if option else None),
        ("To pay", option.payable_usd if option else None),
        ("Energy of one training, at the machine", option.energy_kwh if option else None),
    ]


def _chart(comparison: ComparisonDocument) -> None:
    chart = charts.cost_time_chart(comparison)
    if chart is None:
        st.info("There is nothing to draw: of no option are both time and cost known and over 0.")
    else:
        st.altair_chart(chart, key="cost_time")
        st.caption(charts.CHART_READING)
    missing = charts.not_drawn(comparison)
    if missing:
        _html(f'<p class="small">Not drawn: {escape("; ".join(missing))}.</p>')
    off = charts.limits_off_chart(comparison)
    if off:
        _html(f'<p class="small">Far beyond the chart: {escape(" and ".join(off))}.</p>')


def _details(comparison: ComparisonDocument, shown: str | None) -> None:
    ids = [option.id for option in comparison.options]
    names = {option.id: name_text(option) for option in comparison.options}
    start = ids.index(shown) if shown in ids else 0
    chosen = st.selectbox("Option", ids, index=start, key=f"option-{shown}", format_func=names.__getitem__)
    option = next(option for option in comparison.options if option.id == chosen)
    verdict = verdict_text(option, recommended=comparison.recommended)
    name = f"<b>{escape(name_text(option))}</b> ({escape(option.id)})"
    _html(f"<p>{name}<br>{escape(verdict)}</p>{html.quantities_html(option)}")
    if option.id != shown:  # the doubts about the one shown above stand there
        _html(html.doubts_html(option))
    with st.expander("Where the hours go"):
        _html(html.time_html(option) or NOT_KNOWN_WHY)
    with st.expander("The bill, line by line"):
        _html(html.bill_html(option) or (NOT_KNOWN_WHY if option.offer is not None else WHAT_OWNED_COUNTS))
    _html(html.notes_html(option))


def _downloads(comparison: ComparisonDocument) -> None:
    def html_report() -> str:
        return report.as_html(comparison, charts.chart_svg(comparison))

    files: tuple[tuple[str, str | Callable[[], str], str, str], ...] = (
        ("HTML report", html_report, "training-plan.html", "text/html"),
        ("Markdown report", report.as_markdown(comparison), "training-plan.md", "text/markdown"),
        ("CSV of all numbers", report.as_csv(comparison), "training-plan.csv", "text/csv"),
    )
    for column, (label, data, file_name, mime) in zip(st.columns(3), files, strict=True):
        column.download_button(label, data, file_name=file_name, mime=mime, on_click="ignore", width="stretch")


def _html(body: str) -> None:
    if body:
        st.html(f'<div class="tp">{body}</div>')


def _decimal(value: float | None) -> float | None:
    return None if value is None else float(value)
