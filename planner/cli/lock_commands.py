"""`planner diff OLD NEW` and `planner watch DIR`: compares frozen plans and watches them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import HomeOption, JsonFlag, TableOptions
from planner.cli.registration import command, command_app
from planner.cli.streams import print_document, say
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError
from planner.present.difference import as_markdown, watched_rows
from planner.use_cases import catalogs, differences, prices

app = command_app()


class LockFormat(StrEnum):
    """Output formats of a difference."""

    MD = "md"
    JSON = "json"


@command(app, example="planner diff old.lock.json plan.lock.json --format md")
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Lock file, or the JSON document of an answer")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same at a later time")],
    form: Annotated[LockFormat, typer.Option("--format", help="Markdown or one JSON document")] = LockFormat.MD,
    as_json: JsonFlag = False,
) -> None:
    """Show what changed between two frozen plans, and why.

    The reasons are a price, the hardware, a measurement, an assumption or the planner's model.
    """
    document = differences.diff(old, new)
    if as_json or form is LockFormat.JSON:
        print_document(document)
    else:
        print(as_markdown(document), end="")


@command(app, example="planner watch plans/ || echo 'a recommendation changed'")
def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of lock files, searched in any depth")],
    *,
    with_price_book: Annotated[
        bool, typer.Option("--with-price-book", help="Use your own net prices, for plans that were frozen with them")
    ] = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Report frozen plans whose recommendation changed with prices.

    The exit code is 0 where no recommendation changed, and 3 where one did.
    """
    catalog = catalogs.open_catalog(home)
    booked = prices.booked(catalog, home, today=clock.today()) if with_price_book else None
    document = differences.watch(folder, catalog, booked=booked)
    flips = [plan for plan in document.plans if plan.flips]
    if output.json:
        print_document(document)
    elif flips:
        output.print_rows(watched_rows(document), title="Plans that flip")
    say(f"{len(document.plans)} watched, {len(flips)} flip; the newest price is of {document.prices_of}.")
    for plan in flips:
        say(f"{plan.lock}: {plan.sentence}")
    for problem in document.problems:
        say(f"Error: {problem}")
    if document.problems:
        raise typer.Exit(InputError.exit_code)
    if flips:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)
