"""`planner own-or-rent PLAN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.output import Format, FormatOption, HomeOption, JsonFlag, print_document, print_rows, say
from planner.cli.plan_commands import PlanPath
from planner.present.own_or_rent import beside, choice_rows, cost_rows, input_rows, rival_rows, sensitivity_rows
from planner.present.table import quantity_text
from planner.use_cases import catalogs, owning, plans


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("own-or-rent", epilog="Example: planner own-or-rent examples/own_8xh200.yaml")(own_or_rent)


def own_or_rent(
    plan: PlanPath,
    site: Annotated[
        str | None,
        typer.Option(metavar="SITE", help="Which owned machine; default: the plan's first.", show_default=False),
    ] = None,
    tariff: Annotated[
        str | None,
        typer.Option(metavar="TARIFF", help="A tariff of catalogs/tariffs, for the plan's own.", show_default=False),
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw cost against utilisation, as .svg.", show_default=False),
    ] = None,
    inputs: Annotated[bool, typer.Option("--inputs", help="Also list every input with its source.")] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """What owning a machine costs in full and at the margin, and how busy it must be to beat the cloud."""
    asked = plans.read_plan(plan)
    document = owning.own_or_rent(asked, catalogs.catalog_for(asked, home), site=site, tariff=tariff)
    if chart is not None:
        say(f"Wrote {owning.write_curve(document, chart)}.")
    if as_json or form is Format.JSON:
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
        print_rows(rows, form, title=title)
    for line in document.incentives:
        say(f"incentive {line.name}: {'counts' if line.counts else 'does not count'}, {line.reason}")
    defaults = [each.name for each in document.inputs if each.default]
    if defaults:
        say(f"defaults taken for: {', '.join(defaults)} (see --inputs)")
    for note in document.notes:
        say(note)
    local = beside(document.local_per_busy_gpu_hour)
    say(f"\n{document.full_question}\n  {quantity_text(document.usd_per_busy_gpu_hour)}{local}")
    say(f"{document.marginal_question}\n  {quantity_text(document.marginal_usd_per_busy_gpu_hour)}")
    if document.why_not:
        say(document.why_not)
    say(f"\n{document.sentence}")
