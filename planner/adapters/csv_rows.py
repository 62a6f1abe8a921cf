"""Catalog tables: one model per row. A wrong cell names file, line, column and value."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from pydantic import ValidationError

from planner.adapters.bundled_files import bundled_once
from planner.adapters.documents import RECORD_LIMIT_BYTES, read_text
from planner.adapters.user_text import table_without_secrets
from planner.adapters.workspace import catalogs_dir
from planner.errors import InputError
from planner.model.base import Frozen

Row = TypeVar("Row", bound=Frozen)
GROUPED = re.compile(r"[0-9]_[0-9]")
"""Digits grouped like `1_000`: a number to Python and pydantic, text to spreadsheets and other languages."""


@bundled_once
def read_rows(model: type[Row], path: Path) -> list[Row]:
    """Read a CSV file whose header is the model's fields, in their order. An empty cell is null.

    Columns whose fields have a default may be left out, so that earlier files with fewer columns stay readable.
    """
    lines = read_table(path, limit_bytes=RECORD_LIMIT_BYTES).splitlines()
    columns = list(model.model_fields)
    with csv_errors(path, reader := csv.DictReader(lines)):
        return _rows(model, path, reader, columns)


def read_table(path: Path, *, limit_bytes: int, fix: str = "") -> str:
    """Read a CSV file as text. Secrets in a user's file are hidden."""
    text = read_text(path, limit_bytes=limit_bytes, fix=fix)
    is_bundled = path.is_relative_to(catalogs_dir())
    return text if is_bundled else table_without_secrets(text, where=str(path))


class LineCount(Protocol):
    """A CSV reader of the csv module, which counts lines."""

    @property
    def line_num(self) -> int:
        """Number of lines that it has read."""


@contextmanager
def csv_errors(where: Path | str, reader: LineCount) -> Iterator[None]:
    """Turn errors of the csv module into an error that names the line."""
    try:
        yield
    except csv.Error as error:
        problem, fix = str(error), "Check the quotes."
        if problem.startswith("new-line character"):
            problem, fix = "a carriage return stands alone", "Save it with the line ends of Unix or Windows."
        elif problem.startswith("field larger"):
            problem = f"a cell has over {csv.field_size_limit():,} characters"
        raise InputError(f"{where}:{reader.line_num + 1}: is not CSV: {problem}.", fix=fix) from error


def _rows(model: type[Row], path: Path, reader: csv.DictReader[str], columns: list[str]) -> list[Row]:
    header = list(reader.fieldnames or ())
    needed = {name for name, field in model.model_fields.items() if field.is_required()}
    if header != [column for column in columns if column in header] or not needed <= set(header):
        raise InputError(f"{path}:1: the columns are not those of {model.__name__}.", fix="Write: " + ",".join(columns))
    return [_row(model, path, reader.line_num, cells) for cells in reader]


def _row(model: type[Row], path: Path, line: int, cells: dict[str, str]) -> Row:
    if None in cells or None in cells.values():
        raise InputError(f"{path}:{line}: has more or fewer cells than the header.", fix="Quote cells with a comma.")
    try:
        row = model.model_validate_strings({column: cell for column, cell in cells.items() if cell})
    except ValidationError as error:
        raise wrong_cell(path, line, cells, error) from error
    refuse_grouped(row, cells, f"{path}:{line}")
    return row


def refuse_grouped(row: Frozen, cells: Mapping[str, str], place: str) -> None:
    """Refuse digits that are grouped with underscores in a column of numbers."""
    for column, cell in cells.items():
        if GROUPED.search(cell) and isinstance(getattr(row, column, None), int | float):
            fix = f"Write {cell.replace('_', '')}"
            raise InputError(f"{place}: {column}: has underscores (found {cell!r}).", fix=fix)


def wrong_cell(path: Path, line: int, cells: Mapping[str, str], error: ValidationError) -> InputError:
    """Return the error for a wrong cell of a row: its column, its value, and what would be right."""
    detail = error.errors()[0]
    column = str(detail["loc"][0]) if detail["loc"] else "the row"
    problem = detail["msg"].removeprefix("Value error, ")
    return InputError(
        f"{path}:{line}: {column}: {problem} (found {cells.get(column, '')!r}).",
        fix="Write plain digits with a point, dates as 2026-11-21, and leave unknown cells empty.",
    )
