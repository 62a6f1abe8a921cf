"""Folder of a collected launch: `start-<n>/` of node 0, `node-<rank>/` of the others, logs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from planner.launcher.collect.incoming import LEFT_OUT, left_out_of
from planner.launcher.plan.backend import RESULT_NAME, SENTINEL, STEPS_NAME, Collected
from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run import Probe

PROBES_NAME = "probes.json"
READ_LIMIT_BYTES = 16 * 2**20
"""Limit of a JSON file. A million steps take 10 MB."""
LOG_LIMIT_BYTES = 64 * 2**20
STEP_LIMIT = 10_000
"""Maximum characters in one line of the steps file."""


def collected(folder: Path, *, run_id: str, nodes: int) -> Collected:
    """Look through the files that came home. A truncated result does not count, but its steps and log remain.

    Complete means that every node's sentinel line is in a log, so nothing was still to come.
    """
    starts = sorted(folder.glob("start-*"), key=_number)
    files = [path for start in starts if (path := start / RESULT_NAME).is_file()]
    problems = {path: problem for path in files if (problem := result_problem(path)) is not None}
    results = tuple(path for path in files if _raw_result(path) is not None)
    steps = tuple(path for start in starts if (path := start / STEPS_NAME).is_file())
    logs = sorted(path for path in folder.rglob("*.log") if path.is_file())
    done = {rank for log in logs for rank in _done_ranks(log, run_id)}
    return Collected(
        folder=folder,
        results=results,
        steps=steps,
        log=next(iter(logs), None),
        complete=done >= set(range(nodes)),
        problems=tuple(problems.values()),
        left_out=tuple(name for place in sorted(folder.rglob(LEFT_OUT)) for name in left_out_of(place.parent)),
    )


def read_result(path: Path) -> dict[str, Any] | None:
    """Return a valid result.json; None if it is missing, truncated or invalid."""
    try:
        return None if (document := _raw_result(path)) is None else _checked(document)
    except ValidationError:
        return None


def result_problem(path: Path) -> str | None:
    """Return why a result.json cannot be read; None if it can."""
    try:
        _checked(_parsed(path))
    except ValidationError as error:
        detail = error.errors(include_input=False, include_url=False)[0]
        return _unreadable(path, f"{'.'.join(map(str, detail['loc']))[:200]}: {detail['msg']}")
    except (OSError, ValueError) as error:
        return _unreadable(path, error.strerror or "" if isinstance(error, OSError) else str(error))
    return None


def _unreadable(path: Path, why: str) -> str:
    return f"{path.parent.name}/{path.name} cannot be read: {why[:500].rstrip('.')}."


def _checked(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document without secrets. Raises ValidationError if it is not a node's result."""
    result = NodeResult.model_validate(dict(document))
    return {**document, **{name: getattr(result, name) for name in CLEANED if name in document}}


CLEANED = (
    "error",
    "spec",
    "environment",
    "topology",
    "telemetry",
    "calibration",
    "probe",
    "sdpa_backend",
    "disk_problem",
)
"""Keys whose texts the model cleans."""


def _raw_result(path: Path) -> dict[str, Any] | None:
    """Return the raw JSON of a result; None if it is missing, truncated or of another kind."""
    try:
        return _parsed(path)
    except (OSError, ValueError):
        return None


def _parsed(path: Path) -> dict[str, Any]:
    """Return the JSON of a result. Raises OSError or ValueError with the reason if there is none."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("kind") != "result":
        raise ValueError("it is not a result of the benchmark")
    return document


def read_json(path: Path) -> Any:
    """Return a JSON file that a node wrote. Raises OSError or ValueError with the reason if it cannot be read."""
    if path.is_symlink():
        raise ValueError("it is a link")
    if path.stat().st_size > READ_LIMIT_BYTES:
        raise ValueError(f"it has over {READ_LIMIT_BYTES // 2**20} MiB")
    try:
        return json.loads(path.read_bytes().decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 (byte {error.start})") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"it is cut off or no JSON: {error.msg}, line {error.lineno}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def _no_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is not a number")


def read_probes(folder: Path) -> tuple[Probe, ...]:
    """Return the micro-batches that were tried beside the run; none if the file is missing or incomplete."""
    try:
        return tuple(TypeAdapter(list[Probe]).validate_python(read_json(folder / "start-1" / PROBES_NAME)))
    except (OSError, ValueError):  # pydantic's error is a ValueError
        return ()


class StepLine(BaseModel):
    """One line of the steps file, with the fields that are shown."""

    model_config = ConfigDict(allow_inf_nan=False)

    phase: Literal["warmup", "measure"]
    step: Annotated[int, Field(strict=True, ge=0, le=10**12)]
    tokens: Annotated[float, Field(strict=True, ge=0, le=1e18)] | None = None
    images: Annotated[float, Field(strict=True, ge=0, le=1e18)] = 0.0
    seconds: Annotated[float, Field(strict=True, ge=0, le=1e12)]


def last_step(lines: Sequence[str]) -> str | None:
    """Return the progress of a job in words, from the end of its steps file. An incomplete line is skipped."""
    for line in reversed(lines):
        try:
            step = StepLine.model_validate(json.loads(line[:STEP_LIMIT]))
        except (ValueError, RecursionError):
            continue
        count, unit = (step.images, "images") if step.tokens is None else (step.tokens, "tokens")
        return f"{step.phase} step {step.step}, {count / step.seconds if step.seconds > 0 else 0.0:,.0f} {unit}/s"
    return None


def _done_ranks(log: Path, run_id: str) -> list[int]:
    """Return the ranks whose sentinel is in a log. Only the end of a large log is read."""
    pattern = rf"{SENTINEL} run={re.escape(run_id)} rank=(\d{{1,9}}) exit=\d+"
    return [int(rank) for rank in re.findall(pattern, log_end(log))]


def log_end(log: Path, limit_bytes: int = LOG_LIMIT_BYTES) -> str:
    """Return the last part of a log. Bytes that are not UTF-8 are replaced."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - limit_bytes))
            return file.read(limit_bytes).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _number(folder: Path) -> int:
    digits = re.sub(r"\D", "", folder.name)
    return int(digits) if digits else 0
