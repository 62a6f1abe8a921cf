"""`planner explain`: why is this number what it is?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.cli.output import JsonFlag, print_lines, screen_width
from planner.cli.plan_commands import PlanOptions
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document
from planner.model.answer.explanation import ExplainDocument
from planner.present.explanation import as_text
from planner.present.short_explanation import short_lines
from planner.use_cases import answer_ids
from planner.use_cases.explain import explain as explained

app = command_app()
EverythingFlag = Annotated[bool, typer.Option("--all", help="All options, formulas, sources, constants and runs")]


@command(app, example="planner explain plan.yaml --option 2")
def explain(
    question: PlanOptions,
    *,
    option: Annotated[
        str | None,
        typer.Option("--option", metavar="N|ID", help="One option, by its row in `planner compare` or its id"),
    ] = None,
    everything: EverythingFlag = False,
    as_json: JsonFlag = False,
) -> None:
    """Break an estimate down into formulas, constants and runs.

    What `planner compare` says of the option that it recommends, or of one, and the formulas and numbers to recompute
    it by hand. With --all also the parts of a step, constants, and how much each measured run changes the estimate.
    """
    plan, today, assumed = question.read()
    document = explained(plan, question.catalog(plan), option=option, today=today)
    answer_ids.keep(document, today=today, plan=plan, asked=question.words, assumed=assumed)
    print_explanation(document, everything=everything, as_json=as_json)


def print_explanation(document: ExplainDocument, *, everything: bool, as_json: bool) -> None:
    """Print an explanation as text (two screens, or all of it) or as JSON."""
    if as_json:
        print_document(document)
    elif not everything and document.options:
        print_lines(short_lines(document, width=screen_width()))
    else:
        sys.stdout.write(as_text(document, width=screen_width()))
