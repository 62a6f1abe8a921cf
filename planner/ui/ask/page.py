"""Page "Ask": a question in a form, with an answer that is renewed after every change."""

from __future__ import annotations

import streamlit as st

from planner import clock
from planner.adapters.user_text import name_without_secrets
from planner.errors import InputError, NotFoundError, NotModelledError
from planner.present.page.words import Words
from planner.ui import answer_view as view
from planner.ui import parts
from planner.ui.ask.form import STARTS, Form, Start
from planner.ui.ask.paste import paste_box
from planner.ui.ask.question import Answered, StampedCatalog, answer_form
from planner.ui.ask.widgets import ask
from planner.ui.catalogs import visited_catalog
from planner.ui.parts import Inputs
from planner.ui.scenario import config_of_upload, example_plan, examples, first_form, plan_of_upload
from planner.ui.state import chosen_columns, chosen_words, current_form, remember, set_form, version
from planner.use_cases.asking.question import MissingAnswerError

YOURS = ""
"""Key of the uploaded plan among the examples."""


def render() -> None:
    """Draw the page."""
    words, today = chosen_words(), clock.today()
    problems: list[InputError] = []
    columns = chosen_columns(problems)
    known = visited_catalog(problems, today)
    form = _uploaded(current_form(problems), problems)
    form = _start(form, words)
    left, right = st.columns([4, 9], gap="large")
    with left:
        if form.start is Start.PLAN:
            form = _plan(form, words)
        else:
            paste_box(form, known, words)
        try:
            form = ask(form, known, words, today=today)
        except InputError as error:
            problems.append(error)
    answered = _answer(form, known, problems)
    if not problems:  # before drawing: if the user changes the page while it is drawn, the question is kept
        remember(form, words, columns=",".join(columns))
    with right:
        parts.problems(problems, words, stands=answered is not None)
        if answered is not None:
            view.draw(answered, form, known, words, more=columns)


def _start(form: Form, words: Words) -> Form:
    """Let the user choose a starting point, which replaces the form."""
    starts = {
        Start.TRAIN.value: words("Fine-tune or train"),
        Start.BUY.value: words("Buy or rent"),
        Start.OFFERS.value: words("Compare offers for finance"),
        Start.PLAN.value: words("A plan file"),
    }
    inputs = Inputs(version())
    start = inputs.side_by_side(words("Start with"), "start", form.start.value, starts)
    if start != form.start.value:
        set_form(first_form(Start(start), None, None))
        st.rerun()
    return form


def _plan(form: Form, words: Words) -> Form:
    """Let the user choose an example or upload a plan."""
    inputs = Inputs(version())
    plans = {name: example_plan(path).name for name, path in examples().items()}
    if form.plan is not None:
        plans = {YOURS: words("Yours")} | plans
    chosen = inputs.choose(words("Plan"), "example", form.example or YOURS, plans)
    if chosen != (form.example or YOURS):
        set_form(first_form(Start.PLAN, chosen, None))
        st.rerun()
    st.file_uploader(words("Your own plan (YAML or JSON)"), type=["yaml", "yml", "json"], key="plan_file")
    st.file_uploader(words("Your run records (JSON)"), type=["json"], accept_multiple_files=True, key="run_files")
    parts.note(words("Uploads stay in this visit. Nothing here spends money or needs a credential."))
    return form


def _uploaded(form: Form, problems: list[InputError]) -> Form:
    """Apply a newly uploaded plan or config.json. An invalid file leaves the form unchanged."""
    for kind, read in (("plan_file", _with_plan), ("config_file", _with_config)):
        file = st.session_state.get(kind)
        if file is None or st.session_state.get(f"taken-{kind}") == file.file_id:
            continue
        try:
            form = read(form, file.name, file.getvalue())
        except InputError as error:
            problems.append(error)
        else:
            st.session_state[f"taken-{kind}"] = file.file_id
            set_form(form)
    return form


def _with_plan(_: Form, name: str, data: bytes) -> Form:
    return first_form(Start.PLAN, None, plan_of_upload(name, data))


def _with_config(form: Form, name: str, data: bytes) -> Form:
    return form.changed(model=name_without_secrets(name[:80]), config=config_of_upload(name, data))


def _answer(form: Form, known: StampedCatalog, problems: list[InputError]) -> Answered | None:
    """Return the answer to the form, or the previous answer if the form cannot be answered.

    Return None if the network is unknown or something is not modelled: a previous answer would look as if it were about
    that network.
    """
    if not problems:
        try:
            answered = answer_form(form, known, now=clock.now())
        except MissingAnswerError as missing:
            problems.append(InputError(f"{missing.what}?", fix="Fill it in the form."))
        except InputError as error:
            problems.append(error)
        else:
            st.session_state["answered"] = answered
            return answered
    if any(isinstance(problem, NotModelledError) or _is_unknown_network(problem) for problem in problems):
        return None
    previous: Answered | None = st.session_state.get("answered")
    if previous is None:
        try:
            previous = answer_form(STARTS[Start.TRAIN], known, now=clock.now())
        except InputError:
            return None
    return previous


def _is_unknown_network(problem: InputError) -> bool:
    return isinstance(problem, NotFoundError) and problem.what == "workload"
