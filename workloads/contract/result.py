"""Files that a run leaves: result.json (facts, written completely or not at all) and its steps as they happen.

The record exists from the first moment and is filled as facts become known. So a run that ends early still says what it
was, how far it came and why it ended. Only rank 0 writes.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence

from ..contract import failure

SCHEMA_VERSION = 1
METHOD_VERSION = 1  # raise it when the method changes: records of two methods are never averaged

WARMUP = "warmup"
MEASURE = "measure"


def steps_file(out: Path) -> Path:
    """Return the file for the steps of this result, one JSON object per line."""
    return out.with_name(f"{out.name}.steps.jsonl")


def write_atomically(path: Path, text: str) -> None:
    """Write to a new file in the same folder, flush it to the disk, and put it in place in one move."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)  # noqa: PTH105  (the same call; Path.replace adds nothing)
    finally:
        draft.unlink(missing_ok=True)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def finite_or_none(value: float) -> Optional[float]:
    """Return the value, or None if it is not finite: JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else None


def utc_now() -> str:
    """Return the current time in UTC, to the millisecond."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"


class Record:
    """Result document while it is being made. Ranks other than 0 keep one too and never write it."""

    def __init__(self, out: Path, *, rank: int, world_size: int, devices_per_node: int) -> None:
        self.out = out
        self._writes = rank == 0
        self._lock = threading.Lock()
        self._steps = 0
        self._unit = "tokens"
        self.document: Dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "kind": "result",
            "method_version": METHOD_VERSION,
            "exit_reason": None,
            "error": None,
            "spec": {},
            "parameters": None,
            "trained_parameters": None,
            "world_size": world_size,
            "nodes": world_size // devices_per_node,
            "devices_per_node": devices_per_node,
            "device_type": None,
            "backend": None,
            "global_batch": None,
            "warmup_steps": 0,
            "warmup_steady": False,
            "steps": 0,
            "step_seconds": [],
            "window_s": 0.0,
            "rank_step_seconds": [],
            "rank_work_seconds": [],
            "data_wait_s": None,
            "device_busy_seconds": None,
            "busy_before_share": None,
            "samples": 0,
            "tokens": 0,
            "padding_tokens": 0,
            "images": None,
            "phases": {},
            "losses_first10": [],
            "loss_last": None,
            "memory": {},
            "state_bytes": {},
            "matmul_flops_by_dtype": {},
            "sdpa_backend": None,
            "tf32_allowed": False,
            "topology": [],
            "calibration": None,
            "probe": None,
            "telemetry": None,
            "environment": {},
            "disk_problem": None,
            "started_at": utc_now(),
            "finished_at": None,
        }
        if self._writes:
            # An existing result is of an earlier run. If this run is killed, it must not pass for its result.
            out.unlink(missing_ok=True)
            self._on_disk(lambda: steps_file(out).write_text("", encoding="utf-8"))

    @property
    def phases(self) -> Dict[str, float]:
        """Seconds of each phase so far."""
        phases: Dict[str, float] = self.document["phases"]
        return phases

    def count_in(self, unit: str) -> None:
        """Count work in tokens or in images. With images there are no tokens and no padding."""
        self._unit = unit
        if unit == "images":
            self.document.update(tokens=None, padding_tokens=None, images=0)

    def add_steps(self, phase: str, step_seconds: Sequence[float], *, units: Sequence[int]) -> None:
        """Append rank 0's steps to the jsonl, with the world's real tokens or images in each. Keep the measured steps.

        Nothing is added once the thread that listens for the end has closed the record, so that file and record agree.
        """
        if not self._writes or not step_seconds:
            return
        with self._lock:
            if self.document["exit_reason"] is not None:
                return
            lines = []
            for seconds, real in zip(step_seconds, units):
                self._steps += 1
                row = {"step": self._steps, "phase": phase, "seconds": round(seconds, 9), self._unit: real}
                lines.append(json.dumps(row) + "\n")
            if self.document["disk_problem"] is None:
                self._on_disk(lambda: _append(steps_file(self.out), "".join(lines)))
            if phase == MEASURE:
                self.document["step_seconds"].extend(step_seconds)
                self.document[self._unit] += sum(units)

    def set_window(self, window_s: float) -> None:
        """Store the window: samples = steps * global batch.

        The part of samples * seq_len that is not real tokens is padding.
        """
        steps = len(self.document["step_seconds"])
        samples = steps * self.document["global_batch"]
        padding_tokens = None
        if self._unit == "tokens":
            padding_tokens = samples * self.document["spec"]["seq_len"] - self.document["tokens"]
        self.document.update(steps=steps, window_s=window_s, samples=samples, padding_tokens=padding_tokens)

    def set_losses(self, first: List[float], last: Optional[float]) -> None:
        """Store the mean loss over ranks of the first ten steps, and of the last."""
        self.document["losses_first10"] = [finite_or_none(loss) for loss in first]
        self.document["loss_last"] = None if last is None else finite_or_none(last)

    def close(self, exit_reason: str, error: Optional[str] = None) -> str:
        """Write result.json and return its exit reason. If called again (to add a phase), the first reason stays.

        A rank that only lost its peers, or was only told to stop, gives the reason of the rank that failed first.
        """
        with self._lock:
            document = self.document
            if document["exit_reason"] is None:
                if exit_reason in (failure.ERROR, failure.INTERRUPTED):
                    exit_reason, error = failure.first_reason(self.out) or (exit_reason, error)
                document.update(exit_reason=exit_reason, error=error)
                if document["step_seconds"] and not document["steps"]:
                    self.set_window(sum(document["step_seconds"]))  # the window was cut short
            document["finished_at"] = utc_now()
            if self._writes:
                self._on_disk(lambda: write_atomically(self.out, self.as_line() + "\n"))
            return str(document["exit_reason"])

    def _on_disk(self, write: Callable[[], object]) -> None:
        """Write. If the disk is full or gone, note it and continue: the record is still printed to stdout."""
        try:
            write()
        except OSError as error:
            self.document["disk_problem"] = error.strerror or str(error)

    def as_line(self) -> str:
        """Return the document on one line, as in result.json and on the last line of stdout."""
        return json.dumps(self.document, allow_nan=False)
