"""Computes slow parts of a first visit while the server starts."""

from __future__ import annotations

from importlib import import_module
from threading import Thread

from planner import clock
from planner.errors import PlannerError
from planner.ui.ask.form import STARTS
from planner.ui.ask.question import answer_form
from planner.ui.catalogs import known_catalog

IMPORTED = ("pandas", "altair")
"""Modules to import at the start. Otherwise, two first charts at once would find half-imported modules and fail."""


def warm() -> Thread:
    """Import the modules for charts, and answer the starting points in the background.

    Errors are ignored here, because the page shows them to the visitor.
    """
    for name in IMPORTED:
        import_module(name)
    thread = Thread(target=_answer_starts, name="warm", daemon=True)
    thread.start()
    return thread


def _answer_starts() -> None:
    try:
        known = known_catalog((), clock.today())
        for form in STARTS.values():
            answer_form(form, known, now=clock.now())
    except PlannerError:
        return
