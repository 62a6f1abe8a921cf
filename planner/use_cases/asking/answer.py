"""Answers a question: compares its options, and suggests setups that cost less or surely fit."""

from __future__ import annotations

from datetime import date

from planner.model.answer.documents import ComparisonDocument
from planner.model.catalog import Catalog
from planner.use_cases import plans
from planner.use_cases.asking.question import QuestionPlan
from planner.use_cases.suggestions import with_suggestions


def answer_of(asked: QuestionPlan, catalog: Catalog, *, today: date) -> ComparisonDocument:
    """Compare the options of a question's plan, and add suggestions."""
    return with_suggestions(plans.compare(asked.plan, catalog, today=today), asked.search, catalog, today=today)
