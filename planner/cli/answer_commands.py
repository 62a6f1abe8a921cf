"""Commands `explain`, `recommend`, and `show`, which prints an earlier answer again as it was given."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.adapters.answer_store import kept_answer
from planner.cli.fit_commands import print_memory
from planner.cli.output import JsonFlag, LongTableOptions, print_lines, screen_width
from planner.cli.owning_command import print_own_or_rent
from planner.cli.plan_commands import AnswerOptions, PlanOptions, print_answer
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.errors import EXIT_NOTHING_FEASIBLE
from planner.model.answer.explanation import ExplainDocument
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.model.answer.recommendation import RecommendationDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.present.explanation import as_text
from planner.present.explanation_answer import short_lines
from planner.present.recommendation_screen import recommendation_rows, screen_lines
from planner.present.run_check_screen import run_check_lines
from planner.use_cases import answer_ids
from planner.use_cases.explain import explain as explained
from planner.use_cases.plans import assumed_lines
from planner.use_cases.recommend import recommend as advise
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
        print_recommendation(document, output, plan_words=kept.asked or "plan.yaml")
    elif isinstance(document, OwnOrRentDocument):
        print_own_or_rent(document, output)
    elif isinstance(document, ExplainDocument):
        print_explanation(document, everything=output.all or output.details, as_json=output.json)
    else:
        print_answer(document, output, plan_words=kept.asked)
    for line in assumed_lines(kept.assumed):
        say(line)


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
    answer_ids.keep(document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    print_explanation(document, everything=everything, as_json=as_json)


def print_explanation(document: ExplainDocument, *, everything: bool, as_json: bool) -> None:
    """Print an explanation as text (two screens, or all of it) or as JSON."""
    if as_json:
        print_document(document)
    elif not everything and document.options:
        print_lines(short_lines(document, width=screen_width()))
    else:
        sys.stdout.write(as_text(document, width=screen_width()))


@command(app, example="planner recommend plan.yaml")
def recommend(question: PlanOptions, output: LongTableOptions) -> None:
    """Show how firm the recommendation is, and what would change it.

    The recommendation is that of `compare`. The exit code is 3 where no option meets the limits.
    """
    plan, today, assumed = question.read()
    catalog = question.catalog(plan)
    document = advise(plan, catalog, today=today, plan_words=str(question.plan))
    answer_ids.keep(document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    print_recommendation(document, output, plan_words=question.words)
    if not document.feasible:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)


def print_recommendation(document: RecommendationDocument, output: LongTableOptions, *, plan_words: str) -> None:
    """Print a recommendation. `plan_words` names the plan in further commands."""
    if output.json:
        print_document(document)
    elif output.table:
        print_lines(screen_lines(document, plan=plan_words, width=screen_width(), every=output.all))
    else:
        output.print_rows(recommendation_rows(document), title=document.plan)
