"""Price files: their columns, accepted spellings of a price, and refusals with line and column."""

from __future__ import annotations

import csv
import gc
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import compress
from operator import itemgetter
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.bundled_files import bundled_once
from planner.adapters.csv_rows import GROUPED, csv_errors, read_table, refuse_grouped
from planner.adapters.documents import read_text
from planner.cost.cloud.price_level import Bands, implausible
from planner.errors import InputError
from planner.model.hardware.machines import Node
from planner.model.prices.offer import Price, PriceOrigin
from planner.quantity.time_units import HOURS_PER_MONTH
from planner.text.number_text import read_number, read_whole_number
from planner.text.visible_text import table_text, unguarded

PRICE_LIMIT_BYTES = 200_000_000
OWN_PRICE_LIMIT_BYTES = 10_000_000
"""Maximum size of a hand-written file (about 40,000 rows; four seconds to validate)."""
A_DAY = timedelta(days=1)

COLUMNS = (
    "provider", "instance_type", "accelerator", "accelerators", "region", "zone", "price_kind",
    "usd_per_hour", "usd_per_million_tokens", "no_price_reason", "low_usd_per_hour", "high_usd_per_hour", "currency",
    "minimum_hours", "billing_granularity_s", "minimum_term_hours", "upfront_fraction",
    "valid_from", "valid_until", "node_hours_limit", "available",
    "origin", "source", "source_version", "as_of", "fetched_at", "confidence", "note",
)  # fmt: skip
"""Columns that are written.

A file may omit all that have a default, so earlier files with fewer columns stay readable.
"""
REQUIRED = ("provider", "instance_type", "region", "price_kind", "source", "as_of")
KEY = (
    "provider",
    "instance_type",
    "accelerator",
    "accelerators",
    "region",
    "zone",
    "price_kind",
    "origin",
    "source",
    "as_of",
)
"""Key columns: no two rows of one file agree in all of them."""
OTHER_AMOUNTS = ("usd_per_month", "usd_per_accelerator_hour")
"""Columns that a user may fill instead of usd_per_hour. They are converted as the row is read."""
AMOUNTS = ("usd_per_hour", *OTHER_AMOUNTS, "usd_per_million_tokens", "low_usd_per_hour", "high_usd_per_hour")


@bundled_once
def read_prices(path: Path) -> list[Price]:
    """Read one bundled price file."""
    text = read_text(path, limit_bytes=PRICE_LIMIT_BYTES)
    return [price for _, price in parse_prices(text, where=str(path), origin=PriceOrigin.BUNDLED)]


def parse_prices(text: str, *, where: str, origin: PriceOrigin, duplicates: bool = False) -> list[tuple[int, Price]]:
    """Read price rows from CSV text, each with the line on which it ends. A history may hold a row twice."""
    reader = csv.reader(io.StringIO(text))
    with csv_errors(where, reader):
        header = next(reader, [])
        _check_header(header, where)
        grouped = GROUPED.search(text) is not None
        others = any(column in header for column in OTHER_AMOUNTS)
        key_of = itemgetter(*(header.index(column) for column in KEY if column in header))
        seen: dict[tuple[str, ...], int] = {}
        rows: list[tuple[int, Price]] = []
        with _no_collection():
            for cells in reader:
                line = reader.line_num
                rows.append((line, _row(header, cells, origin.value, where, line, others=others)))
                if grouped:
                    refuse_grouped(rows[-1][1], dict(zip(header, cells, strict=True)), f"{where}:{line}")
                first = seen.setdefault(key_of(cells), line)
                if first != line and not duplicates:
                    raise _double(rows[-1][1], where, line, first)
    return rows


