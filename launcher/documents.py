"""Documents that `planner launch` and `planner launches` print."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from planner.launcher.ledger.entry import Event, LaunchOutcome, State
from planner.launcher.plan.backend import DownEvidence
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
    """Id of the answer that asked for the launch."""
    notes: tuple[Text, ...] = ()
    checks: tuple[Said, ...] = ()
    """Results of `--check`."""


class LaunchDocument(Frozen):
    """Document of `planner launch`: the bill first, then the outcome."""

    schema_version: Literal[1] = 1
    kind: Literal["launch"] = "launch"
    dry_run: bool
    worst_case_usd: NonNegative | None
    """Worst case of all targets; null if none of them has a price."""
    max_usd: NonNegative | None
    launches: tuple[PlannedLaunch, ...]
    results: tuple[LaunchState, ...] = ()


class LaunchState(Frozen):
    """Current state of one launch."""

    run_id: Text
    cluster: Text
    workload: Text
    target: Text
    state: State
    outcome: LaunchOutcome | None
    planned_at: datetime
    submitted_at: datetime | None
    deadline_at: datetime | None
    ended_at: datetime | None
    worst_case_usd: NonNegative | None
    billed: Quantity | None
    record_id: Text | None


class LaunchStory(Frozen):
    """One launch with all its events."""

    schema_version: Literal[1] = 1
    kind: Literal["launch_story"] = "launch_story"
    launch: LaunchState
    planned: PlannedLaunch
    events: tuple[Event, ...]
    folder: Text


class FoundResource(Frozen):
    """A running resource, with what the ledger says of it."""

    name: Said
    where: Said
    run_id: str | None
    detail: Said
    verdict: Literal["as planned", "should be gone", "not in this ledger", "cannot be asked", "not asked"]
    alarm: bool
    """True if it may run without a driver."""
    evidence: DownEvidence | None = None
    """Evidence after it was taken down."""


class LaunchesDocument(Frozen):
    """All launches of the ledger."""

    schema_version: Literal[1] = 1
    kind: Literal["launches"] = "launches"
    launches: tuple[LaunchState, ...]
    found: tuple[FoundResource, ...] = ()
    """Resources that were taken down by id alone, because the ledger does not know them."""


class ReapDocument(Frozen):
    """Everything that runs anywhere, compared with the ledger."""

    schema_version: Literal[1] = 1
    kind: Literal["reap"] = "reap"
    found: tuple[FoundResource, ...]
    settled: tuple[LaunchState, ...]
    """Launches that were open and overdue, with their current state."""


class BilledLine(Frozen):
    """Planned cost of one launch, its cost by the ledger, and its cost by the provider."""

    run_id: Text
    target: Text
    worst_case_usd: NonNegative | None
    ledger: Quantity | None
    provider_usd: NonNegative | None
    provider_note: Said
    """Source of the provider's figure, or the reason why there is none."""


class BillDocument(Frozen):
    """Estimate, ledger and provider side by side."""

    schema_version: Literal[1] = 1
    kind: Literal["bill"] = "bill"
    lines: tuple[BilledLine, ...]
