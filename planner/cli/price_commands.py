"""`planner prices refresh|show|history|check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters.http_fetch import TIMEOUT_S
from planner.cli.output import Format, FormatOption, HomeOption, JsonFlag, print_document, print_rows, say
from planner.errors import InputError
from planner.model.prices.offer import PriceKind
from planner.present.price_rows import price_rows, refresh_rows, span_rows
from planner.use_cases import catalogs, price_books, prices
from planner.use_cases.prices import SortKey, SourceChoice

app = typer.Typer(
    help="Prices: what is known, from where, how old; and how to bring them up to date.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
RegionOption = Annotated[str | None, typer.Option(metavar="REGION", help="One region.", show_default=False)]


@app.command(epilog="Example: planner prices refresh --source gpuhunt")
def refresh(
    source: Annotated[SourceChoice, typer.Option(help="Where to fetch from.")] = SourceChoice.ALL,
    region: Annotated[
        list[str] | None, typer.Option(metavar="REGION", help="Only these; may be repeated.", show_default=False)
    ] = None,
    timeout_s: Annotated[float, typer.Option("--timeout-s", help="For each answer of a source.")] = TIMEOUT_S,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Fetch prices. Every one is kept with source and date; a source that fails takes nothing away."""
    if not 0 < timeout_s <= 3600:
        raise InputError(f"--timeout-s is {timeout_s:g}; it must be above 0 and at most 3600.")
    document = prices.refresh(source, home=home, now=clock.now(), regions=region or (), timeout_s=timeout_s)
    if as_json or form is Format.JSON:
        print_document(document)
    else:
        print_rows(refresh_rows(document.sources), form, title="Prices fetched")
    for path in document.healed:
        say(f"{path}: could not be read; written anew from the observations")
    for report in document.sources:
        for problem in report.problems:
            say(f"{report.source}: {problem}")
        for reason, count in report.left_out.items():
            say(f"{report.source}: left out {count}: {reason}")
        if report.not_asked:
            say(f"{report.source}: not asked: {'; '.join(report.not_asked)}")


@app.command(epilog="Example: planner prices show --accelerator H100 --kind on_demand --sort usd_per_accelerator_hour")
def show(
    accelerator: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="An id or a driver's name; H100 stands for all H100s.", show_default=False),
    ] = None,
    region: RegionOption = None,
    kind: Annotated[PriceKind | None, typer.Option(help="One kind of price.", show_default=False)] = None,
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="One provider.", show_default=False)] = None,
    sort: Annotated[SortKey, typer.Option(help="The lowest first.")] = SortKey.ACCELERATOR_HOUR,
    every: Annotated[bool, typer.Option("--all", help="Also prices that another one has replaced.")] = False,
    with_price_book: Annotated[
        bool, typer.Option("--with-price-book", help="Show your own net prices beside the list.")
    ] = False,
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Show the prices that plans are given: whole instance and per accelerator, with source and age."""
    document = prices.show(
        home=home, now=clock.now(), accelerator=accelerator, region=region, kind=kind,
        provider=provider, sort=sort, every=every, book=price_books.own_book(home) if with_price_book else None,
    )  # fmt: skip
    if as_json or form is Format.JSON:
        print_document(document)
        return
    rows = price_rows(document.prices, with_book=with_price_book, with_replaced=every, brief=_is_table(form))
    print_rows(rows, form, title="Prices")
    stale = sum(row.stale for row in document.prices)
    if stale:
        say(f"{stale} of {len(document.prices)} are older than their kind allows; renew them: planner prices refresh")


@app.command(epilog="Example: planner prices history aws/p5en.48xlarge")
def history(
    item: Annotated[str, typer.Argument(metavar="ITEM", help="As a plan names it: provider/instance_type.")],
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Every observation of one item, and their lowest, median and highest."""
    document = prices.history(item, home=home, now=clock.now())
    if as_json or form is Format.JSON:
        print_document(document)
        return
    print_rows(price_rows(document.prices, brief=_is_table(form)), form, title=f"Prices of {item}")
    for row in span_rows(document.spans):
        say(", ".join(f"{name} {value}" for name, value in row.items()))


@app.command(epilog="Example: planner prices check planner-data/prices/ours.csv")
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A price file, or a price book.", show_default=False)],
    as_json: JsonFlag = False,
    form: FormatOption = None,
    home: HomeOption = None,
) -> None:
    """Read a price file as estimates do; show what each row comes to per hour and per accelerator."""
    if file.suffix.lower() in (".yaml", ".yml"):
        book = price_books.read_book(file)
        order = ", then ".join(discount.name for discount in book.stacked()) or "no discounts"
        say(f"{file}: a price book of {book.as_of}, all right. Order: {order}.")
        return
    document = prices.check(file, catalogs.open_catalog(home), now=clock.now())
    if as_json or form is Format.JSON:
        print_document(document)
        return
    print_rows(price_rows(document.prices, brief=_is_table(form)), form, title=str(file))
    say(f"{file}: {len(document.prices)} price(s), all right.")


def _is_table(form: Format | None) -> bool:
    """Say whether a terminal's table is printed; other formats have room for sources and notes."""
    return form is Format.TABLE or (form is None and sys.stdout.isatty())
