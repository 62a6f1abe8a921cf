"""Renders the pages' templates. All text is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from planner.decide.recommend.rank import is_feasible
from planner.present import facts
from planner.present.bills import bill_rows, coverage_text
from planner.present.charts import BASIS_COLOUR, BASIS_SHAPE
from planner.present.columns.short_reasons import short_reason
from planner.present.option_marks import marks
from planner.present.page.sentences import phrase
from planner.present.page.words import terms_of
from planner.present.time_table import time_facts, time_rows

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, macro: str, *values: Any, **named: Any) -> str:
    """Render one macro of a template."""
    module = _environment().get_template(template).module
    return str(getattr(module, macro)(*values, **named)).strip()


def style(*sheets: str) -> str:
    """Return style sheets, one after the other."""
    return "\n".join(_environment().get_template(sheet).render() for sheet in sheets)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("planner.present.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        function.__name__: function
        for function in (bill_rows, time_rows, time_facts, facts.known, facts.not_known, is_feasible, marks,
                         short_reason, facts.value_text, facts.interval_text, facts.date_text, coverage_text,
                         facts.chance_to_keep_limits, terms_of, facts.machine_text, facts.name_text,
                         phrase)
    }  # fmt: skip
    environment.globals |= {"colours": BASIS_COLOUR, "shapes": BASIS_SHAPE}
    return environment
