"""HTML fragments that the app and the standalone report share; `templates/` escapes all text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from planner.model.answer.documents import Assumption, ComparisonDocument, RankedOption
from planner.model.quantity import Basis, Quantity
from planner.present import facts
from planner.present.bill_table import bill_rows
from planner.present.bill_text import coverage_text
from planner.present.time_table import time_facts, time_rows

if TYPE_CHECKING:
    from jinja2 import Environment

BASIS_COLOUR = {
    Basis.MEASURED: "#009E73",
    Basis.QUOTED: "#0072B2",
    Basis.MODELLED: "#E69F00",
    Basis.ASSUMED: "#D55E00",
}
"""Okabe-Ito colours: told apart with any kind of colour vision."""

BASIS_SHAPE = {
    Basis.MEASURED: "circle",
    Basis.QUOTED: "square",
    Basis.MODELLED: "triangle-up",
    Basis.ASSUMED: "diamond",
}
"""The second channel: the same shape on the chart and before the word."""


def sentence_html(comparison: ComparisonDocument) -> str:
    """Render the question and the answer."""
    return _fragment("sentence", comparison)


def cards_html(cards: Sequence[tuple[str, Quantity | None]]) -> str:
    """Render key figures, each with range, basis, date and formula."""
    return _fragment("cards", cards)


def options_html(comparison: ComparisonDocument) -> str:
    """Render one row per option, best first, with ranges, bases and the reason against it."""
    return _fragment("options", comparison)


def quantities_html(option: RankedOption) -> str:
    """Render every quantity of one option with range, basis, date, formula and source."""
    return _fragment("quantities", option)


def doubts_html(option: RankedOption) -> str:
    """Render what is wrong with the runs that an option rests on; nothing where nothing is."""
    return _fragment("doubts", option)


def bill_html(option: RankedOption) -> str:
    """Render a rented option's bill, line by line, with what is not on it; nothing for an owned one."""
    return _fragment("bill", option)


def time_html(option: RankedOption) -> str:
    """Render where the hours of one training go; nothing where its speed is not known."""
    return _fragment("time", option)


def notes_html(option: RankedOption) -> str:
    """Render the notes of an option as a list; nothing where there are none."""
    return _fragment("notes", option)


def assumptions_html(assumptions: Sequence[Assumption]) -> str:
    """Render what the answer took as given, with sources."""
    return _fragment("assumptions", assumptions)


def render(template: str, **values: Any) -> str:
    """Render one file of `templates/`."""
    return _environment().get_template(template).render(**values)


def _fragment(macro: str, value: object) -> str:
    fragments = _environment().get_template("fragments.html").module
    return str(getattr(fragments, macro)(value)).strip()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("planner.present"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    texts = (
        facts.chance_text, facts.date_text, facts.headline, facts.headline_range, facts.interval_text,
        facts.machine_text, facts.name_text, facts.price_date_text, facts.terms_text, facts.trainings_text,
        facts.value_text, facts.verdict_text, coverage_text,
    )  # fmt: skip
    environment.filters |= {text.__name__: text for text in texts}
    environment.globals |= {
        function.__name__: function for function in (bill_rows, time_rows, time_facts, facts.known, facts.not_known)
    }
    environment.globals |= {"colours": BASIS_COLOUR, "shapes": BASIS_SHAPE, "FORMULA": "formula and source"}
    return environment
