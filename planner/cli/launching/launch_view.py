"""Views of launches: one line for each target while they run, tables after."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from planner.cli.visible_output import Drawn
from planner.launcher.documents import BillDocument, LaunchState, ReapDocument
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.plan.backend import NodeStatus
from planner.model.quantity import Quantity
from planner.present.table import Row
from planner.text.visible_text import visible_text

LINE_WIDTH = 118


def state_rows(states: Sequence[LaunchState]) -> list[Row]:
    """Return launches as a table."""
    return [
        {
            "launch": state.run_id,
            "target": state.target,
            "workload": state.workload,
            "state": state.state.value,
            "outcome": state.outcome.value if state.outcome else "",
            "planned": f"{state.planned_at:%Y-%m-%d %H:%M}",
            "worst case USD": _number(state.worst_case_usd),
            "billed USD": _number(state.billed.value if state.billed else None),
            "record": state.record_id or "",
        }
        for state in states
    ]


def bill_rows(document: BillDocument) -> list[Row]:
    """Return estimate, ledger and provider side by side."""
    return [
        {
            "launch": line.run_id,
            "target": line.target,
            "worst case USD": _number(line.worst_case_usd),
            "ledger USD": _quantity(line.ledger),
            "provider USD": _number(line.provider_usd),
            "provider says": line.provider_note,
        }
        for line in document.lines
    ]


def reaped_rows(document: ReapDocument) -> list[Row]:
    """Return running resources as a table."""
    return [
        {
            "name": machine.name,
            "where": machine.where,
            "verdict": machine.verdict,
            "detail": machine.detail,
            "after": "; ".join(machine.evidence.checks) if machine.evidence else "",
        }
        for machine in document.found
    ]


class LiveView:
    """Shows one line for each launch on stderr: redrawn in place on a terminal, printed on changes elsewhere."""

    def __init__(
        self,
        entries: Callable[[], Sequence[LedgerEntry]],
        latest: Callable[[], dict[str, NodeStatus]],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(tz=UTC),
    ) -> None:
        self._entries = entries
        self._latest = latest
        self._now = now
        self._drawn: list[str] = []

    def __call__(self) -> None:
        """Draw what is new."""
        now, latest = self._now(), dict(self._latest())
        pairs = [(entry, latest.get(entry.launch.run_id)) for entry in self._entries()]
        if sys.stderr.isatty():
            width = min(LINE_WIDTH, shutil.get_terminal_size().columns - 1)  # a line that wraps cannot be redrawn
            lines = [_line(entry, status, now)[:width] for entry, status in pairs]
            up = f"\x1b[{len(self._drawn)}A" if self._drawn else ""
            sys.stderr.write(Drawn(up + "".join(f"\r\x1b[2K{line}\n" for line in lines)))
            sys.stderr.flush()
        else:
            lines = [_line(entry, status, None) for entry, status in pairs]
            for line in lines:
                if line not in self._drawn:
                    print(line, file=sys.stderr, flush=True)
        self._drawn = lines


def _line(entry: LedgerEntry, status: NodeStatus | None, now: datetime | None) -> str:
    """Return one launch in words; with the minutes since submission if the line is redrawn anyway."""
    parts = [entry.launch.target.id, entry.launch.run_id, entry.state.value]
    if entry.outcome is not None:
        parts.append(entry.outcome.value)
    if now is not None and entry.open and entry.submitted_at is not None:
        parts.append(f"{max(0.0, (now - entry.submitted_at).total_seconds()) / 60:.1f} min")
    if entry.open and status is not None:
        parts.append(status.phase.value.replace("_", " "))
        if now is not None:
            parts += [word for word in (status.progress, status.detail) if word]
        elif status.detail:
            parts.append(status.detail)
    return visible_text("  ".join(" ".join(part.split()) for part in parts))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}"


def _quantity(quantity: Quantity | None) -> str:
    return "" if quantity is None else f"{quantity.value:,.2f} ({quantity.low:,.2f} to {quantity.high:,.2f})"
