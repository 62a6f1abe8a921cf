"""`planner diff OLD NEW` and `planner watch DIR`: frozen plans, compared and kept under watch."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.cli.output import Format as TableFormat
from planner.cli.output import FormatOption, HomeOption, JsonFlag, print_document, print_rows, say
from planner.errors import EXIT_NOTHING_FEASIBLE, InputError


class Format(StrEnum):
    """What a difference is printed as."""

    MD = "md"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the commands on frozen plans."""
    app.command(epilog="Example: planner diff old.lock.json plan.lock.json --format md")(diff)
    app.command(epilog="Example: planner watch plans/ || echo 'a plan flips'. Exit codes: 0 none flips, 3 one does.")(
        watch
    )


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A lock, or an answer of --json.", show_default=False)],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The same, later.", show_default=False)],
    form: Annotated[Format, typer.Option("--format", help="Markdown or one JSON document.")] = Format.MD,
    as_json: JsonFlag = False,
) -> None:
    """What moved between two frozen plans, and why: price, hardware, measurement, assumption or model."""
    from planner.present.difference import as_markdown
    from planner.use_cases import differences

    document = differences.diff(old, new)
    if as_json or form is Format.JSON:
        print_document(document)
    else:
        print(as_markdown(document), end="")


def watch(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where the locks are, in any depth.")],
    with_price_book: Annotated[
        bool, typer.Option("--with-price-book", help="Needed by plans that were frozen at your own net prices.")
    ] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Answer frozen plans on today's prices; speaks only of those whose recommended option flips (exit code 3)."""
    from planner.present.difference import watched_rows
    from planner.use_cases import catalogs, differences, price_books

    catalog = catalogs.open_catalog(home)
    booked = price_books.booked(catalog, home, today=clock.today()) if with_price_book else None
    document = differences.watch(folder, catalog, booked=booked)
    flips = [plan for plan in document.plans if plan.flips]
    if as_json or form is TableFormat.JSON:
        print_document(document)
    elif flips:
        print_rows(watched_rows(document), form, title="Plans that flip")
    say(f"{len(document.plans)} watched, {len(flips)} flip; the newest price is of {document.prices_of}.")
    for plan in flips:
        say(f"{plan.lock}: {plan.sentence}")
    for problem in document.problems:
        say(f"Error: {problem}")
    if document.problems:
        raise typer.Exit(InputError.exit_code)
    if flips:
        raise typer.Exit(EXIT_NOTHING_FEASIBLE)
