"""Single steps of a launch: submit it, look at it, bring its results home and take it down.

Every step reads the ledger and does the next thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from planner.errors import NodeError, PlannerError
from planner.launcher.drive.ending import Ending
from planner.launcher.drive.gone import (
    HANDED_OVER,
    may_still_appear,
)
from planner.launcher.drive.unwritten import Unwritten, fault_text
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry, State
from planner.launcher.plan.backend import Launch, LaunchPhase, NodeStatus
from planner.launcher.plan.guard import mismatches
from planner.launcher.plan.sighting import ANYTHING, Sight, Sighting

COLLECT_PATIENCE = timedelta(minutes=5)
"""Time for retrying to copy the results of a finished job before its machine is taken down."""
OUTCOMES = {
    LaunchPhase.SUCCEEDED: LaunchOutcome.COMPLETED,
    LaunchPhase.FAILED: LaunchOutcome.FAILED,
    LaunchPhase.SETUP_FAILED: LaunchOutcome.SETUP_FAILED,
    LaunchPhase.REFUSED: LaunchOutcome.REFUSED,
    LaunchPhase.LOST: LaunchOutcome.LOST,
}


@dataclass(frozen=True)
class LaunchSteps(Ending):
    """Does the next thing for a launch, once."""

    def step(self, run_id: str, *, submit: bool = False, known: Unwritten | None = None) -> LedgerEntry:
        """Do the next thing for a launch, once. Failures are written down and retried at the next step."""
        entry = self.ledger.entry(run_id)
        try:
            if entry.state is State.PLANNED and submit:
                self._submit(entry, known or Unwritten(entry))
            elif entry.state is State.PLANNED:
                self.abandon(run_id)
            elif entry.state in (State.SUBMITTED, State.RUNNING):
                self._look(entry)
            elif entry.state in (State.COLLECTED, State.LOST):
                self._take_down(entry)
        except NodeError as error:
            self._note_once(run_id, "PROBLEM", str(error))
        entry = self.ledger.entry(run_id)
        if known is not None:
            known.deadline_at = entry.launch.deadline_at or known.deadline_at
        return entry

    def _collect_unwritten(self, entry: LedgerEntry) -> None:
        self.backend.collect(entry.launch, self._home_of(entry.launch.run_id))

    def abandon(self, run_id: str) -> LedgerEntry:
        """Close an intent that was never submitted."""
        self.ledger.move(
            run_id,
            State.DOWN_VERIFIED,
            at=self.now(),
            text="nothing was submitted",
            outcome=LaunchOutcome.NEVER_SUBMITTED,
            expected=State.PLANNED,
        )
        return self.ledger.entry(run_id)

    def _submit(self, entry: LedgerEntry, known: Unwritten) -> None:
        """Write down that machines may exist, then ask for them. Being killed in between then errs on the safe side."""
        launch, at, instant = entry.launch, self.now(), self.elapsed.begin(entry.launch.run_id)
        deadline = at + timedelta(minutes=launch.bill.caps.watchdog_minutes)
        moved = self.ledger.move(
            launch.run_id,
            State.SUBMITTED,
            at=at,
            text=f"taken down at {deadline:%Y-%m-%d %H:%M} UTC at the latest",
            deadline_at=deadline,
            instant=instant,
            expected=State.PLANNED,
        )
        if not moved:
            return
        known.handed, known.deadline_at = True, deadline
        try:
            if not launch.target.through_sky:  # marks that identify the machines, before anything runs there
                self.see(launch.run_id, self.backend.sight(launch))
                launch = self.ledger.entry(launch.run_id).launch
            self.backend.submit(launch)
        except PlannerError as error:
            self.ledger.note(launch.run_id, "REFUSED", str(error), at=self.now())
            self._open_again(launch.run_id)
            self._bring_home(entry, LaunchOutcome.REFUSED, patience=timedelta(0))
            return
        self.ledger.note(launch.run_id, HANDED_OVER, "", at=self.now())
        self._open_again(launch.run_id)

    def _open_again(self, run_id: str) -> None:
        """Reopen a launch that another client closed, without waiting, while this one submitted."""
        if not self.ledger.entry(run_id).open:
            self.reopen(run_id, "machines were ordered after the proof: the client that did stood still before")

    def _look(self, entry: LedgerEntry) -> None:
        launch, run_id = entry.launch, entry.launch.run_id
        if self.is_late(entry):
            self.ledger.note(run_id, "WATCHDOG", "its time is over; everything is taken down", at=self.now())
            self._bring_home(entry, LaunchOutcome.TRUNCATED, patience=timedelta(0))
            return
        status = self.backend.status(launch)
        self.watch(run_id, status)
        self._see_machines(launch, status)
        if status.launched is not None:
            wrong = mismatches(launch.target, status.launched)
            if wrong:
                self.ledger.note(run_id, "MISMATCH", "; ".join(wrong), at=self.now())
                self.ledger.move(
                    run_id,
                    State.LOST,
                    at=self.now(),
                    text="another machine came",
                    outcome=LaunchOutcome.MISMATCH,
                    expected=entry.state,
                )
                self._take_down(self.ledger.entry(run_id))
                return
        if status.phase is LaunchPhase.UNKNOWN:
            self._note_once(run_id, "UNKNOWN", status.detail)
        elif status.phase in (LaunchPhase.LOST, LaunchPhase.REFUSED) and self._may_still_appear(entry):
            self._note_once(run_id, "UNKNOWN", "its client died while it submitted; its machines may still appear")
        elif status.phase is LaunchPhase.RUNNING and entry.state is State.SUBMITTED:
            self.ledger.move(run_id, State.RUNNING, at=self.now(), text=_words(status), expected=entry.state)
        elif status.phase.is_over:
            if status.phase is not LaunchPhase.SUCCEEDED:
                self._note_once(run_id, status.phase.name, status.detail or status.phase.value)
            patience = timedelta(0) if status.phase is LaunchPhase.LOST else COLLECT_PATIENCE
            self._bring_home(entry, OUTCOMES[status.phase], patience=patience)

    def _see_machines(self, launch: Launch, status: NodeStatus) -> None:
        """Write down the machine ids when they are first seen. The provider is asked until all are known."""
        if not launch.target.through_sky or (status.launched is None and status.phase is not LaunchPhase.RUNNING):
            return
        if len([machine for machine in launch.known if machine.id != ANYTHING]) >= launch.target.nodes:
            return
        place = "" if status.launched is None else status.launched.region or ""
        notes = [
            Sighting(id=machine_id, where=place, sight=Sight.ALIVE, said="listed by SkyPilot")
            for machine_id in status.ids
        ]
        seen: tuple[Sighting, ...] = ()
        try:
            seen = self.backend.sight(launch)
        except Exception as error:  # noqa: BLE001  a provider or a library failed: the job runs anyway, and the next look asks again
            self._note_once(launch.run_id, "UNKNOWN", f"its machines could not be asked for: {fault_text(error)}")
        by_provider = {sighting.id for sighting in seen}
        own = notes if launch.target.is_cloud else []
        self.see(launch.run_id, [*seen, *(sighting for sighting in own if sighting.id not in by_provider)])

    def _may_still_appear(self, entry: LedgerEntry) -> bool:
        return may_still_appear(entry, self.ledger.events(entry.launch.run_id), elapsed_s=self.elapsed_s(entry))


def _words(status: NodeStatus) -> str:
    launched = status.launched
    if launched is None:
        return status.detail
    known = launched.model_dump(exclude_none=True)
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in known.items())
