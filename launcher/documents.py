"""The documents that `planner launch` and `planner launches` print."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from planner.launcher.ledger.entry import Event, Outcome, State
from planner.launcher.plan.backend import Evidence
from planner.launcher.plan.bill import LaunchBill
from planner.launcher.plan.sighting import Said
from planner.launcher.plan.target import Target
from planner.model.base import Frozen, NonNegative, Text
from planner.model.quantity import Quantity


class PlannedLaunch(Frozen):
    """One launch as it would be, or was, submitted."""

    run_id: Text
    target: Target
    workload: Text
    bill: LaunchBill
    task: dict[str, Any]
    answer_id: str | None = None
    """The answer that asked for it."""
    notes: tuple[Text, ...] = ()
    checks: tuple[Said, ...] = ()
    """What `--check` saw."""


class LaunchDocument(Frozen):
    """What `planner launch` answers: the bill first, then what came of it."""

    schema_version: Literal[1] = 1
    kind: Literal["launch"] = "launch"
    dry_run: bool
    worst_case_usd: NonNegative | None
    """Of all targets; null where none of them has a price."""
    max_usd: NonNegative | None
    launches: tuple[PlannedLaunch, ...]
    results: tuple[LaunchState, ...] = ()


class LaunchState(Frozen):
    """Where one launch stands."""

    run_id: Text
    cluster: Text
    workload: Text
    target: Text
    state: State
    outcome: Outcome | None
    planned_at: datetime
    submitted_at: datetime | None
    deadline_at: datetime | None
    ended_at: datetime | None
    worst_case_usd: NonNegative | None
    billed: Quantity | None
    record_id: Text | None


class LaunchStory(Frozen):
    """One launch with all that happened to it."""

    schema_version: Literal[1] = 1
    kind: Literal["launch_story"] = "launch_story"
    launch: LaunchState
    planned: PlannedLaunch
    events: tuple[Event, ...]
    folder: Text


class Found(Frozen):
    """Something that runs, and what the ledger says of it."""

    name: Said
    where: Said
    run_id: str | None
    detail: Said
    verdict: Literal["as planned", "should be gone", "not in this ledger", "cannot be asked", "not asked"]
    alarm: bool
    """It may run, and nobody drives it."""
    evidence: Evidence | None = None
    """After it was taken down."""


class LaunchesDocument(Frozen):
    """Every launch of the ledger."""

    schema_version: Literal[1] = 1
    kind: Literal["launches"] = "launches"
    launches: tuple[LaunchState, ...]
    found: tuple[Found, ...] = ()
    """What was taken down by its id alone, for the ledger says nothing of it."""


class ReapDocument(Frozen):
    """What runs anywhere, compared with the ledger."""

    schema_version: Literal[1] = 1
    kind: Literal["reap"] = "reap"
    found: tuple[Found, ...]
    settled: tuple[LaunchState, ...]
    """Launches that were open and overdue, as they stand now."""


class BilledLine(Frozen):
    """What one launch was to cost, what the ledger says it did, and what the provider says."""

    run_id: Text
    target: Text
    worst_case_usd: NonNegative | None
    ledger: Quantity | None
    provider_usd: NonNegative | None
    provider_note: Said
    """Where the provider's figure comes from, or why there is none."""


class BillDocument(Frozen):
    """Estimate, ledger and provider side by side."""

    schema_version: Literal[1] = 1
    kind: Literal["bill"] = "bill"
    lines: tuple[BilledLine, ...]
