"""`planner explain`: why is this number what it is?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import JsonFlag, screen_width
from planner.cli.plan_commands import PlanOptions
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document
from planner.model.answer.explanation import ExplainDocument
from planner.present.explanation import as_text
from planner.use_cases import answer_ids, plans
from planner.use_cases.explain import explain as explained

app = command_app()


@command(app, example="planner explain plan.yaml --option 2")
def explain(
    question: PlanOptions,
    *,
    option: Annotated[
        str | None,
        typer.Option("--option", metavar="N|ID", help="One option, by its row in `planner compare` or its id"),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Break an estimate down into formulas, constants and runs.

    For each option: what `planner compare` says of it, the parts of a training step, and how much each measured run
    changes the estimate.
    """
    plan = plans.read_plan(question.plan)
    document = explained(plan, question.catalog(plan), option=option, today=clock.today())
    answer_ids.keep(document, today=clock.today(), plan=plan, asked=question.words)
    print_explanation(document, as_json=as_json)


def print_explanation(document: ExplainDocument, *, as_json: bool) -> None:
    """Print an explanation as text, or as JSON."""
    if as_json:
        print_document(document)
    else:
        sys.stdout.write(as_text(document, width=screen_width()))
