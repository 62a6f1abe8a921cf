"""Parts of every page: HTML in the pages' style, small print, problems, and the inputs of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Any

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


@dataclass(frozen=True)
class Inputs:
    """The inputs of one version of a form."""

    version: int
    page: str = ""
    """Prefix of the keys, because Streamlit empties an input that another page draws under the same key."""

    def key(self, name: str, value: Any) -> str:
        """Return the key of an input, and set its first value."""
        key = f"{self.page}{self.version}-{name}"
        st.session_state.setdefault(key, value)
        return key

    def whole(self, label: str, name: str, value: int | None, *, most: int, **more: Any) -> int | None:
        """Ask for a whole number; None if it is empty."""
        answer = st.number_input(
            label, min_value=1, max_value=most, value=None, step=1, key=self.key(name, value), **more
        )
        return None if answer is None else int(answer)

    def number(
        self, label: str, name: str, value: float | None, *, step: float | None = None, **more: Any
    ) -> float | None:
        """Ask for a number; None if it is empty."""
        key = self.key(name, None if value is None else float(value))
        answer = st.number_input(label, min_value=0.0, value=None, step=step, key=key, **more)
        return None if answer is None else float(answer)

    def choose(self, label: str, name: str, value: str, options: Mapping[str, str], **more: Any) -> str:
        """Let the user choose one of many from a searchable list."""
        chosen: str = st.selectbox(
            label, list(options), key=self.key(name, value), format_func=options.__getitem__, **more
        )
        return chosen

    def side_by_side(self, label: str, name: str, value: str, options: Mapping[str, str], **more: Any) -> str:
        """Let the user choose one of a few buttons."""
        chosen: str = st.segmented_control(
            label, list(options), key=self.key(name, value), format_func=options.__getitem__, required=True, **more
        )
        return chosen

    def several(
        self, label: str, name: str, value: Sequence[str], options: Mapping[str, str], **more: Any
    ) -> tuple[str, ...]:
        """Let the user choose any of many, as chips."""
        chosen = st.multiselect(
            label, list(options), key=self.key(name, list(value)), format_func=lambda option: options[option], **more
        )
        return tuple(chosen)

    def day(self, label: str, name: str, value: date | None, **more: Any) -> date | None:
        """Ask for a day; None if it is empty."""
        answer = st.date_input(label, value=None, key=self.key(name, value), **more)
        assert answer is None or isinstance(answer, date)
        return answer
