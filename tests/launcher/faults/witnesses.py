"""Proof that each row's launch is gone: the column "proven" of the table."""

from __future__ import annotations

from collections.abc import Mapping

from planner.launcher.drive.gone import BY_ABSENCE, BY_HOST, BY_ID, BY_LABEL
from tests.launcher.faults.fault import Fault

PROVEN_GONE = "DOWN_VERIFIED"
NOTHING_SUBMITTED = "nothing was submitted"
OTHERWISE: Mapping[str, tuple[str, ...]] = {
    BY_LABEL: (
        "killed-submitting",
        "killed-submitted",
        "killed-lost",
        "stopped",
        "refused",
        "half-booted",
        "half-booted-lambda",
        "half-booted-nodes",
        "late",
        "late-lambda",
        "late-killed",
        "late-down",
        "elsewhere",
        "elsewhere-failed",
        "elsewhere-free",
        "other-machine",
        "nameless-lies",
        "unlabelled-lies",
        "unlabelled-lies-lambda",
        "unlabelled-lies-for-ever",
        "ends-submitting",
        "ends-submitting-lambda",
        "silent-at-launch",
        "two-targets",
        "late-clock",
        "late-down-terminated",
        "stands-still-submitting",
        "mismatch-late",
    ),
    BY_ABSENCE: (
        "killed-running-lambda",
        "forgets-lambda",
        "down-lies-lambda",
        "machine-ended-lambda",
        "lambda-key-elsewhere",
        "stands-still-forgotten",
        "lambda-repeats-later",
        "lambda-empty",
        "lambda-renamed",
        "lambda-renamed-empty",
        "lambda-renamed-running",
        "lambda-rotated",
        "lambda-rotated-empty",
        "lambda-rotated-trusted",
    ),
    BY_HOST: (
        "footer",
        "silent-host",
        "host-daemon",
        "host-clone",
        "host-clone-reap",
        "host-other",
    ),
    NOTHING_SUBMITTED: (
        "killed-planned",
        "killed-planned-reap",
    ),
    f"{BY_ID}|{BY_ABSENCE}": ("one-of-two",),
    f"{BY_ID}|{BY_LABEL}": ("down-while-submitting",),  # whether the submission has answered by then
}
"""Rows whose proof is not the usual one, by its kind."""
OF_ROW = {row: kind for kind, rows in OTHERWISE.items() for row in rows}


def proven_by(fault: Fault) -> tuple[str, ...]:
    """Return what may prove the end of this row's launches: usually that the provider lists every id as ended."""
    if PROVEN_GONE not in (fault.state or ""):
        return ()
    return tuple(OF_ROW.get(fault.id, BY_ID).split("|"))
