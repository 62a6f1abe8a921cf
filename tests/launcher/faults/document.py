"""The fault table as users read it, docs/launch_faults.csv; `make golden` writes it anew."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tests.launcher.faults.fault import Fault
from tests.launcher.faults.table import FAULTS
from tests.launcher.faults.witnesses import proven_by

FAULT_TABLE = Path(__file__).parents[3] / "docs" / "launch_faults.csv"
HEAD = ("fault", "in", "what happens", "ledger", "proven", "exit", "USD lost")


def fault_table() -> str:
    """Return the rows as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([HEAD, *(_row(fault) for fault in FAULTS)])
    return text.getvalue()


def _row(fault: Fault) -> tuple[str, ...]:
    ledger = "-" if fault.state is None else fault.state.replace("|", " or ")
    came = "" if fault.outcome is None else f", {fault.outcome.replace('|', ' or ')}"
    lost = "undetectable" if fault.undetectable and not fault.lost_usd else f"{fault.lost_usd:.0f}"
    lost += " a day, undetectable" if fault.undetectable and fault.lost_usd else ""
    proven = " or ".join(proven_by(fault)) or "-"
    return (fault.fault, fault.where, fault.happens, f"{ledger}{came}", proven, str(fault.exit_code), lost)
