"""State of a visit that lasts between two changes of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from planner.errors import InputError
from planner.present.columns.registry import asked_columns
from planner.present.page.words import LANGUAGES, Words
from planner.text.number_text import read_number
from planner.ui.ask.form import STARTS, Form, Start
from planner.ui.ask.link import LINK_FIX, form_of, parameters_of

LANGUAGE = "lang"
CHOICE = "lang-choice"
"""Key of the language input. Streamlit forgets it when another page is opened."""
COLUMNS = "columns"
COLUMNS_CHOICE = "columns-choice"
"""Key of the columns input, which is forgotten as well."""


def version() -> int:
    """Return the version of the form. Its inputs are drawn anew when it rises."""
    return int(st.session_state.setdefault("version", 0))


def current_form(problems: list[InputError]) -> Form:
    """Return the visit's form: first that of the address, or the first starting point if the address is wrong."""
    if "form" not in st.session_state:
        given = {name: st.query_params.get_all(name) for name in st.query_params}
        try:
            st.session_state["form"] = form_of(given)
        except InputError as error:
            problems.append(error)
            st.session_state["form"] = STARTS[Start.TRAIN]
    form: Form = st.session_state["form"]
    return form


def replace_form(values: Mapping[str, Any]) -> None:
    """Change values of the form from outside its inputs."""
    set_form(current_form([]).changed(**values))


def set_form(form: Form) -> None:
    """Replace the form. Its inputs are drawn anew."""
    st.session_state["form"] = form
    st.session_state["version"] = version() + 1


def numbers_of_address(names: Sequence[str], problems: list[InputError]) -> dict[str, float]:
    """Return the numbers in the address. Wrong ones are reported."""
    found = {}
    for name in names:
        text = st.query_params.get(name)
        if text is None:
            continue
        try:
            found[name] = read_number(text)
        except ValueError:
            problems.append(InputError(f"the link: {name}: '{text[:40]}' is not a number.", fix=LINK_FIX))
    return found


def remember(form: Form, words: Words, **more: float | str | None) -> None:
    """Keep the form, and write it with the page's other values into the address, which then reproduces the page."""
    st.session_state["form"] = form
    language = {} if words.language == "en" else {LANGUAGE: [words.language]}
    said = {name: [f"{value:g}" if isinstance(value, float) else str(value)] for name, value in more.items() if value}
    wanted = parameters_of(form) | said | language
    if {name: st.query_params.get_all(name) for name in st.query_params} != wanted:
        st.query_params.from_dict(wanted)


def chosen_words() -> Words:
    """Return the words of the chosen language, or of the address' language."""
    given = st.session_state.get(CHOICE) or st.session_state.get(LANGUAGE) or st.query_params.get(LANGUAGE, "")
    st.session_state[LANGUAGE] = given if given in LANGUAGES else "en"
    return Words(st.session_state[LANGUAGE])


def chosen_columns(problems: list[InputError]) -> tuple[str, ...]:
    """Return the additional columns that were chosen, or that the address names."""
    given = st.session_state.get(COLUMNS_CHOICE, st.session_state.get(COLUMNS))
    if given is None:
        try:
            given = asked_columns(st.query_params.get(COLUMNS))
        except InputError as error:
            problems.append(error)
            given = ()
    st.session_state[COLUMNS] = tuple(given)
    return tuple(given)
