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
from planner.errors import NodeError, StoreError
from planner.launcher.drive.gone import (
    SUBMISSION_PATIENCE_S,
    in_submission,
    settle_limit_s,
    settle_poll_s,
)
from planner.launcher.drive.steps import LaunchSteps
from planner.launcher.drive.unwritten import Unwritten, fault_text
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry, State
from planner.launcher.plan.backend import Collected


@dataclass(frozen=True)
class Driver(LaunchSteps):
    """Drives launches, step by step."""

    def drive(self, run_id: str, *, stop: threading.Event, poll_s: float) -> LedgerEntry:
        """Continue a launch from where its last client left it. Return its entry when it is over or `stop` is set.

        If another client drives it, only watch the ledger, until the launch's time is over and that client has not
        ended it. An intent that was never submitted is closed.
        """
        while True:
            with self.lock(run_id) as is_locked:
                entry = self.ledger.entry(run_id)
                if is_locked or self.is_overdue(entry):
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

    def step_if_free(self, run_id: str) -> bool:
        """Do the next thing for a launch unless another client is driving it within its time. Return whether it was
        done.

        A suspended client (Ctrl-Z, a sleeping laptop) may hold its lock for ever.
        """
        with self.lock(run_id) as is_locked:
            free = is_locked or self.is_overdue(self.ledger.entry(run_id))
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
            with self.lock(run_id) as is_locked:
                if is_locked:  # no other client drives it, so no client submits it
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
