"""`planner own-or-rent PLAN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.output import HomeOption, TableOptions
from planner.cli.plan_commands import PlanPath
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.present.own_or_rent import beside, choice_rows, cost_rows, input_rows, rival_rows, sensitivity_rows
from planner.present.table import quantity_text
from planner.use_cases import catalogs, owning, plans

app = command_app()


@command(app, "own-or-rent", example="planner own-or-rent examples/own_8xh200.yaml")
def own_or_rent(
    plan: PlanPath,
    *,
    site: Annotated[str | None, typer.Option(metavar="SITE", help="Owned machine; default: the plan's first")] = None,
    tariff: Annotated[
        str | None, typer.Option(metavar="TARIFF", help="Electricity tariff; default: the plan's")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Chart of cost against utilisation to write, as .svg")
    ] = None,
    inputs: Annotated[bool, typer.Option("--inputs", help="List every input with its source")] = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Compare the cost of owning a machine with renting one.

    Shows the full and the marginal cost of owning, and how busy the machine must be to beat the cloud.
    """
    question = plans.read_plan(plan)
    document = owning.own_or_rent(question, catalogs.catalog_for(question, home), site=site, tariff=tariff)
    if chart is not None:
        say(f"Wrote {owning.write_curve(document, chart)}.")
    if output.json:
        print_document(document)
        return
    tables = {
        f"{document.name}: cost of one node": cost_rows(document),
        "Against the cloud": rival_rows(document),
        "What can be done": choice_rows(document),
        f"What moves the answer most (against {document.against})": sensitivity_rows(document),
        "Inputs of one node": input_rows(document) if inputs else [],
    }
    for number, (title, rows) in enumerate((title, rows) for title, rows in tables.items() if rows):
        if number:
            print()
        output.print_rows(rows, title=title)
    for incentive in document.incentives:
        say(f"incentive {incentive.name}: {'counts' if incentive.counts else 'does not count'}, {incentive.reason}")
    defaults = [each.name for each in document.inputs if each.default]
    if defaults:
        say(f"default values are used for: {', '.join(defaults)} (see --inputs)")
    for note in document.notes:
        say(note)
    local = beside(document.local_per_busy_gpu_hour)
    say(f"\n{document.full_question}\n  {quantity_text(document.usd_per_busy_gpu_hour)}{local}")
    say(f"{document.marginal_question}\n  {quantity_text(document.marginal_usd_per_busy_gpu_hour)}")
    if document.why_not:
        say(document.why_not)
    say(f"\n{document.sentence}")
