"""A frozen plan: what was asked, everything that the answer rested on, and the answer; `PLAN.lock.json`."""

from __future__ import annotations

from typing import Any, Literal

from planner.model.answer.documents import ComparisonDocument, EstimateDocument
from planner.model.base import Day, Frozen, Text
from planner.model.catalog import Catalog


class Lock(Frozen):
    """Written by `planner estimate PLAN --freeze`; answers `--locked`, `planner diff` and `planner watch`."""

    schema_version: Literal[1] = 1
    kind: Literal["lock"] = "lock"
    planner_version: Text
    frozen_on: Day
    """The day from which the campaign is counted, whenever the lock is read."""
    plan_sha256: str
    """Of the plan's content: comments and the order of keys do not count."""
    plan: dict[str, Any]
    """The plan file's content; of `options: auto` with the options that were found."""
    run_sha256: dict[str, str]
    """Of every measured run as the store holds it."""
    catalog: Catalog
    """The prices, hardware, runs and defaults that the plan can reach."""
    estimate: EstimateDocument
    comparison: ComparisonDocument
    content_sha256: str
    """Of everything above."""
