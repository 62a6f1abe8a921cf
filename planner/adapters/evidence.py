"""Reads tables of published measurements, and the calibration made from them."""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.csv_rows import csv_errors, read_table, refuse_grouped, wrong_cell
from planner.adapters.documents import parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.workspace import catalogs_dir
from planner.errors import InputError
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.measurement import COLUMNS, Measurement

TABLE_LIMIT_BYTES = 50_000_000
NEEDED = ("id", "source", "gpu", "num_gpus")
FOLDER = "evidence"
MOST_ROWS = 10_000
"""Most rows of a table: twice the bundled evidence, about four seconds to audit."""
MOST_UNREADABLE = 1_000
"""Unreadable rows beyond which the file is probably not a table of measurements."""
CALIBRATION = "calibration.json"
IMAGE_CALIBRATION = "calibration_images.json"
"""File of the calibration for image networks."""


def read_measurements(path: Path, unreadable: list[InputError] | None = None) -> list[Measurement]:
    """Read a table of measurements. Unknown columns are ignored, and some may be missing.

    A wrong cell is an error. If a list for `unreadable` rows is given, the error is added to it and the other rows are
    read.
    """
    text = read_table(path, limit_bytes=TABLE_LIMIT_BYTES, fix="Give a CSV file of measurements.")
    with csv_errors(path, reader := csv.DictReader(io.StringIO(text))):
        return _rows(path, reader, unreadable)


def _rows(path: Path, reader: csv.DictReader[str], unreadable: list[InputError] | None) -> list[Measurement]:
    names = reader.fieldnames or []
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InputError(
            f"{path}:1: the column {missing[0]} is missing.",
            fix="Write a header with at least: " + ",".join(NEEDED) + ",n_layers,hidden,n_heads,tokens_per_s_per_gpu",
        )
    lines = [(reader.line_num, cells) for cells in islice(reader, MOST_ROWS + 1)]
    if len(lines) > MOST_ROWS:
        raise InputError(f"{path}: has over {MOST_ROWS:,} rows.", fix="Divide it into several files.")
    rows = []
    seen: dict[str, int] = {}
    for line, cells in lines:
        try:
            row = _row(path, line, cells)
        except InputError as error:
            if unreadable is None:
                raise
            unreadable.append(error)
            if len(unreadable) > MOST_UNREADABLE:
                raise InputError(
                    f"{path}: over {MOST_UNREADABLE:,} rows cannot be read; the first: {unreadable[0].message}",
                    fix=unreadable[0].fix,
                ) from error
            continue
        rows.append(row)
        name = row.id
        if name in seen:
            raise InputError(
                f"{path}:{line}: id: '{name}' stands in line {seen[name]} already.",
                fix="Give every row an id of its own.",
            )
        seen[name] = line
    return rows


NOT_STATED = ("n/a", "not stated", "unknown", "unstated")
"""Words that mean an empty cell, in any column."""
NOT_A_NUMBER = (*NOT_STATED, "na", "nan", "none", "null", "-")
"""Words that mean an empty cell in a column of numbers. Elsewhere "none" is a value."""
NUMBERS = tuple(name for name, field in Measurement.model_fields.items() if field.annotation is not str)


def _row(path: Path, line: int, cells: dict[str, str]) -> Measurement:
    known = {name: cells[name].strip() for name in COLUMNS if (cells.get(name) or "").strip()}
    known = {
        name: cell
        for name, cell in known.items()
        if cell.casefold() not in (NOT_A_NUMBER if name in NUMBERS else NOT_STATED)
    }
    try:
        row = Measurement.model_validate(known)
    except ValidationError as error:
        raise wrong_cell(path, line, known, error) from error
    refuse_grouped(row, known, f"{path}:{line}")
    return row


def evidence_files(workspace: Path | None = None) -> list[Path]:
    """Return the bundled tables, then the user's own."""
    folders = [catalogs_dir() / FOLDER] + ([workspace / FOLDER] if workspace is not None else [])
    return [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.csv"))]


def read_calibration(path: Path | None = None) -> Calibration:
    """Read the calibration that ships with the product, or another one."""
    file = path or catalogs_dir() / FOLDER / CALIBRATION
    fix = "Make it anew with: make calibrate"
    text = read_text(file, limit_bytes=TABLE_LIMIT_BYTES, fix=fix)
    return parse_model(Calibration, parse_mapping(text, where=str(file), fix=fix), where=str(file), text=text, fix=fix)
