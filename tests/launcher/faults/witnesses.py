"""By what each row's launch is proven gone: the column "proven" of the table."""

from __future__ import annotations

from collections.abc import Mapping

from launcher.drive.gone import BY_ID
from tests.launcher.faults.fault import Fault

PROVEN_GONE = "DOWN_VERIFIED"
NOTHING_SUBMITTED = "nothing was submitted"
OTHERWISE: Mapping[str, tuple[str, ...]] = {}
"""Rows whose proof is not the usual one, by its kind."""
OF_ROW = {row: kind for kind, rows in OTHERWISE.items() for row in rows}


def proven_by(fault: Fault) -> tuple[str, ...]:
    """Return what may prove the end of this row's launches: usually that the provider lists every id as ended."""
    if PROVEN_GONE not in (fault.state or ""):
        return ()
    return tuple(OF_ROW.get(fault.id, BY_ID).split("|"))
