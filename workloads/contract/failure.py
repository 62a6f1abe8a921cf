"""Ends of a run that fails: their reasons, and how one rank's reason reaches rank 0.

A rank that fails leaves `<out>.rank<n>.error` and exits hard, because its peers wait in a collective and would never
return. torchrun then stops them, and rank 0 writes result.json with the reason of the rank that failed first.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Dict, Optional, Tuple

COMPLETED = "completed"
OUT_OF_MEMORY = "out_of_memory"
NOT_STEADY = "not_steady"
LOSS_NOT_FINITE = "loss_not_finite"
WRONG_BUILD = "wrong_build"
INTERRUPTED = "interrupted"
PEER_MISSING = "peer_missing"
DEVICE_BUSY = "device_busy"
ERROR = "error"
EXIT_REASONS = (
    *(COMPLETED, OUT_OF_MEMORY, NOT_STEADY, LOSS_NOT_FINITE, WRONG_BUILD, DEVICE_BUSY, PEER_MISSING, INTERRUPTED),
    ERROR,
)
NOTHING_MEASURED = (ERROR, WRONG_BUILD, DEVICE_BUSY, PEER_MISSING)
"""Ends that another batch or a longer window would not change."""

EXIT_CODES: Dict[str, int] = {COMPLETED: 0, NOT_STEADY: 0, INTERRUPTED: 130}
EXIT_FAILED = 1

OUT_OF_MEMORY_TEXTS = (
    *("out of memory", "can't allocate memory", "std::bad_alloc"),
    *("cublas_status_alloc_failed", "cudnn_status_alloc_failed"),  # libraries that found no room for their workspace
)


class RunError(Exception):
    """The run cannot continue, for one of the EXIT_REASONS."""

    def __init__(self, exit_reason: str, message: str) -> None:
        super().__init__(message)
        self.exit_reason = exit_reason


def exit_code(exit_reason: str) -> int:
    """Return 0 if there is a measurement to read, otherwise 1, or 130 for a run that was stopped."""
    return EXIT_CODES.get(exit_reason, EXIT_FAILED)


def reason_of(error: BaseException) -> str:
    """Return the exit reason of an exception. torch's CPU allocator raises a plain RuntimeError."""
    if isinstance(error, RunError):
        return error.exit_reason
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    text = str(error).lower()
    if isinstance(error, MemoryError) or any(sign in text for sign in OUT_OF_MEMORY_TEXTS):
        return OUT_OF_MEMORY
    return ERROR


def describe(error: BaseException) -> str:
    """Return the exception as one text: its message, after its type unless it is ours."""
    return str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"


def error_file(out: Path, rank: int) -> Path:
    """Return the file in which this rank leaves its reason."""
    return out.with_name(f"{out.name}.rank{rank}.error")


def leave_reason(out: Path, rank: int, exit_reason: str, message: str) -> None:
    """Write this rank's reason beside the result."""
    document = {"rank": rank, "exit_reason": exit_reason, "error": message, "at_unix_s": time.time()}
    error_file(out, rank).write_text(json.dumps(document) + "\n", encoding="utf-8")


def first_reason(out: Path) -> Optional[Tuple[str, str]]:
    """Return (exit reason, message) of the rank on this node that failed first. Later ones only lost their peer."""
    reasons = []
    for path in out.parent.glob(f"{out.name}.rank*.error"):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            reasons.append((document["at_unix_s"], document["exit_reason"], document["rank"], document["error"]))
        except (OSError, ValueError, KeyError):
            continue  # incomplete file of a rank that was killed: its peers' files say more
    if not reasons:
        return None
    _, exit_reason, rank, message = min(reasons)
    return exit_reason, f"rank {rank}: {message}"
