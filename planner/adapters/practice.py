"""Reads the table of whole trainings."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from pydantic import ValidationError

from planner.adapters.csv_rows import csv_errors, wrong_cell
from planner.adapters.documents import read_model, read_text
from planner.adapters.workspace import catalogs_dir
from planner.model.evidence.measurement import Measurement
from planner.model.evidence.whole_training import METRICS, PracticeFit, WholeTraining, usual_count
from planner.quantity.time_units import SECONDS_PER_HOUR

FOLDER = "practice"
TABLE = "whole_trainings.csv"
FIT = "practice.json"
NODE = 8
"""Accelerators of a node if the row does not say."""


def whole_trainings() -> list[WholeTraining]:
    """Return the bundled table."""
    return read_whole_trainings(catalogs_dir() / FOLDER / TABLE)


def read_whole_trainings(path: Path) -> list[WholeTraining]:
    """Read a table with the columns of measurements (without a rate), and data, hours, kind, team, url, excluded."""
    text = read_text(path, limit_bytes=5_000_000, fix="Give a CSV file of whole trainings.")
    with csv_errors(path, reader := csv.DictReader(io.StringIO(text))):
        return [_training(path, reader.line_num, cells) for cells in reader]


def read_practice(root: Path) -> PracticeFit | None:
    """Return the fit made from whole trainings; None if a folder of catalogs has no such file."""
    path = root / FOLDER / FIT
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
