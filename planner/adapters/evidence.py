"""Reads tables of published measurements and the calibration that was made of them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.documents import parse_mapping, parse_model, read_text
from planner.adapters.workspace import catalogs_dir
from planner.errors import InputError
from planner.model.calibration import Calibration
from planner.model.evidence import COLUMNS, Measurement

TABLE_LIMIT_BYTES = 50_000_000
NEEDED = ("id", "source", "gpu", "num_gpus")
FOLDER = "evidence"
CALIBRATION = "calibration.json"
IMAGE_CALIBRATION = "calibration_images.json"
"""What was learnt of image networks."""


def read_measurements(path: Path) -> list[Measurement]:
    """Read a table of measurements; columns that we do not know are ignored, some may be missing."""
    text = read_text(path, limit_bytes=TABLE_LIMIT_BYTES, fix="Give a CSV file of measurements.")
    reader = csv.DictReader(io.StringIO(text))
    names = reader.fieldnames or []
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise InputError(
            f"{path}:1: the column {missing[0]} is missing.",
            fix="Write a header with at least: " + ",".join(NEEDED) + ",n_layers,hidden,n_heads,tokens_per_s_per_gpu",
        )
    rows = []
    seen: dict[str, int] = {}
    for cells in reader:
        rows.append(_row(path, reader.line_num, cells))
        name = rows[-1].id
        if name in seen:
            raise InputError(
                f"{path}:{reader.line_num}: id: '{name}' stands in line {seen[name]} already.",
                fix="Give every row an id of its own.",
            )
        seen[name] = reader.line_num
    return rows


def _row(path: Path, line: int, cells: dict[str, str]) -> Measurement:
    known = {name: cells[name] for name in COLUMNS if cells.get(name)}
    try:
        return Measurement.model_validate(known)
    except (ValidationError, ValueError) as error:
        if not isinstance(error, ValidationError):
            raise InputError(f"{path}:{line}: {error}.", fix="Write plain digits.") from error
        detail = error.errors()[0]
        column = str(detail["loc"][0]) if detail["loc"] else "the row"
        raise InputError(
            f"{path}:{line}: {column}: {detail['msg'].removeprefix('Value error, ')} "
            f"(found {known.get(column, '')!r}).",
            fix="Write plain digits with a point, and leave unknown cells empty.",
        ) from error


def evidence_files(workspace: Path | None = None) -> list[Path]:
    """Return the bundled tables, then the user's own."""
    folders = [catalogs_dir() / FOLDER] + ([workspace / FOLDER] if workspace is not None else [])
    return [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.csv"))]


def read_calibration(path: Path | None = None) -> Calibration:
    """Read the calibration that ships with the product, or another one."""
    found = path or catalogs_dir() / FOLDER / CALIBRATION
    fix = "Make it anew with: make calibrate"
    text = read_text(found, limit_bytes=TABLE_LIMIT_BYTES, fix=fix)
    return parse_model(
        Calibration, parse_mapping(text, where=str(found), fix=fix), where=str(found), text=text, fix=fix
    )
