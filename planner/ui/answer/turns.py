"""Shows the changes that would reverse the answer, after a button, because computing them takes seconds."""

from __future__ import annotations

import streamlit as st

from planner.errors import InputError
from planner.present.page.turns import turns_html
from planner.present.page.words import Words
from planner.ui.answer.parts import html, problems
from planner.ui.ask.form import Form
from planner.ui.ask.question import Answered, StampedCatalog, turning_points

FILE = "plan.yaml"


def turns(form: Form, answered: Answered, known: StampedCatalog, words: Words) -> None:
    """Draw the button, and below it the changes found for this question."""
    if st.button(words("Find the values at which the answer turns"), key="turns"):
        st.session_state["turns-of"] = form
    if st.session_state.get("turns-of") != form:
        return
    try:
        html(turns_html(turning_points(form, answered.dated, known, asked=FILE), words))
    except InputError as error:
        problems([error], words, stands=False)
