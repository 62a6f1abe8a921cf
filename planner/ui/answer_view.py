"""Shows the answer beside the question, and the changes that would reverse it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from planner.errors import InputError
from planner.present.columns.entry import entries_of
from planner.present.columns.registry import COLUMNS, not_known, offered_columns
from planner.present.facts import LEFT_OUT
from planner.present.option_marks import bill_before_credits
from planner.present.page.answer import FIRST_ROWS, AnswerPage
from planner.present.page.pins import MOST_PINS, Pin, pins_html
from planner.present.page.prices import finance_html
from planner.present.page.turns import turns_html
from planner.present.page.words import Words
from planner.present.report.report import Report, as_html
from planner.present.report.workbook import as_csv, as_workbook
from planner.ui.ask.form import Form
from planner.ui.ask.link import parameters_of
from planner.ui.ask.question import Answered, StampedCatalog, turning_points
from planner.ui.parts import html, note, problems
from planner.ui.state import COLUMNS_CHOICE
from planner.use_cases.find import plan_text

FILE = "plan.yaml"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def draw(answered: Answered, form: Form, known: StampedCatalog, words: Words, *, more: Sequence[str] = ()) -> None:
    """Show headline, figures, pinned answers, bars, table, changes that would reverse the answer, and downloads.

    `more` has the keys of columns besides the usual ones.
    """
    plan, today, _ = answered.dated
    page = AnswerPage(answered.document, words, plan.campaign.start or today, more)
    html(page.headline_html())
    html(page.figures_html())
    _pins(Pin(parameters_of(form), page), words)
    html(page.bars_html())
    every = False
    options = len(answered.document.options)
    if options > FIRST_ROWS:
        every = st.toggle(words("Show all {n} options", n=options), key="every")
    html(page.rows_html(every=every))
    _columns(more, words)
    for line in not_known(entries_of(answered.document), more, words):
        note(line)
    if any(option.list_price or bill_before_credits(option) for option in answered.document.options):
        st.markdown(f"**{words('List, net, credits, to pay')}**")
        html(finance_html(answered.document, words))
    if answered.document.notes:
        html(page.notes_html())
    html(page.changes_html())
    _turns(form, answered, known, words)
    _taken(answered, words)
    _downloads(page, form, answered, known, words)
    note(words(LEFT_OUT))


def _columns(more: Sequence[str], words: Words) -> None:
    """Let the user choose more columns, for the table, the report and its files."""
    offered = [*dict.fromkeys((*(column.key for column in offered_columns()), *more))]
    st.session_state.setdefault(COLUMNS_CHOICE, list(more))
    st.multiselect(
        words("More columns"),
        offered,
        key=COLUMNS_CHOICE,
        format_func=lambda key: words(COLUMNS[key].words or COLUMNS[key].title),
    )


def _pins(shown: Pin, words: Words) -> None:
    """Show the pinned answers, with buttons to pin this one and to unpin all."""
    pins: list[Pin] = st.session_state.setdefault("pins", [])
    with st.container(horizontal=True):
        if len(pins) < MOST_PINS and shown.parameters not in [pin.parameters for pin in pins]:
            st.button(words("Pin this answer"), key="pin", on_click=pins.append, args=(shown,))
        if pins:
            st.button(words("Unpin all"), key="unpin", on_click=pins.clear)
    if pins:
        st.markdown(f"**{words('Pinned answers')}**")
        html(pins_html(pins, words))


def _taken(answered: Answered, words: Words) -> None:
    """Show the assumptions, and the values from the catalog."""
    with st.expander(words("What was assumed")):
        page = AnswerPage(answered.document, words, date.min)
        html(page.assumptions_html(answered.dated.assumed))


def _downloads(
    page: AnswerPage, form: Form, answered: Answered, known: StampedCatalog, words: Words
) -> None:  # fmt: skip

    def made() -> Report:
        """Return the report with changes that would reverse the answer. The first time takes seconds."""
        try:
            advice = turning_points(form, answered.dated, known, plan_words=FILE)
        except InputError:
            advice = None
        return Report(page.document, words, page.start, answered.dated.today, advice, page.more)

    with st.container(horizontal=True):
        st.download_button(
            words("Plan (YAML)"), lambda: plan_text(answered.plan), file_name=FILE, mime="application/yaml",
            on_click="ignore",
        )  # fmt: skip
        st.download_button(
            words("Report (HTML)"), lambda: as_html(made()), file_name="training-plan.html", mime="text/html",
            on_click="ignore",
        )  # fmt: skip
        st.download_button(
            words("Workbook (XLSX)"), lambda: as_workbook(made()), file_name="training-plan.xlsx", mime=XLSX,
            on_click="ignore",
        )  # fmt: skip
        st.download_button(
            words("All numbers (CSV)"), lambda: as_csv(page.document, page.more),
            file_name="training-plan.csv", mime="text/csv", on_click="ignore",
        )  # fmt: skip
    note(words("The report prints as two pages to sign. The address of this page reproduces it."))


def _turns(form: Form, answered: Answered, known: StampedCatalog, words: Words) -> None:
    """Draw the button, and below it the changes found for this question."""
    if st.button(words("Find the values at which the answer turns"), key="turns"):
        st.session_state["turns-of"] = form
    if st.session_state.get("turns-of") != form:
        return
    try:
        html(turns_html(turning_points(form, answered.dated, known, plan_words=FILE), words))
    except InputError as error:
        problems([error], words, stands=False)
