"""The templates of the standalone report, which escape all text; colours and shapes that the pages share."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from planner.model.quantity import Basis
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


def render(template: str, **values: Any) -> str:
    """Render one file of `templates/`."""
    return _environment().get_template(template).render(**values)


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
