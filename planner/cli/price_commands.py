"""`planner prices refresh|show|history|check`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planner import clock
from planner.adapters.http_fetch import TIMEOUT_S
from planner.adapters.price_sources.all_sources import SourceChoice
from planner.cli.output import HomeOption, TableOptions
from planner.cli.registration import command, command_app, command_group
from planner.cli.streams import print_document, say
from planner.errors import InputError
from planner.model.prices.offer import PriceKind
from planner.present.price_rows import price_rows, refresh_rows, span_rows
from planner.use_cases import catalogs
from planner.use_cases import prices as use_cases
from planner.use_cases.prices import SortKey

app = command_app()
prices = command_group(app, "prices", "Show, refresh and check prices.")


@dataclass(frozen=True, kw_only=True)
class PriceFilterOptions:
    """Selection and order of the prices that are shown."""

    accelerator: Annotated[str | None, typer.Option(metavar="NAME", help="Accelerator; H100 stands for every H100")] = (
        None
    )
    region: Annotated[str | None, typer.Option(metavar="REGION", help="Region")] = None
    kind: Annotated[
        PriceKind | None, typer.Option(metavar="KIND", help="Kind of price, e.g. on_demand, spot or capacity_block")
    ] = None
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="Provider")] = None
    sort: Annotated[SortKey, typer.Option(help="Sort key, lowest first")] = SortKey.ACCELERATOR_HOUR
    every: Annotated[bool, typer.Option("--all", help="Include prices that others have replaced")] = False


@command(prices, example="planner prices refresh --source gpuhunt")
def refresh(
    *,
    source: Annotated[SourceChoice, typer.Option(help="Source of prices")] = SourceChoice.ALL,
    region: Annotated[list[str] | None, typer.Option(metavar="REGION", help="Region; may be repeated")] = None,
    timeout_s: Annotated[float, typer.Option("--timeout-s", help="Seconds to wait for each answer")] = TIMEOUT_S,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Fetch prices and keep each with source and date.

    Where a source fails, the prices that are known from it stay.
    """
    if not 0 < timeout_s <= 3600:
        raise InputError(f"--timeout-s is {timeout_s:g}; it must be above 0 and at most 3600.", fix="Write seconds.")
    document = use_cases.refresh(source, home=home, now=clock.now(), regions=region or (), timeout_s=timeout_s)
    if output.json:
        print_document(document)
    else:
        output.print_rows(refresh_rows(document.sources), title="Prices fetched")
    say(
        f"Bundled prices: {document.bundled_renewed} renewed, {document.bundled_unlisted} no longer listed; "
        f"no list was read for {document.bundled_not_asked}."
    )
    for path in document.healed:
        say(f"{path}: cannot be read, and was set aside; a new file of stored prices was begun")
    for report in document.sources:
        for problem in report.problems:
            say(f"{report.source}: {problem}")
        for reason, count in report.left_out.items():
            say(f"{report.source}: left out {count}: {reason}")
        if report.not_asked:
            say(f"{report.source}: not requested: {'; '.join(report.not_asked)}")


@command(prices, example="planner prices show --accelerator H100 --kind on_demand")
def show(
    wanted: PriceFilterOptions,
    *,
    with_price_book: Annotated[
        bool, typer.Option("--with-price-book", help="Show your own net prices beside list prices")
    ] = False,
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Show the prices that plans use, with source and age.

    Prices are per hour, for the whole instance and per accelerator.
    """
    document = use_cases.show(
        home=home, now=clock.now(), accelerator=wanted.accelerator, region=wanted.region, kind=wanted.kind,
        provider=wanted.provider, sort=wanted.sort, every=wanted.every,
        book=use_cases.own_book(home) if with_price_book else None,
    )  # fmt: skip
    if output.json:
        print_document(document)
        return
    rows = price_rows(document.prices, with_book=with_price_book, with_replaced=wanted.every, brief=output.table)
    output.print_rows(rows, title="Prices")
    stale = sum(row.stale for row in document.prices)
    if stale:
        say(f"{stale} of {len(document.prices)} are out of date; renew them with: planner prices refresh")


@command(prices, example="planner prices history aws/p5en.48xlarge")
def history(
    item: Annotated[str, typer.Argument(metavar="ITEM", help="Priced item, as in a plan: provider/instance_type")],
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """List every observed price of an item.

    Ends with the lowest, median and highest price of each kind.
    """
    document = use_cases.history(item, home=home, now=clock.now())
    if output.json:
        print_document(document)
        return
    output.print_rows(price_rows(document.prices, brief=output.table), title=f"Prices of {item}")
    for row in span_rows(document.spans):
        say(", ".join(f"{name} {value}" for name, value in row.items()))


@command(prices, example="planner prices check planner-data/prices/ours.csv")
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Price file or price book")],
    output: TableOptions,
    home: HomeOption = None,
) -> None:
    """Check a price file or a price book.

    Shows what each row of a price file comes to per hour and per accelerator.
    """
    if file.suffix.lower() in (".yaml", ".yml"):
        book = use_cases.read_book(file)
        order = ", then ".join(discount.name for discount in book.stacked()) or "no discounts"
        say(f"{file}: a valid price book of {book.as_of}. Order: {order}.")
        return
    document = use_cases.check(file, catalogs.open_catalog(home), now=clock.now())
    if output.json:
        print_document(document)
        return
    output.print_rows(price_rows(document.prices, brief=output.table), title=str(file))
    say(f"{file}: {len(document.prices)} valid price(s).")
