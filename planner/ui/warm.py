"""What the first visitor would wait for is computed while the server starts."""

from __future__ import annotations

from threading import Thread

from planner import clock
from planner.errors import PlannerError
from planner.ui.ask.form import STARTS
from planner.ui.ask.question import answer_form
from planner.ui.catalogs import known_catalog


def warm() -> Thread:
    """Answer the starting points in the background; what is wrong is told to the visitor by the page."""
    thread = Thread(target=_answer_starts, name="warm", daemon=True)
    thread.start()
    return thread


def _answer_starts() -> None:
    today = clock.today()
    try:
        known = known_catalog((), today)
        for form in STARTS.values():
            answer_form(form, known, today=today)
    except PlannerError:
        return
