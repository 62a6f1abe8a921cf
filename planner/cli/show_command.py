"""`planner show ID`: prints an earlier answer again, as it was given."""

from __future__ import annotations

from typing import Annotated

import typer

from planner.adapters.answer_store import kept_answer
from planner.cli.explain_command import print_explanation
from planner.cli.memory_command import print_memory
from planner.cli.output import print_lines, screen_width
from planner.cli.owning_command import print_own_or_rent
from planner.cli.plan_commands import AnswerOptions, print_answer
from planner.cli.recommend_command import print_recommendation
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.model.answer.explanation import ExplainDocument
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.present.run_check_screen import run_check_lines
from planner.use_cases.dated_plans import assumed_lines
from planner.use_cases.version import planner_version

app = command_app()


@command(app, example="planner show 3f09c2d47a1e")
def show(
    answer: Annotated[str, typer.Argument(metavar="ID", help="Id of an answer: the last word of its screen")],
    output: AnswerOptions,
) -> None:
    """Print an earlier answer of this machine again.

    Nothing is computed anew. The newest 200 answers are kept; JSON, reports and locks name the same ids.
    """
    kept = kept_answer(answer)
    if kept.planner_version != planner_version():
        say(f"Planner {kept.planner_version} answered this on {kept.answered_on}.")
    document = kept.answer
    if isinstance(document, MemoryDocument):
        print_memory(document, output, details=output.details)
    elif isinstance(document, RunCheckDocument):
        if output.json:
            print_document(document)
        else:
            print_lines(run_check_lines(document, width=screen_width(), details=output.details))
    elif isinstance(document, RecommendationDocument):
        print_recommendation(document, output, asked=kept.asked or "plan.yaml")
    elif isinstance(document, OwnOrRentDocument):
        print_own_or_rent(document, output)
    elif isinstance(document, ExplainDocument):
        print_explanation(document, everything=output.all or output.details, as_json=output.json)
    else:
        print_answer(document, output, asked=kept.asked)
    for line in assumed_lines(kept.assumed):
        say(line)
