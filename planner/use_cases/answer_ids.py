"""Computes the id of an answer from the question, the inputs of the answer and the planner's version."""

from __future__ import annotations

import hashlib
from datetime import date
from typing import TypeVar

from planner.adapters.answer_store import keep_answer
from planner.decide.recommend.frozen_inputs import reachable
from planner.model.answer.documents import ComparisonDocument, EstimateDocument
from planner.model.answer.kept_answer import Document, KeptAnswer
from planner.model.base import Frozen
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.redact import clean
from planner.use_cases.version import planner_version

PlanDocument = TypeVar("PlanDocument", EstimateDocument, ComparisonDocument)
LENGTH = 12
"""Hexadecimal digits of an id. Among a million answers, two share an id with a probability of 1 in 560."""


def plan_answer_id(kind: str, plan: Plan, catalog: Catalog, *, today: date) -> str:
    """Return the id of the answer to a plan that lists its options.

    id = first 12 hexadecimal digits of SHA-256(kind, version, day, plan, the part of the catalog that the plan uses).
    The day is included because the age of a price and a deadline depend on it. `ask` and `compare` of the plan that
    `ask` wrote return the same id. The price of a machine outside the plan does not change it.
    """
    return _digest(kind, today.isoformat(), plan, reachable(plan, catalog, used_runs=()))


def with_id(document: PlanDocument, plan: Plan, catalog: Catalog, *, today: date) -> PlanDocument:
    """Add the id to the answer of a plan."""
    return document.model_copy(update={"answer_id": plan_answer_id(document.kind, plan, catalog, today=today)})


def document_id(document: Frozen) -> str:
    """Return the id of an answer without a plan, from the document and the planner's version."""
    return _digest(document.model_copy(update={"answer_id": None}))


def keep(
    document: Document,
    *,
    today: date,
    plan: Plan | None = None,
    plan_words: str | None = None,
    assumed: tuple[str, ...] = (),
) -> bool:
    """Keep an answer under its id for `planner show`. Return False if it could not be kept."""
    if document.answer_id is None:  # from a lock that is older than ids
        return False
    content = None if plan is None else plan.model_dump(mode="json", exclude_defaults=True)
    return keep_answer(
        KeptAnswer(
            id=document.answer_id,
            planner_version=planner_version(),
            answered_on=today,
            asked=None if plan_words is None else clean(plan_words),
            assumed=assumed,
            plan=content,
            answer=document,
        )
    )


def _digest(*parts: str | Frozen) -> str:
    texts = [planner_version(), *(part if isinstance(part, str) else part.model_dump_json() for part in parts)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:LENGTH]
