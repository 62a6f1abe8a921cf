"""`planner explain`: why is this number what it is?"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from planner.cli.output import HomeOption, JsonFlag, print_document
from planner.cli.plan_commands import PlanPath
from planner.use_cases import catalogs, plans


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: planner explain plan.yaml --option aws/p5.48xlarge:us-east-1:on_demand")(explain)


def explain(
    plan: PlanPath,
    option: Annotated[
        str | None, typer.Option("--option", metavar="ID", help="One option, by its id; default all.")
    ] = None,
    as_json: JsonFlag = False,
    home: HomeOption = None,
) -> None:
    """Each estimate taken apart: parts of the step, formulas, constants, and how far every measured run moves it."""
    from planner.present.explanation import as_text
    from planner.use_cases.explain import explain as explained

    document = explained(plans.read_plan(plan), catalogs.open_catalog(home), option=option)
    if as_json:
        print_document(document)
    else:
        sys.stdout.write(as_text(document))
