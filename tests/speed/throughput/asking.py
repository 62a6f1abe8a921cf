"""Job and candidate of a plan with one option."""

from __future__ import annotations

from typing import Any

from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.scenario.candidate import Candidate, expand
from planner.scenario.job import Job, resolve_job


def asked(catalog: Catalog, option: dict[str, Any], **changes: Any) -> tuple[Job, Candidate]:
    """Return the job and the candidate of a plan with this option; `changes` are the plan's other keys."""
    plan = Plan.model_validate(
        {"schema_version": 1, "name": "test", "work": {"epochs": 1, "samples_per_epoch": 1000}, "options": [option]}
        | changes
    )
    (candidate,) = expand(plan, catalog)
    return resolve_job(plan, catalog), candidate
