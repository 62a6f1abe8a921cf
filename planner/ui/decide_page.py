"""Decide: the question, the recommendation in one sentence, what it costs, what else there is, and why not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from planner.adapters.catalog import load_catalog
from planner.campaign.campaign import hours_to
from planner.errors import InputError
from planner.model.answer import ComparisonDocument, RankedOption
from planner.model.catalog import Catalog
from planner.model.plan import Plan
from planner.model.run import RunRecord
from planner.present import charts, html, report
from planner.present.facts import LEFT_OUT, MODELLED_MEANS_FIRST_MODEL, OWNED_MEANS_ELECTRICITY
from planner.ui import scenario
from planner.use_cases import open_catalog, read_plan

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

LONG_SENTENCE = 330
"""Letters; a longer sentence is set smaller."""


@dataclass(frozen=True)
class OwnPlan:
    """The last uploaded plan that could be read and answered."""

    name: str
    plan: Plan


def render() -> None:
    """Draw the page. Everything is computed anew on each change: that takes some 20 ms."""
    st.html(f"<style>{html.STYLE}</style>")
    today = date.today()
    with st.sidebar:
        st.header("Scenario")
        question = st.container()
        limits = st.container()
        uploads = st.container()
    problems: list[InputError] = []
    with uploads:
        catalog = _catalog(problems)
    with question:
        key, plan = _plan(today)
    with limits:
        plan = _form(key, plan, problems)
    for problem in [*_upload_problem(), *problems]:
        _show_error(problem)
    comparison = scenario.answer(plan, catalog, today=today)
    hours = hours_to(plan.campaign, today=today)
    _draw(comparison, deadline_hours=hours if math.isfinite(hours) else None)


def _draw(comparison: ComparisonDocument, *, deadline_hours: float | None) -> None:
    shown = comparison.recommended or comparison.nearest
    option = next((option for option in comparison.options if option.id == shown), None)
    long = " long" if len(comparison.sentence) > LONG_SENTENCE else ""
    _html(html.sentence_html(comparison), extra=long)
    if comparison.recommended is None:
        st.warning("Nothing meets the limits. The figures below are those of the nearest option.", icon=None)
    _html(html.cards_html(_key_figures(option)))
    st.caption(f"{OWNED_MEANS_ELECTRICITY} {MODELLED_MEANS_FIRST_MODEL}")
    st.subheader("Cost against time")
    _chart(comparison, deadline_hours=deadline_hours)
    st.subheader("All options")
    _html(html.options_html(comparison))
    st.subheader("Every number of one option")
    _details(comparison, shown)
    with st.expander("Assumptions"):
        _html(html.assumptions_html(comparison.assumptions))
    st.subheader("Report")
    _downloads(comparison, deadline_hours=deadline_hours)
    st.caption(LEFT_OUT)


def _key_figures(option: RankedOption | None) -> Sequence[tuple[str, object]]:
    return [
        ("Campaign time", option.campaign_hours if option else None),
        ("Campaign cost: what it adds to the bills", option.campaign_usd if option else None),
        ("Energy of one training, at the machine", option.energy_kwh if option else None),
    ]


def _chart(comparison: ComparisonDocument, *, deadline_hours: float | None) -> None:
    chart = charts.cost_time_chart(comparison, deadline_hours=deadline_hours)
    if chart is None:
        st.info("There is nothing to draw: of no option are both time and cost known and over 0.")
    else:
        st.altair_chart(chart, key="cost_time")
        st.caption(charts.CHART_READING)
    missing = charts.not_drawn(comparison)
    if missing:
        _html(f'<p class="small">Not drawn: {escape("; ".join(missing))}.</p>')
    off = charts.limits_off_chart(comparison, deadline_hours=deadline_hours)
    if off:
        _html(f'<p class="small">Far beyond the chart: {escape(" and ".join(off))}.</p>')


def _details(comparison: ComparisonDocument, shown: str | None) -> None:
    ids = [option.id for option in comparison.options]
    start = ids.index(shown) if shown in ids else 0
    chosen = st.selectbox("Option", ids, index=start, key=f"option-{shown}")
    option = next(option for option in comparison.options if option.id == chosen)
    verdict = "Recommended." if option.id == comparison.recommended else option.why_not or ""
    _html(f"<p><b>{escape(option.name)}</b><br>{escape(verdict)}</p>{html.quantities_html(option)}")
    _html(html.notes_html(option))


def _downloads(comparison: ComparisonDocument, *, deadline_hours: float | None) -> None:
    document = comparison.model_dump_json()
    left, middle, right = st.columns(3)
    left.download_button(
        "HTML report",
        _report_html(document, deadline_hours),
        file_name="training-plan.html",
        mime="text/html",
        on_click="ignore",
        width="stretch",
    )
    middle.download_button(
        "Markdown",
        report.as_markdown(comparison),
        file_name="training-plan.md",
        mime="text/markdown",
        on_click="ignore",
        width="stretch",
    )
    right.download_button(
        "CSV",
        report.as_csv(comparison),
        file_name="training-plan.csv",
        mime="text/csv",
        on_click="ignore",
        width="stretch",
    )
