"""A watch that goes on where the ledger cannot be written or read: what a client knows by itself, and its deadline."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from launcher.ledger.entry import Entry, State
from launcher.plan.backend import Backend, Evidence
from planner.errors import PlannerError

SAID_EVERY = timedelta(minutes=1)


@dataclass
class Unwritten:
    """What this client knows of a launch, whatever the ledger says; kept in memory for as long as it watches."""

    entry: Entry
    """As the ledger last told it."""
    handed: bool = False
    """Whether the backend may have been asked for machines since then."""
    deadline_at: datetime | None = None
    """When everything is taken down; None before machines were asked for."""
    down: Evidence | None = None
    """The proof that nothing is left, which could not be written."""
    _said_at: datetime | None = field(default=None, repr=False)

    @property
    def may_run(self) -> bool:
        """Whether there may be machines."""
        return self.down is None and (self.handed or self.entry.state not in (State.PLANNED, State.DOWN_VERIFIED))

    def say(self, tell: Callable[[str], None], problem: object, *, now: datetime) -> None:
        """Tell the person, at most once a minute, what is wrong and what happens meanwhile."""
        if self._said_at is not None and timedelta(0) <= now - self._said_at < SAID_EVERY:
            return
        self._said_at = now
        until = "" if self.deadline_at is None else f"; it is taken down at {self.deadline_at:%H:%M} UTC at the latest"
        tell(f"{self.entry.launch.run_id}: {problem} The launch is watched all the same{until}.")

    def watch(self, backend: Backend, *, now: datetime, collect: Callable[[Entry], None]) -> None:
        """Look once, without the ledger: when the job or its time is over, bring home what there is and take it down.

        What fails is tried again at the next look.
        """
        launch = self.entry.launch
        late = self.deadline_at is not None and now >= self.deadline_at
        if not late and not backend.status(launch).phase.is_over:
            return
        with contextlib.suppress(Exception):  # whatever came stays where it is; the machine costs money
            collect(self.entry)
        take_down(backend, self)


def fault_text(error: BaseException) -> str:
    """Return what went wrong in a sentence; of what is no error of ours with its kind, which names the fault."""
    return str(error) if isinstance(error, PlannerError) else f"{type(error).__name__}: {error}."


def take_down(backend: Backend, known: Unwritten) -> None:
    """Take a launch down and ask whether anything is left of it."""
    launch = known.entry.launch
    try:
        backend.down(launch)
    finally:
        evidence = backend.verify_down(launch)
        if evidence.down:
            known.down = evidence
