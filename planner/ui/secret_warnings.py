"""Shows warnings about secrets in uploads, inputs and links of a visit, in the words of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from html import escape

import streamlit as st

from planner.adapters.user_text import secrets_noted
from planner.present.page.words import Words
from planner.ui.answer.parts import html

KEPT = "secrets"


@contextmanager
def secrets_shown(words: Words) -> Iterator[None]:
    """Show the warnings about secrets of this visit above a page.

    A text is cleaned once, when it enters, and later runs of the page find no secret. So the visit keeps the warnings.
    """
    place = st.container()
    kept: list[str] = st.session_state.setdefault(KEPT, [])
    with secrets_noted() as found:
        try:
            yield
        finally:
            kept.extend(sentence for sentence in found if sentence not in kept)
    with place:
        for sentence in kept:
            html(f'<div class="problem" role="alert"><p>{words("Warning")}: {escape(sentence)}</p></div>')
