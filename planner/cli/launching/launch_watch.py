"""Follows launches from the command line, and reports their outcome."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

import typer

from planner.cli.launching.launch_view import LiveView
from planner.cli.streams import say
from planner.errors import NodeError, PlannerError, StoreError
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry
from planner.use_cases.launching.launches import Launches

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
        told = ALWAYS_TOLD if entry.outcome is LaunchOutcome.COMPLETED else (*ALWAYS_TOLD, *TROUBLE)
        trouble = [event.text for event in launches.ledger.events(run_id) if event.kind in told and event.text]
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
