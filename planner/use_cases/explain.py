"""Why the numbers of a plan are what they are."""

from __future__ import annotations

from planner.estimate.explain import explain_plan
from planner.model.catalog import Catalog
from planner.model.explanation import ExplainDocument
from planner.model.plan import Plan
from planner.use_cases.evidence import bundled_evidence, bundled_image_evidence


def explain(plan: Plan, catalog: Catalog, *, option: str | None) -> ExplainDocument:
    """Explain each option, or the one that is named, beside the bundled evidence."""
    return explain_plan(plan, catalog, [*bundled_evidence(catalog), *bundled_image_evidence(catalog)], option=option)
