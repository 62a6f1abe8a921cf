"""Shows fragments of every page: HTML in the pages' style, small print, problems."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from planner.errors import InputError
from planner.present.page.answer import problem_html
from planner.present.page.words import Words


def html(body: str) -> None:
    """Show a fragment in the pages' style."""
    if body:
        st.html(f'<div class="tp">{body}</div>')


def note(text: str) -> None:
    """Show a line in small letters."""
    html(f'<p class="small">{escape(text)}</p>')


def problems(found: Sequence[InputError], words: Words, *, stands: bool) -> None:
    """Show problems. Messages are text, never Markdown."""
    for problem in found:
        html(problem_html(problem.message, problem.fix, words, stands=stands))
