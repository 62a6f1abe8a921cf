"""What the first visitor would wait for is computed while the server starts."""

from __future__ import annotations

from importlib import import_module
from threading import Thread

from planner import clock
from planner.errors import PlannerError
from planner.ui.ask.form import STARTS
from planner.ui.ask.question import answer_form
from planner.ui.catalogs import known_catalog

IMPORTED = ("pandas", "altair")
"""By the first chart else: a second visit's chart that is drawn meanwhile finds half of them, and fails."""


def warm() -> Thread:
    """Import what charts need; answer the starting points in the background.

    What is wrong is told to the visitor by the page.
    """
    for name in IMPORTED:
        import_module(name)
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
