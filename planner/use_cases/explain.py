"""Why the numbers of a plan are what they are."""

from __future__ import annotations

from functools import cache

from planner.decide.options.explain import explain_plan
from planner.model.answer.explanation import ExplainDocument
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.speed.physics.observation import Observation
from planner.use_cases.evidence import bundled_evidence, bundled_image_evidence


def explain(plan: Plan, catalog: Catalog, *, option: str | None) -> ExplainDocument:
    """Explain each option, or the one that is named, beside the bundled evidence."""

    @cache
    def evidence(images: bool) -> list[Observation]:
        return bundled_image_evidence(catalog) if images else bundled_evidence(catalog)

    return explain_plan(plan, catalog, evidence, option=option)
