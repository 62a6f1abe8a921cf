"""A frozen plan: the question, everything behind the answer, and the answer; `PLAN.lock.json`."""

from __future__ import annotations

from typing import Any, Literal

from planner.model.answer.documents import ComparisonDocument, EstimateDocument
from planner.model.base import Day, Frozen, Text
from planner.model.catalog import Catalog


class Lock(Frozen):
    """Lock written by `planner estimate PLAN --freeze`, for `--locked`, `planner diff` and `planner watch`."""

    schema_version: Literal[1] = 1
    kind: Literal["lock"] = "lock"
    planner_version: Text
    frozen_on: Day
    """Day from which the campaign is counted, whenever the lock is read."""
    plan_sha256: str
    """Hash of the plan's content. Comments and the order of keys do not count."""
    plan: dict[str, Any]
    """Content of the plan file; for `options: auto` with the options that were found."""
    run_sha256: dict[str, str]
    """Hash of every measured run as the store holds it."""
    catalog: Catalog
    """Prices, hardware, runs and defaults that the plan can reach."""
    estimate: EstimateDocument
    comparison: ComparisonDocument
    content_sha256: str
    """Hash of everything above."""
