"""Reads files of runs by their kind: run records, results of the benchmark, and exports of `planner runs export`.

To add a kind of JSON or YAML file, add a reader to `READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner.adapters.catalog import accelerator_aliases
from planner.adapters.documents import RECORD_LIMIT_BYTES, check_version, parse_model, read_text
from planner.adapters.mapping_text import parse_mapping
from planner.adapters.user_text import without_secrets
from planner.errors import InputError
from planner.launcher.collect.expectations import GetExpected
from planner.launcher.collect.probe_record import is_probe, probe_record_of
from planner.launcher.collect.record import record_of
from planner.model.evidence.probe import ProbeRecord
from planner.model.evidence.run import RunRecord

NO_ID = re.compile(r"[\s()\[\],;]+")
SIZE = re.compile(r"(?<=\d) +(?=gi?b?\b)", re.IGNORECASE)
"""Blanks between a memory size and its unit."""
FIX = "Give a run record, or the result.json that the benchmark wrote."


def records_in(path: Path, expect: GetExpected) -> list[RunRecord]:
    """Return the runs in a file of any known kind. `expect` computes the expected values of benchmark results."""
    data = read_run_file(path)
    return READERS.get(str(data.get("kind")), _record)(data, str(path), expect)


def probe_in(path: Path) -> ProbeRecord | None:
    """Return the probe in a file, a record or a result; None for another kind of file."""
    data = read_run_file(path)
    if data.get("kind") == "result" and is_probe(data):
        return probe_record_of(data, aliases=accelerator_aliases(), where=str(path))
    if "kernels" in data:
        return parse_model(ProbeRecord, data, where=str(path), fix="See the schema with: planner schema probe")
    return None


def read_result(path: Path, *, fix: str) -> dict[str, Any]:
    """Read a benchmark result as plain data. Raises InputError with `fix` for another kind of file."""
    data = read_run_file(path)
    if data.get("kind") != "result":
        raise InputError(f"{path}: is not a benchmark result.", fix=fix)
    return data


def read_run_file(path: Path) -> dict[str, Any]:
    """Read a file of runs as plain data. Its `kind` names its content."""
    text = read_text(path, limit_bytes=RECORD_LIMIT_BYTES, fix=FIX)
    data = parse_mapping(text, where=str(path), fix=FIX)
    check_version(data, where=str(path))
    is_result = data.get("kind") == "result"  # its own model hides secrets
    return data if is_result else without_secrets(data, text=text, where=str(path))


def parse_run(data: dict[str, Any], *, where: str) -> RunRecord:
    """Validate a RunRecord. Its accelerator may contain spaces: "NVIDIA A100 80GB" is NVIDIA-A100-80GB."""
    hardware = data.get("hardware")
    if isinstance(hardware, dict) and isinstance(name := hardware.get("accelerator"), str):
        spelled = NO_ID.sub("-", SIZE.sub("", name)).strip("-")
        data = {**data, "hardware": {**hardware, "accelerator": spelled or name}}
    return parse_model(RunRecord, data, where=where, fix="See the schema with: planner schema run")


def _record(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:  # noqa: ARG001  as READERS want it
    return [parse_run(data, where=where)]


def _result(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:
    return [record_of([data], aliases=accelerator_aliases(), where=where, expect=expect)]


def _exported(data: dict[str, Any], where: str, expect: GetExpected) -> list[RunRecord]:  # noqa: ARG001
    listed = data.get("runs")
    if not isinstance(listed, list) or not all(isinstance(run, dict) for run in listed):
        raise InputError(f"{where}: runs: must be a list of run records.", fix="Write it with: planner runs export")
    return [parse_run(run, where=f"{where}: run {index}") for index, run in enumerate(listed)]


READERS: dict[str, Callable[[dict[str, Any], str, GetExpected], list[RunRecord]]] = {
    "result": _result,
    "runs": _exported,
}
"""Readers by the `kind` of a file. A run record has no kind."""
