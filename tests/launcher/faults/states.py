"""Rows: the ledger, the disk and the clock."""

from __future__ import annotations

from tests.launcher.faults.acts import (
    after,
    command,
    damages,
    damages_a_line,
    forgets,
    launching,
    left,
    writes,
    writing_locked,
)
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.world import H100_AT_LAMBDA, WorldOfFaults

LEDGER = "workspace/ledger.sqlite"
AGAIN = {"FAULT_BOOT": "another-boot"}


def ledger_is_a_folder(world: WorldOfFaults) -> None:
    """Put a folder in the place of the ledger."""
    (world.home / "ledger.sqlite").mkdir()


def never_ends(world: WorldOfFaults) -> None:
    """Keep the job running."""
    world.sky.boot.job = "RUNNING"


STATES = (
    Fault(
        "full-submitted", "disk full from SUBMITTED on", "disk", "watched from memory, taken down",
        left("SUBMITTED", does="full"), 4, "SUBMITTED", said="the ledger does not know it",
    ),
    Fault(
        "full-running", "disk full from RUNNING on", "disk", "watched from memory, taken down",
        left("RUNNING", does="full"), 4, "RUNNING", said="the ledger does not know it",
    ),
    Fault(
        "full-running-lambda", "... at Lambda", "disk", "the same", left("RUNNING", does="full", on=H100_AT_LAMBDA),
        4, "RUNNING",
    ),
    Fault(
        "full-collected", "disk full from COLLECTED on", "disk", "taken down", left("COLLECTED", does="full"), 4,
        "COLLECTED",
    ),
    Fault(
        "full-planned", "disk full from PLANNED on", "disk", "nothing is submitted", left("PLANNED", does="full"), 2,
        "PLANNED",
    ),
    Fault(
        "full-then-space", "disk full at RUNNING, later there is space", "disk", "the next client finds it gone",
        left("RUNNING", COLLECT, does="full"), 4, GONE,
    ),
    Fault(
        "ledger-deleted-running", "ledger deleted under the client", "ledger", "watched from memory, taken down",
        left("RUNNING", does="delete"), 4, None,
    ),
    Fault(
        "ledger-damaged-running", "ledger overwritten under the client", "ledger", "watched from memory, taken down",
        left("RUNNING", does="damage"), 4, None,
    ),
    Fault(
        "ledger-deleted", "ledger deleted, then `down ID`", "ledger", "ended by its label",
        left("RUNNING", "launches down ID", then=(forgets(LEDGER),)), 4, None,
    ),
    Fault(
        "ledger-deleted-reap", "ledger deleted, then `reap`", "ledger", "an alarm: its folder is here",
        left("RUNNING", "launches reap --everywhere", then=(forgets(LEDGER),)), 4, None,
    ),
    Fault(
        "ledger-deleted-lambda", "... at Lambda, then `down ID`", "ledger", "ended by its name",
        left("RUNNING", "launches down ID", then=(forgets(LEDGER),), on=H100_AT_LAMBDA), 4, None,
    ),
    Fault(
        "ledger-damaged", "ledger overwritten, then `down ID`", "ledger", "ended by its label",
        left("RUNNING", "launches down ID", then=(damages,)), 4, None,
    ),
    Fault(
        "ledger-damaged-reap", "ledger overwritten, then `reap`", "ledger", "an alarm",
        left("RUNNING", REAP, then=(damages,)), 4, None,
    ),
    Fault(
        "line-damaged", "one line of the ledger damaged, then `down --all`", "ledger", "ended by its label",
        left("RUNNING", DOWN, then=(damages_a_line,)), 4, None,
    ),
    Fault(
        "line-damaged-reap", "one line of the ledger damaged, then `reap`", "ledger", "an alarm",
        left("RUNNING", REAP, then=(damages_a_line,)), 4, None,
    ),
    Fault(
        "ledger-locked", "the ledger is locked", "ledger", "taken down first, then said",
        after(left("RUNNING"), writing_locked(command("launches", "down", "--all"))), 4, "RUNNING",
    ),
    Fault(
        "ledger-folder", "a folder in the ledger's place", "ledger", "nothing is submitted",
        launching(ledger_is_a_folder), 2, None,
    ),
    Fault(
        "workspace-file", "a file in the workspace's place", "disk", "nothing is submitted",
        launching(writes("elsewhere", "a file"), PLANNER_HOME="elsewhere"), 2, None,
    ),
    Fault(
        "clock-forward", "clock 30 hours forward at RUNNING", "clock", "counts nothing",
        left("RUNNING", does="forward"), 0, GONE, "completed",
    ),
    Fault(
        "clock-back", "clock 30 hours back at RUNNING", "clock", "counts nothing", left("RUNNING", does="back"), 0,
        GONE, "completed",
    ),
    Fault(
        "clock-forward-next", "the next client's clock 30 hours forward", "clock", "time since the boot counts",
        left("RUNNING", COLLECT, FAULT_CLOCK_H="30"), 0, GONE, "completed",
    ),
    Fault(
        "clock-back-next", "the next client's clock 30 hours back", "clock", "time since the boot counts",
        left("RUNNING", COLLECT, FAULT_CLOCK_H="-30"), 0, GONE, "completed",
    ),
    Fault(
        "clock-forward-elsewhere", "another machine's clock 30 hours forward", "clock", "the provider's time counts",
        left("RUNNING", COLLECT, FAULT_CLOCK_H="30", **AGAIN), 0, GONE, "completed",
    ),
    Fault(
        "clock-back-elsewhere", "another machine's clock 30 hours back", "clock", "the provider's time counts",
        left("RUNNING", COLLECT, FAULT_CLOCK_H="-30", **AGAIN), 0, GONE, "completed",
    ),
    Fault(
        "clock-reap", "clock 30 hours forward, `reap` while the job runs", "clock", "it runs on",
        left("RUNNING", REAP, first=(never_ends,), FAULT_CLOCK_H="30"), 0, "RUNNING", runs_on=True,
    ),
    Fault(
        "clock-list", "clock 30 years back, then lists and bills", "clock", "shown",
        left("RUNNING", "launches list", "launches bill", first=(never_ends,), FAULT_CLOCK_H="-262800"), 0,
        "RUNNING", runs_on=True,
    ),
    Fault(
        "overdue", "no client runs for 30 hours, and the job still runs", "client", "its time is over: taken down",
        left("RUNNING", COLLECT, first=(never_ends,), FAULT_CLOCK_H="30", FAULT_AWAKE_H="30"), 4, GONE, "truncated",
    ),
    Fault(
        "overdue-reap", "... then `reap`", "client", "taken down",
        left("RUNNING", REAP, first=(never_ends,), FAULT_CLOCK_H="30", FAULT_AWAKE_H="30"), 0, GONE, "truncated",
    ),
)  # fmt: skip