@contextmanager
def _no_collection() -> Iterator[None]:
    """Pause the garbage collector, which would walk all earlier rows again and again, for half of the time.

    Freezing and unfreezing moves the new rows to the oldest generation at once, without a walk over them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.unfreeze()
        if was_on:
            gc.enable()


def checked_prices(
    path: Path, *, nodes: Mapping[str, Node], bands: Bands, origin: PriceOrigin, today: date
) -> list[Price]:
    """Read one price file. Refuses implausible prices and prices dated in the future."""
    rows = parse_prices(read_table(path, limit_bytes=OWN_PRICE_LIMIT_BYTES), where=str(path), origin=origin)
    for line, row in rows:
        if row.as_of > today + A_DAY:  # it may be tomorrow already where the price was stated
            raise InputError(
                f"{path}:{line}: as_of: {row.as_of} is still to come, so the price would never grow old.",
                fix="Write the day on which the source stated it; from when it holds goes into valid_from.",
            )
        problem = implausible(row, nodes, bands)
        if problem is not None:
            raise _implausible(f"{path}:{line}", row, problem)
    return [row for _, row in rows]


def _implausible(place: str, row: Price, problem: str) -> InputError:
    if row.usd_per_million_tokens is not None:
        fix = "Write USD per million tokens. A price that is right and still far off goes into the plan."
        return InputError(f"{place}: usd_per_million_tokens: {problem}", fix=fix)
    return InputError(
        f"{place}: usd_per_hour: {problem}",
        fix="Write USD per hour of the whole instance, or fill usd_per_month or usd_per_accelerator_hour. "
        "A price that is right and still far off goes into the plan (usd_per_hour) or the price book.",
    )


def as_csv(prices: Iterable[Price]) -> str:
    """Write price rows with all columns."""
    rows = [[_cell(getattr(price, column)) for column in COLUMNS] for price in prices]
    return table_text([COLUMNS, *rows], ",")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _check_header(header: Sequence[str], where: str) -> None:
    known = (*COLUMNS, *OTHER_AMOUNTS)
    unknown = [column for column in header if column not in known]
    missing = [column for column in REQUIRED if column not in header]
    twice = [column for column, count in Counter(header).items() if count > 1]
    for columns, problem in ((unknown, "no such column is known"), (twice, "appears twice"), (missing, "is missing")):
        if columns:
            fix = f"Needed: {','.join(REQUIRED)} and usd_per_hour; known: {','.join(known)}"
            raise InputError(f"{where}:1: {columns[0]}: {problem}.", fix=fix)


def _row(header: Sequence[str], cells: Sequence[str], origin: str, where: str, line: int, *, others: bool) -> Price:
    if len(cells) != len(header):
        raise InputError(
            f"{where}:{line}: has {len(cells)} cells, the header has {len(header)}.",
            fix="Quote a cell that has a comma, and write a number with a point: 3.06",
        )
    row = {name: unguarded(cell) for name, cell in compress(zip(header, cells, strict=True), cells)}  # the filled cells
    row.setdefault("origin", origin)
    row.setdefault("confidence", "list")
    if "fetched_at" not in row and "as_of" in row:
        row["fetched_at"] = row["as_of"]
    if others:
        _convert(row, f"{where}:{line}")
    try:
        return Price.model_validate_strings(row)
    except ValidationError as error:
        detail = error.errors()[0]
        column = str(detail["loc"][0]) if detail["loc"] else "usd_per_hour"
        cell = row.get(column, "")
        problem, fix = _plainly(column, cell, detail["msg"].removeprefix("Value error, "))
        raise InputError(f"{where}:{line}: {column}: {problem} (found {cell!r}).", fix=fix) from error


def _convert(row: dict[str, str], place: str) -> None:
    """Turn a price per month, or per accelerator-hour, into one per instance-hour."""
    given = [column for column in ("usd_per_hour", *OTHER_AMOUNTS) if column in row]
    if not given or given == ["usd_per_hour"]:
        return
    if len(given) > 1:
        raise InputError(f"{place}: {given[1]}: the row also has {given[0]}.", fix="Keep one of them.")
    text = row.pop(given[0])
    try:
        amount, count = read_number(text), read_whole_number(row.get("accelerators", "0"))
    except ValueError as error:
        problem, fix = _plainly(given[0], text, "is not a number")
        raise InputError(f"{place}: {given[0]}: {problem} (found {text!r}).", fix=fix) from error
    if given[0] == "usd_per_month":
        row["usd_per_hour"] = repr(amount / HOURS_PER_MONTH)
    elif count > 0:
        row["usd_per_hour"] = repr(amount * count)
    else:
        raise InputError(
            f"{place}: usd_per_accelerator_hour: the row does not say how many accelerators the instance has.",
            fix="Fill accelerator and accelerators, or write usd_per_hour of the whole instance.",
        )


def _plainly(column: str, cell: str, message: str) -> tuple[str, str]:
    """Return in plain words what is wrong with a cell, and what would be right."""
    if column in AMOUNTS and re.search(r"[$€£]|USD", cell):
        number = re.sub(r"[^0-9.,]", "", cell)
        return "has a currency sign", f"Write the number alone: {number or '3.06'}"
    if column in AMOUNTS and re.fullmatch(r"\d+,\d+", cell):
        return "has a comma", f"Write a decimal point, {cell.replace(',', '.')}, and no thousands separator."
    if column in ("as_of", "fetched_at", "valid_from", "valid_until") and cell:
        far_off = re.search(r"(less|greater) than or equal to .*", message)
        return f"must be {far_off[0]}" if far_off else "is not a date", "Write dates as 2026-11-21."
    if column == "currency":
        return "is not USD", "Convert the price to USD, and name the rate in note."
    return message, "Write plain digits with a point, dates as 2026-11-21, and leave unknown cells empty."


def _double(row: Price, where: str, line: int, first: int) -> InputError:
    return InputError(
        f"{where}:{line}: instance_type: {row.node} in {row.region} ({row.price_kind.value}, {row.as_of}) "
        f"stands already in line {first}.",
        fix="Take one of the two out, or give them their own dates or sources.",
    )
