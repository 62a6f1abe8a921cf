"""What to do, how firmly it is known, and what would change it."""

from __future__ import annotations

from datetime import date

from planner.decide.advice.recommend import recommend as advise
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.use_cases.plans import with_found_options


def recommend(plan: Plan, catalog: Catalog, *, today: date, asked: str) -> RecommendationDocument:
    """Answer a plan; `asked` is its file as it is given to another command."""
    return advise(with_found_options(plan, catalog, today=today), catalog, today=today, asked=asked)
