"""`planner own-or-rent PLAN`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planner.cli.output import ScreenOptions, TableOptions, print_lines, screen_width
from planner.cli.plan_commands import PlanOptions
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.model.answer.own_or_rent import OwnOrRentDocument
from planner.present import own_or_rent as owning_rows
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.own_or_rent_screen import screen_lines, year_rows
from planner.present.screen import wrapped_lines
from planner.use_cases import answer_ids, owning
from planner.use_cases.catalogs import country_code

app = command_app()


@command(app, "own-or-rent", example="planner own-or-rent examples/own_8xh200.yaml")
def own_or_rent(
    question: PlanOptions,
    *,
    site: Annotated[str | None, typer.Option(metavar="SITE", help="Owned machine; default: the plan's first")] = None,
    tariff: Annotated[
        str | None, typer.Option(metavar="TARIFF", help="Electricity tariff; default: the plan's")
    ] = None,
    country: Annotated[
        str | None, typer.Option(metavar="CC", help="Where it stands: DE, KR; default: as site or currency say")
    ] = None,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Chart of cost against utilisation to write, as .svg")
    ] = None,
    inputs: Annotated[bool, typer.Option("--inputs", help="List every input with its source")] = False,
    output: ScreenOptions,
) -> None:
    """Compare the cost of owning a machine with renting one.

    Shows what a year of the plan's trainings costs on each, and from how many trainings on owning pays.
    """
    plan, today, assumed = question.read()
    catalog = question.catalog(plan)
    document = owning.own_or_rent(
        plan, catalog, today=today, site=site, tariff=tariff, country=country_code(country, catalog)
    )
    if chart is not None:
        say(f"Wrote {owning.write_curve(document, chart)}.")
    answer_ids.keep(document, today=today, plan=plan, plan_words=question.words, assumed=assumed)
    print_own_or_rent(document, output, inputs=inputs)


def print_own_or_rent(document: OwnOrRentDocument, output: ScreenOptions, *, inputs: bool = False) -> None:
    """Print the answer; with `inputs`, also everything that it was computed from."""
    if output.json:
        print_document(document)
        return
    if output.table:
        print_lines(screen_lines(document, width=screen_width(), every=output.all))
    else:
        output.print_rows(year_rows(document), title="")
    if output.details:
        _print_details(document, output)
    if inputs:
        print()
        output.print_rows(owning_rows.input_rows(document), title="Inputs of one node")
    if output.table and output.details:
        print_lines(wrapped_lines(["", *owning_rows.detail_notes(document)], screen_width()))
        if document.formulas:
            lines = [f"How a year is computed ({HOW_TO_READ}):", *formula_lines(document.formulas, full=True)]
            print_lines(wrapped_lines(["", *lines], screen_width()))


def _print_details(document: OwnOrRentDocument, output: TableOptions) -> None:
    """Print the tables behind the answer."""
    year = document.by_plan
    busy = f"{100 * year.site_busy_fraction:.3g} % busy" if year else ""
    at_work = f"{100 * year.busy_fraction.value:.3g} % busy" if year and document.year_parts else busy
    tables = {
        "Not compared": owning_rows.not_compared_rows(document) if output.table else [],
        f"{document.name}: cost of one node, {at_work}": owning_rows.cost_rows(document),
        owning_rows.rival_title(document): owning_rows.rival_rows(document),
        f"What can be done, {busy}; rents by the price of the hour alone": owning_rows.choice_rows(document),
        f"What moves the answer most (against {document.against})": owning_rows.sensitivity_rows(document),
    }
    for title, rows in tables.items():
        if rows:
            print()
            output.print_rows(rows, title=title)
