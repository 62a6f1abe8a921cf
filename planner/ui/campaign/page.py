"""Page "Campaign": which trainings run where and when, and the spending over time."""

from __future__ import annotations

import streamlit as st

from planner import clock
from planner.decide.campaign.budget import limits_in_usd
from planner.decide.placement.instance import Objective
from planner.errors import InputError
from planner.model.plan.plan import Plan
from planner.present.page.campaign import CampaignPage
from planner.present.page.charts import drawn_budget, spend_chart
from planner.present.page.sentences import note_text
from planner.present.page.words import Words
from planner.ui.answer import parts
from planner.ui.ask.form import Form
from planner.ui.ask.link import LINK_FIX
from planner.ui.ask.question import StampedCatalog, answer_form, campaign_of
from planner.ui.ask.widgets import limits_of
from planner.ui.catalogs import visited_catalog
from planner.ui.state import chosen_words, current_form, remember, version
from planner.ui.widgets import Inputs
from planner.use_cases.find import plan_text

OBJECTIVE = "objective"
FILE = "plan.yaml"


def render() -> None:
    """Draw the page."""
    words, today = chosen_words(), clock.today()
    problems: list[InputError] = []
    known = visited_catalog(problems, today)
    form = current_form(problems)
    inputs = Inputs(version(), "campaign-")
    left, right = st.columns([4, 9], gap="large")
    with left, st.container(border=True):
        st.markdown(f"**{words('Limits')}**")
        try:
            form = limits_of(form, inputs, words, today=today)
        except InputError as error:
            problems.append(error)
        objective = _objective(inputs, words, problems)
    page, plan = _answer(form, known, objective, words, problems)
    if not problems:  # before drawing, so that a change of the page meanwhile keeps the limits
        remember(form, words, objective=None if objective is Objective.COST else objective.value)
    with right:
        parts.problems(problems, words, stands=page is not None)
        if page is not None and plan is not None:
            _draw(page, plan, objective, words)


def _objective(inputs: Inputs, words: Words, problems: list[InputError]) -> Objective:
    """Let the user choose the objective of the plan."""
    given = st.query_params.get(OBJECTIVE, Objective.COST.value)
    listed = {"cost": words("cheapest"), "time": words("soonest"), "front": words("both")}
    if given not in listed:
        problems.append(InputError(f"the link: {OBJECTIVE}: there is no '{given[:40]}'.", fix=LINK_FIX))
        given = Objective.COST.value
    return Objective(inputs.side_by_side(words("Best in"), OBJECTIVE, given, listed))


def _answer(
    form: Form, known: StampedCatalog, objective: Objective, words: Words, problems: list[InputError]
) -> tuple[CampaignPage | None, Plan | None]:
    """Plan the campaign of the question. If that fails, return the previous one."""
    if not problems:
        try:
            answered = answer_form(form, known, now=clock.now())
            plan, document = answered.plan, campaign_of(form, answered.dated, known, objective.value)
            limits = limits_in_usd(plan.campaign, plan.currency)
            page = CampaignPage(document, words, limits.deadline, limits.budget_usd, limits.confidence)
        except InputError as error:
            problems.append(error)
        else:
            st.session_state["campaign"] = page, plan
    shown: tuple[CampaignPage, Plan] | tuple[None, None] = st.session_state.get("campaign", (None, None))
    return shown


def _draw(page: CampaignPage, plan: Plan, objective: Objective, words: Words) -> None:
    parts.note(page.document.plan)
    parts.html(page.headline_html())
    parts.html(page.figures_html())
    parts.html(page.calendar_html())
    chart = spend_chart(page)
    if chart is not None:
        st.markdown(f"**{words('Spent by when')}**")
        st.altair_chart(chart, key="spent")
        parts.note(words("Rent and electricity count as they run, purchases, leases and blocks when they begin."))
        if page.budget_usd is not None and drawn_budget(page) is None:
            parts.note(words("The budget, {usd}, lies beyond the edge.", usd=page.money.text(page.budget_usd)))
    parts.html(page.front_html())
    for line in page.document.notes:
        parts.note(note_text(line, words))
    st.download_button(
        words("Plan (YAML)"), lambda: plan_text(plan), file_name=FILE, mime="application/yaml", on_click="ignore"
    )
    st.code(f"planner campaign {FILE} --objective {objective.value}", language=None, wrap_lines=True)
    parts.note(words("The address of this page reproduces it."))
