"""The fault table as it stands in docs/launching.md; `make golden` writes it anew."""

from __future__ import annotations

from pathlib import Path

from tests.launcher.faults.fault import Fault
from tests.launcher.faults.table import FAULTS
from tests.launcher.faults.witnesses import proven_by

PAGE = Path(__file__).parents[3] / "docs" / "launching.md"
BEGIN, END = "<!-- faults -->\n", "<!-- end of faults -->\n"
HEAD = "| fault | in | what happens | ledger | proven | exit | USD lost |\n|---|---|---|---|---|---|---|\n"


def table() -> str:
    """Return the rows as Markdown."""
    return HEAD + "".join(_line(fault) for fault in FAULTS)


def page(text: str) -> str:
    """Return the page with the table of today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


def _line(fault: Fault) -> str:
    ledger = "-" if fault.state is None else fault.state.replace("|", " or ")
    came = "" if fault.outcome is None else f", {fault.outcome.replace('|', ' or ')}"
    lost = "undetectable" if fault.undetectable and not fault.lost_usd else f"{fault.lost_usd:.0f}"
    lost += " a day, undetectable" if fault.undetectable and fault.lost_usd else ""
    proven = " or ".join(proven_by(fault)) or "-"
    cells = (fault.fault, fault.where, fault.happens, f"{ledger}{came}", proven, str(fault.exit_code), lost)
    return f"| {' | '.join(cells)} |\n"
