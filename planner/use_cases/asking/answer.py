"""Answers a question: compares its options, and suggests setups that cost less or surely fit."""

from __future__ import annotations

from datetime import datetime

from planner.model.answer.documents import ComparisonDocument
from planner.model.catalog import Catalog
from planner.use_cases import plans
from planner.use_cases.asking.question import QuestionPlan
from planner.use_cases.dated_plans import DatedPlan, dated
from planner.use_cases.suggestions import with_suggestions


def answer_of(asked: QuestionPlan, catalog: Catalog, *, now: datetime) -> tuple[ComparisonDocument, DatedPlan]:
    """Compare the options of a question's plan, and add suggestions. Also return the plan as it was answered."""
    plan, today, assumed = dated(asked.plan, now=now)
    document = plans.compare(plan, catalog, today=today)
    search = dated(asked.search, now=now).plan
    document = with_suggestions(document, search, catalog, today=today)
    return document, DatedPlan(plan, today, (*asked.assumed, *assumed))
