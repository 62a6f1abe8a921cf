"""Recommends an option, with its certainty and the changes that would reverse it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.decide.advice.launch_words import AskedPlan
from planner.decide.advice.recommend import recommend as advise
from planner.decide.options.estimate_plan import Paced
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.use_cases.answer_ids import plan_answer_id
from planner.use_cases.plans import find_options


def recommend(
    plan: Plan, catalog: Catalog, *, today: date, plan_words: str, paced: Sequence[Paced] | None = None
) -> RecommendationDocument:
    """Recommend an option of a plan. `plan_words` names the plan in further commands.

    `paced` takes the known speeds of a plan with listed options.
    """
    listed, found = find_options(plan, catalog, today=today)
    answer_id = plan_answer_id("recommendation", listed, catalog, today=today)
    return advise(
        listed, catalog, today=today, asked=AskedPlan(plan_words, answer_id), paced=found if paced is None else paced
    )
