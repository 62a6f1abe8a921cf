"""`planner recommend PLAN`."""

from __future__ import annotations

import typer

from planner.cli.output import LongTableOptions, print_lines, screen_width
from planner.cli.plan_commands import PlanOptions
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document
from planner.errors import EXIT_NOTHING_FEASIBLE
from planner.model.answer.recommendation import RecommendationDocument
from planner.present.recommendation_screen import recommendation_rows, screen_lines
from planner.use_cases import answer_ids
from planner.use_cases.plans import recommend as advise

app = command_app()


@command(app, example="planner recommend plan.yaml")
def recommend(question: PlanOptions, output: LongTableOptions) -> None:
    """Show how firm the recommendation is, and what would change it.

    The recommendation is that of `compare`. The exit code is 3 where no option meets the limits.
    """
    plan, today, assumed = question.read()
    catalog = question.catalog(plan)
    document = advise(plan, catalog, today=today, asked=str(question.plan))
    answer_ids.keep(document, today=today, plan=plan, asked=question.words, assumed=assumed)
    print_recommendation(document, output, asked=question.words)
    if not document.feasible:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)


def print_recommendation(document: RecommendationDocument, output: LongTableOptions, *, asked: str) -> None:
    """Print a recommendation. `asked` is the plan as it is given to another command."""
    if output.json:
        print_document(document)
    elif output.table:
        print_lines(screen_lines(document, plan=asked, width=screen_width(), every=output.all))
    else:
        output.print_rows(recommendation_rows(document), title=document.plan)
