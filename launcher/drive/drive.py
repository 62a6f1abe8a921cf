"""Driver of one launch: from its intent to the proof that nothing runs any more, no matter which client began it.

Every step reads the ledger and does the next thing. So the same loop serves a new launch, one whose client was killed,
and one that another client has just finished. One client at a time drives a launch: it holds a lock that ends with it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import NoReturn

from planner import time_limits
from planner.errors import NodeError, PlannerError, StoreError
from planner.launcher.drive.ending import Ending
from planner.launcher.drive.gone import (
    HANDED_OVER,
    SUBMISSION_PATIENCE_S,
    in_submission,
    may_still_appear,
    settle_limit_s,
    settle_poll_s,
)
from planner.launcher.drive.unwritten import Unwritten, fault_text
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry, State
from planner.launcher.plan.backend import Collected, Launch, LaunchPhase, NodeStatus
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
class Driver(Ending):
    """Drives launches, step by step."""

    def drive(self, run_id: str, *, stop: threading.Event, poll_s: float) -> LedgerEntry:
        """Continue a launch from where its last client left it. Return its entry when it is over or `stop` is set.

        If another client drives it, only watch the ledger, until the launch's time is over and that client has not
        ended it. An intent that was never submitted is closed.
        """
        while True:
            with self.lock(run_id) as mine:
                entry = self.ledger.entry(run_id)
                if mine or self.is_overdue(entry):
                    return self.go_on(run_id, stop=stop, poll_s=poll_s)
            if not entry.open or self.is_stuck(entry) or stop.wait(poll_s):
                return entry

    def go_on(self, run_id: str, *, stop: threading.Event, poll_s: float, submit: bool = False) -> LedgerEntry:
        """Do step after step until the launch is over or `stop` is set. The caller holds its lock.

        A launch whose time is over is returned open if its end could not be proven within OPERATION_S. `reap` then
        continues.

        If `stop` is set before the submission, the launch is never submitted. A local failure, such as a full disk or a
        bug of ours, never ends the watch over machines that may run: see `_watched_step`.
        """
        if submit and stop.is_set():
            return self.abandon(run_id)
        known = Unwritten(self.ledger.entry(run_id))
        known.deadline_at = known.entry.launch.deadline_at
        entry = self._watched_step(known, submit=submit)
        unproven_since_s: float | None = None
        while entry.open and not self.is_stuck(entry) and not stop.wait(poll_s):
            entry = self._watched_step(known)
            if entry.state not in (State.COLLECTED, State.LOST):
                unproven_since_s = None
            elif unproven_since_s is None:
                unproven_since_s = time.monotonic()
            elif (
                time.monotonic() - unproven_since_s >= time_limits.OPERATION_S
                and self.is_overdue(entry)
                and not self.is_settling(run_id)
            ):
                break
        return entry

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

    def step_if_free(self, run_id: str) -> bool:
        """Do the next thing for a launch unless another client is driving it within its time. Return whether it was
        done.

        A suspended client (Ctrl-Z, a sleeping laptop) may hold its lock for ever.
        """
        with self.lock(run_id) as mine:
            free = mine or self.is_overdue(self.ledger.entry(run_id))
            if free:
                self.step(run_id)
        return free

    def _watched_step(self, known: Unwritten, *, submit: bool = False) -> LedgerEntry:
        """Do the next thing. If that fails for a local reason, continue from what this client has in memory.

        The machines are watched and taken down as usual, without being written down, and the user is told once a
        minute. When all machines are gone, the failure is raised.
        """
        run_id = known.entry.launch.run_id
        try:
            known.entry = self.step(run_id, submit=submit, known=known)
        except Exception as error:
            if not known.may_run:
                raise
            problem = fault_text(error)
            known.say(self.tell, problem, at=self.instant())
            try:
                late, at = self.is_late(known.entry), self.instant()
                known.watch(self.backend, late=late, at=at, collect=self._collect_unwritten)
            except Exception as failed:  # noqa: BLE001  a cloud, or a bug of ours: tried again at the next look
                known.say(self.tell, fault_text(failed), at=self.instant())
            if known.down is not None:
                raise NodeError(
                    f"{run_id}: {problem} Its machines are down ({'; '.join(known.down.checks)}), and the ledger does "
                    "not know it.",
                    fix="Make the workspace writable, then: planner launches collect",
                ) from error
        return known.entry

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

    def cancel(self, run_id: str) -> LedgerEntry:
        """Copy home what exists, then take everything down now, even if another client drives it.

        Waits for a client that is submitting at this moment, because its machines would appear after the proof that
        there are none. If the ledger cannot be written, machines are taken down first and the problem is reported
        afterwards. A launch that is over is checked again.
        """
        entry = self.ledger.entry(run_id)
        if not entry.open:
            return self._check_again(entry)
        try:
            return self._cancel(run_id)
        except StoreError as error:
            self._cancel_unwritten(entry, error)

    def _cancel_unwritten(self, entry: LedgerEntry, error: StoreError) -> NoReturn:
        """Take down a launch whose ledger cannot be written, and raise the result. The wait for a proof is bounded."""
        run_id = entry.launch.run_id
        known = Unwritten(entry, handed=True, may_come=entry.state is State.SUBMITTED)
        with contextlib.suppress(Exception):
            self._collect_unwritten(entry)
        give_up_s = time.monotonic() + settle_limit_s()
        while known.end(self.backend, at=self.instant()) and time.monotonic() < give_up_s:
            time.sleep(settle_poll_s())
        if known.down is None:
            raise NodeError(
                f"{run_id}: its end was asked for and is not proven, and the ledger does not know it: {error.message}",
                fix="Make the workspace writable, then: planner launches reap; until then look into the provider's "
                "console.",
            ) from error
        evidence = "; ".join(known.down.checks)
        raise NodeError(
            f"{run_id}: its machines are down ({evidence}), and the ledger does not know it: {error.message}",
            fix="Make the workspace writable, then: planner launches collect",
        ) from error

    def _cancel(self, run_id: str) -> LedgerEntry:
        self._wait_for_submission(run_id)
        entry = self.ledger.entry(run_id)
        if entry.state is State.PLANNED:
            return self.abandon(run_id)
        if entry.state in (State.SUBMITTED, State.RUNNING):
            self.ledger.note(run_id, "CANCELLED", "taken down by the user", at=self.now())
            self._bring_home(entry, LaunchOutcome.CANCELLED, patience=timedelta(0))
        return self.step(run_id)

    def _check_again(self, entry: LedgerEntry) -> LedgerEntry:
        """Check again a launch that is over. A user who takes it down by name has seen something."""
        run_id = entry.launch.run_id
        if entry.outcome is LaunchOutcome.NEVER_SUBMITTED:
            return entry
        evidence = self.backend.verify_down(entry.launch)
        if evidence.unknown is not None:
            raise NodeError(f"{run_id}: is over by the ledger, and what is there now is {evidence.unknown}")
        if not evidence.down:
            self.end_seen(entry, "; ".join(evidence.checks))
        return self.ledger.entry(run_id)

    def _wait_for_submission(self, run_id: str) -> None:
        give_up_s = time.monotonic() + SUBMISSION_PATIENCE_S
        while self._in_submission(self.ledger.entry(run_id)) and time.monotonic() < give_up_s:
            with self.lock(run_id) as mine:
                if mine:  # no other client drives it, so no client submits it
                    return
            time.sleep(0.1)

    def _in_submission(self, entry: LedgerEntry) -> bool:
        return in_submission(entry, self.ledger.events(entry.launch.run_id))

    def collect_again(self, run_id: str) -> Collected | None:
        """Fetch what the machines of a finished launch still have; None if there are none."""
        entry = self.ledger.entry(run_id)
        with contextlib.suppress(NodeError):
            return self.backend.collect(entry.launch, self._home_of(run_id))
        return None

    def _submit(self, entry: LedgerEntry, known: Unwritten) -> None:
        """Write down that machines may exist, then ask for them. Being killed in between then errs on the safe side."""
        launch, at, instant = entry.launch, self.now(), self.elapsed.begin(entry.launch.run_id)
        deadline = at + timedelta(minutes=launch.bill.caps.watchdog_minutes)
        mine = self.ledger.move(
            launch.run_id,
            State.SUBMITTED,
            at=at,
            text=f"taken down at {deadline:%Y-%m-%d %H:%M} UTC at the latest",
            deadline_at=deadline,
            instant=instant,
            expected=State.PLANNED,
        )
        if not mine:
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
        told = [
            Sighting(id=machine_id, where=place, sight=Sight.ALIVE, said="listed by SkyPilot")
            for machine_id in status.ids
        ]
        seen: tuple[Sighting, ...] = ()
        try:
            seen = self.backend.sight(launch)
        except Exception as error:  # noqa: BLE001  a provider or a library failed: the job runs anyway, and the next look asks again
            self._note_once(launch.run_id, "UNKNOWN", f"its machines could not be asked for: {fault_text(error)}")
        by_provider = {sighting.id for sighting in seen}
        own = told if launch.target.is_cloud else []
        self.see(launch.run_id, [*seen, *(sighting for sighting in own if sighting.id not in by_provider)])

    def _may_still_appear(self, entry: LedgerEntry) -> bool:
        return may_still_appear(entry, self.ledger.events(entry.launch.run_id), elapsed_s=self.elapsed_s(entry))


def _words(status: NodeStatus) -> str:
    launched = status.launched
    if launched is None:
        return status.detail
    known = launched.model_dump(exclude_none=True)
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in known.items())
