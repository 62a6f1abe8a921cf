"""The folder of a collected launch: `start-<n>/` of node 0, `node-<rank>/` of the others, logs."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from launcher.plan.backend import RESULT_NAME, SENTINEL, STEPS_NAME, Collected
from planner.model.evidence.run import Probe

PROBES_NAME = "probes.json"
READ_LIMIT_BYTES = 64 * 2**20


def collected(folder: Path, *, run_id: str, nodes: int) -> Collected:
    """Look through what came home. A result that is cut off is no result: its steps and log remain.

    Complete means that the sentinel line of every node stands in a log, so nothing was still to come.
    """
    starts = sorted(folder.glob("start-*"), key=_number)
    results = tuple(path for start in starts if read_result(path := start / RESULT_NAME) is not None)
    steps = tuple(path for start in starts if (path := start / STEPS_NAME).is_file())
    logs = sorted(folder.rglob("*.log"))
    done = {rank for log in logs for rank in _done_ranks(log, run_id)}
    return Collected(
        folder=folder,
        results=results,
        steps=steps,
        log=next(iter(logs), None),
        complete=done >= set(range(nodes)),
    )


def read_result(path: Path) -> dict[str, Any] | None:
    """Return a result.json, or None where it is missing or cut off."""
    try:
        if path.stat().st_size > READ_LIMIT_BYTES:
            return None
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) and document.get("kind") == "result" else None


def read_probes(folder: Path) -> tuple[Probe, ...]:
    """Return the micro-batches that were tried beside the run; none where there are none, or no whole file."""
    try:
        return tuple(TypeAdapter(list[Probe]).validate_json((folder / "start-1" / PROBES_NAME).read_bytes()))
    except (OSError, ValidationError):
        return ()


def last_step(lines: Sequence[str]) -> str | None:
    """Return in words how far a job has come, from the end of its steps file; a half-written line is skipped."""
    for line in reversed(lines):
        try:
            step = json.loads(line)
            rate = step["tokens"] / step["seconds"] if step["seconds"] > 0 else 0.0
            return f"{step['phase']} step {step['step']}, {rate:,.0f} tokens/s"
        except (ValueError, KeyError, TypeError):
            continue
    return None


def _done_ranks(log: Path, run_id: str) -> list[int]:
    text = log.read_text(encoding="utf-8", errors="replace")
    return [int(rank) for rank in re.findall(rf"{SENTINEL} run={re.escape(run_id)} rank=(\d+) exit=\d+", text)]


def _number(folder: Path) -> int:
    digits = re.sub(r"\D", "", folder.name)
    return int(digits) if digits else 0
