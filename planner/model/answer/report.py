"""Document of `planner report --out FILE.json`: the answer of `compare`, and `recommend`'s view of what would change
it.
"""

from __future__ import annotations

from datetime import date
from typing import Literal

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.base import Frozen


class ReportDocument(Frozen):
    """Both answers to one plan."""

    schema_version: Literal[1] = 1
    kind: Literal["report"] = "report"
    written_on: date
    """Day from which prices and dates are counted."""
    comparison: ComparisonDocument
    recommendation: RecommendationDocument | None
    """Recommendation; null for a frozen answer that this version computes differently."""
