"""The answer to a question: its options compared, with suggestions of setups that cost less or surely fit."""

from __future__ import annotations

from datetime import date

from planner.model.answer.documents import ComparisonDocument
from planner.model.catalog import Catalog
from planner.use_cases import plans
from planner.use_cases.asking.question import Asked
from planner.use_cases.suggestions import with_suggestions


def answer_of(asked: Asked, catalog: Catalog, *, today: date) -> ComparisonDocument:
    """Return the answer to a question whose plan is known."""
    return with_suggestions(plans.compare(asked.plan, catalog, today=today), asked.search, catalog, today=today)
