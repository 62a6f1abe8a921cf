"""Follows launches: one line for each target while they run, then tables and their outcome."""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NoReturn

import typer

from planner.cli.streams import say
from planner.cli.visible_output import Drawn
from planner.errors import NodeError, PlannerError, StoreError
from planner.launcher.documents import BillDocument, LaunchState, ReapDocument
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry
from planner.launcher.plan.backend import NodeStatus
from planner.model.quantity import Quantity
from planner.present.table import Row
from planner.text.visible_text import visible_text
from planner.use_cases.launching.launches import Launches

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


TROUBLE = ("PROBLEM", "REFUSED", "MISMATCH", "NO_RECORD", "STILL_UP", "SETUP_FAILED", "FAILED", "LOST")

ALWAYS_TOLD = ("LEFT_OUT",)
"""Kinds of events that the user is told even if a launch completed."""


def watched(
    launches: Launches, run_ids: Sequence[str], go: Callable[[Callable[[], None]], list[LedgerEntry]]
) -> list[LedgerEntry]:
    """Run `go` with a live view of these launches. On Ctrl-C print how to follow or stop them."""

    def entries() -> list[LedgerEntry]:
        return [entry for entry in launches.ledger.entries() if entry.launch.run_id in run_ids]

    try:
        return go(LiveView(entries, lambda: launches.watch.latest))
    except KeyboardInterrupt:
        say("The launches go on without this client, within their limits. Follow them with: planner launches collect")
        say(f"Take them down with: planner launches down {' '.join(run_ids)}")
        raise


def conclude(
    launches: Launches, entries: Sequence[LedgerEntry], unread: Mapping[str, StoreError] | None = None
) -> None:
    """Print what came of launches; end with code 4 unless all of them completed and nothing runs any more.

    `unread` are launches of which the ledger cannot say anything.
    """
    for entry in entries:
        run_id = entry.launch.run_id
        record = f"record {entry.record_id}" if entry.record_id else "no record"
        outcome = entry.outcome.value if entry.outcome else "under way"
        say(f"{entry.launch.target.id}: {outcome}, {entry.state.value}, {record}. In {launches.folder / run_id}")
        shown = ALWAYS_TOLD if entry.outcome is LaunchOutcome.COMPLETED else (*ALWAYS_TOLD, *TROUBLE)
        trouble = [event.text for event in launches.ledger.events(run_id) if event.kind in shown and event.text]
        for text in dict.fromkeys(trouble):
            say(f"  {text}")
    still = [entry.launch.run_id for entry in entries if entry.open]
    if still:
        not_down(launches, still)
    end_badly_if_unread(unread or {})
    bad = [entry.launch.run_id for entry in entries if entry.outcome is not LaunchOutcome.COMPLETED]
    unrecorded = [
        entry.launch.run_id for entry in entries if entry.record_id is None and entry.launch.run_id not in bad
    ]
    if bad or unrecorded:
        said = f"{', '.join(bad)} did not complete" if bad else f"{', '.join(unrecorded)} left no record"
        end_badly(f"{said}; nothing is left running.", fix=f"See: planner launches show {(bad or unrecorded)[0]}")


def not_down(launches: Launches, run_ids: Sequence[str]) -> NoReturn:
    """End with code 4: these launches may still run, with the reason why that is uncertain."""
    for run_id in run_ids:
        with contextlib.suppress(PlannerError):  # nothing is written for a launch that the ledger does not know
            if why := launches.why_open(run_id):
                say(f"  {run_id}: {why}")
    end_badly(f"{', '.join(run_ids)}: machines may still run.", fix="Check again with: planner launches reap")


def end_badly_if_unread(unread: Mapping[str, StoreError]) -> None:
    """End with code 4 if launches cannot be read: each of them may run."""
    for error in unread.values():
        say(f"  {error.message}")
    if unread:
        end_badly(
            f"{', '.join(unread)}: cannot be read in the ledger, and may run.",
            fix=f"See: planner launches reap; take down: planner launches down {' '.join(unread)}",
        )


def end_badly(message: str, *, fix: str) -> NoReturn:
    """End with the code of a machine that failed, after the only document was printed."""
    say(f"Error: {message}")
    say(fix)
    raise typer.Exit(NodeError.exit_code)
