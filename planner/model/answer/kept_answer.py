"""An answer as it is kept on this machine, so that its id prints it again."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from planner.model.answer.documents import CampaignDocument, ComparisonDocument, EstimateDocument
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.model.base import Day, Frozen, Text

AnswerId = Annotated[str, Field(pattern=r"^[0-9a-f]{12}$")]
"""The beginning of a SHA-256; which inputs it is of: `planner.use_cases.answer_ids`."""
Document = ComparisonDocument | EstimateDocument | CampaignDocument | MemoryDocument | RunCheckDocument


class KeptAnswer(Frozen):
    """What `planner show ID` reads."""

    schema_version: Literal[1] = 1
    kind: Literal["kept_answer"] = "kept_answer"
    id: AnswerId
    planner_version: Text
    answered_on: Day
    asked: str | None = None
    """The plan as it was given to the command, for the commands that the screen names; null where it was no file."""
    assumed: tuple[str, ...] = ()
    plan: dict[str, Any] | None = None
    """The plan's content, with the options that were found; null where no plan was asked."""
    answer: Annotated[Document, Field(discriminator="kind")]
