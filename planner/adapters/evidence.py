"""Reads tables of published measurements and of whole trainings, and the fits made from them."""

from __future__ import annotations

import csv
import io
from itertools import islice
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.bundled_files import bundled_once
from planner.adapters.csv_rows import csv_errors, read_table, refuse_grouped, wrong_cell
from planner.adapters.documents import parse_model, read_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.workspace import catalogs_dir
from planner.errors import InputError
from planner.model.evidence.calibration import Calibration
from planner.model.evidence.measurement import COLUMNS, Measurement
from planner.model.evidence.whole_training import METRICS, PracticeFit, WholeTraining, usual_count
from planner.quantity.time_units import SECONDS_PER_HOUR

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
    return _all_rows(path) if unreadable is None else _readable_rows(path, unreadable)


@bundled_once
def _all_rows(path: Path) -> list[Measurement]:
    return _readable_rows(path, None)


def _readable_rows(path: Path, unreadable: list[InputError] | None) -> list[Measurement]:
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
    return _calibration_of(path or catalogs_dir() / FOLDER / CALIBRATION)


@bundled_once
def _calibration_of(file: Path) -> Calibration:
    fix = "Make it anew with: make calibrate"
    text = read_text(file, limit_bytes=TABLE_LIMIT_BYTES, fix=fix)
    return parse_model(Calibration, parse_mapping(text, where=str(file), fix=fix), where=str(file), text=text, fix=fix)


PRACTICE_FOLDER = "practice"
TABLE = "whole_trainings.csv"
FIT = "practice.json"
NODE = 8
"""Accelerators of a node if the row does not say."""


def whole_trainings() -> list[WholeTraining]:
    """Return the bundled table."""
    return read_whole_trainings(catalogs_dir() / PRACTICE_FOLDER / TABLE)


def read_whole_trainings(path: Path) -> list[WholeTraining]:
    """Read a table with the columns of measurements (without a rate), and data, hours, kind, team, url, excluded."""
    text = read_text(path, limit_bytes=5_000_000, fix="Give a CSV file of whole trainings.")
    with csv_errors(path, reader := csv.DictReader(io.StringIO(text))):
        return [_training(path, reader.line_num, cells) for cells in reader]


def read_practice(root: Path) -> PracticeFit | None:
    """Return the fit made from whole trainings; None if a folder of catalogs has no such file."""
    path = root / PRACTICE_FOLDER / FIT
    return read_model(PracticeFit, path) if path.is_file() else None


def _training(path: Path, line: int, cells: dict[str, str]) -> WholeTraining:
    try:
        return _read(cells)
    except ValidationError as error:
        raise wrong_cell(path, line, cells, error) from error


def _read(cells: dict[str, str]) -> WholeTraining:
    count_stated = bool(cells["num_gpus"])
    hours, device_hours = _number(cells["hours"]), _number(cells["device_hours"])
    count = float(cells["num_gpus"]) if count_stated else usual_count(device_hours or 0.0)
    if hours is None and device_hours is not None:
        hours = device_hours / count
    columns = Measurement.model_fields.keys() - {"excluded"}  # its codes have another meaning for whole trainings
    known = {name: cell for name, cell in cells.items() if name in columns and cell != ""}
    machine = {} if count_stated else {"num_gpus": count, "gpus_per_node": NODE}
    run = Measurement.model_validate(
        known | machine | {"metric": METRICS[-1], "quality": "ok"} | _rate(cells, hours=hours, count=count)
    )
    return WholeTraining.model_validate({
        "run": run, "hours": hours, "count_stated": count_stated, "well_known": bool(cells["well_known"]),
        "excluded": cells["excluded"] or None,
    } | {name: cells[name] for name in ("url", "kind", "team")})  # fmt: skip


def _rate(cells: dict[str, str], *, hours: float | None, count: float) -> dict[str, object]:
    """Return tokens/s of an accelerator, or samples/s of all of them."""
    tokens, samples = _number(cells["tokens"]), _number(cells["samples"])
    if hours is None or (tokens is None and samples is None):
        return {}
    if tokens is not None:
        return {"tokens_per_s_per_gpu": tokens / (hours * count * SECONDS_PER_HOUR), "unit": "tokens/s/gpu"}
    unit = "images/s" if cells["kind"] == "images" else "samples/s"
    return {"throughput_total": (samples or 0.0) / (hours * SECONDS_PER_HOUR), "unit": unit}


def _number(cell: str) -> float | None:
    return float(cell) if cell else None
