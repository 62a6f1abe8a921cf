"""An answer as it is stored on this machine, so that its id prints it again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.explanation import ExplainDocument
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.model.base import AnswerId, Day, Frozen, Text

Document = (
    ComparisonDocument
    | EstimateDocument
    | CampaignDocument
    | RecommendationDocument
    | OwnOrRentDocument
    | ExplainDocument
    | MemoryDocument
    | RunCheckDocument
)


class KeptAnswer(Frozen):
    """Stored answer that `planner show ID` reads."""

    schema_version: Literal[1] = 1
    kind: Literal["kept_answer"] = "kept_answer"
    id: AnswerId
    planner_version: Text
    answered_on: Day
    asked: str | None = None
    """The plan as it was given to the command, for the commands that the screen names; null if it was no file."""
    assumed: tuple[str, ...] = ()
    plan: dict[str, Any] | None = None
    """Content of the plan, with the options that were found; null if there was no plan."""
    answer: Annotated[Document, Field(discriminator="kind")]
