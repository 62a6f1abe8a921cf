"""The driver of one launch: from its intent to the proof that nothing runs any more, whoever began it.

Every step reads the ledger and does the next thing, so the same loop serves a new launch, one whose client was killed,
and one that another client has just finished. One client at a time drives a launch: it holds a lock that dies with it.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from launcher.collect.results import collected, read_result
from launcher.drive.elapsed import CLOCKS_DIFFER_S, Elapsed, billed_seconds
from launcher.drive.submission import (
    HANDED_OVER,
    SETTLED_AFTER_S,
    SETTLING,
    SUBMISSION_PATIENCE_S,
    in_submission,
    is_settling,
    may_still_appear,
)
from launcher.drive.unwritten import Unwritten, fault_text, take_down
from launcher.ledger.entry import Entry, Outcome, State
from launcher.ledger.instant import Instant, boot_instant
from launcher.ledger.launch_folder import driving_lock, home_of
from launcher.ledger.ledger import Ledger
from launcher.plan.backend import Backend, Collected, NodeStatus, Phase
from launcher.plan.guard import mismatches
from planner.errors import InputError, NodeError, PlannerError, StoreError

COLLECT_PATIENCE = timedelta(minutes=5)
"""How long copying a finished job's results is tried again before its machine is taken down."""
OUTCOMES = {
    Phase.SUCCEEDED: Outcome.COMPLETED,
    Phase.FAILED: Outcome.FAILED,
    Phase.SETUP_FAILED: Outcome.SETUP_FAILED,
    Phase.REFUSED: Outcome.REFUSED,
    Phase.LOST: Outcome.LOST,
}

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(tz=UTC)


@dataclass(frozen=True)
class Driver:
    """What is needed to drive launches: where they are remembered, who carries them, where results go, the time."""

    ledger: Ledger
    backend: Backend
    folder: Path
    """`launches/` of the workspace; each launch has its own folder there."""
    now: Clock = utc_now
    """For what is written down; nothing is measured by it."""
    instant: Callable[[], Instant] = boot_instant
    watch: Callable[[str, NodeStatus], None] = lambda _run_id, _status: None
    """Gets every status that was seen, for the live view."""
    tell: Callable[[str], None] = lambda _text: None
    """Gets what a person must know at once: that the ledger cannot be written, once a minute."""

    @cached_property
    def elapsed(self) -> Elapsed:
        """What this client knows of times."""
        return Elapsed(self.now, self.instant)

    def elapsed_s(self, entry: Entry) -> float:
        """Return the seconds since the submission, by the best witness."""
        return self.elapsed.seconds(entry, lambda: self.backend.provider_time(entry.launch))

    def is_late(self, entry: Entry) -> bool:
        """Return whether the time is over at which this client takes everything down."""
        return self.elapsed_s(entry) >= entry.launch.bill.caps.watchdog_minutes * 60.0

    def drive(self, run_id: str, *, stop: threading.Event, poll_s: float) -> Entry:
        """Take a launch up where its last client left it; return it as it is when it is over or `stop` is set.

        Where another client drives it, only watch the ledger. An intent that was never submitted is closed.
        """
        while True:
            with self.lock(run_id) as mine:
                entry = self.go_on(run_id, stop=stop, poll_s=poll_s) if mine else self.ledger.entry(run_id)
            if not entry.open or stop.wait(poll_s):
                return entry

    def go_on(self, run_id: str, *, stop: threading.Event, poll_s: float, submit: bool = False) -> Entry:
        """Do step after step until the launch is over or `stop` is set. The caller holds its lock.

        What was not submitted when `stop` was set never is. Nothing that goes wrong on this side, a full disk or a
        fault of our own, ends the watch over what may run: see `_watched_step`.
        """
        if submit and stop.is_set():
            return self.abandon(run_id)
        known = Unwritten(self.ledger.entry(run_id))
        known.deadline_at = known.entry.launch.deadline_at
        entry = self._watched_step(known, submit=submit)
        while entry.open and not stop.wait(poll_s):
            entry = self._watched_step(known)
        return entry

    def step(self, run_id: str, *, submit: bool = False, known: Unwritten | None = None) -> Entry:
        """Do the next thing for a launch, once. What fails is written down and tried again at the next step."""
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

    def _watched_step(self, known: Unwritten, *, submit: bool = False) -> Entry:
        """Do the next thing; where that fails for another reason than a machine, go on by what this client knows.

        The machines are watched and taken down as they would have been, without being written down, and the person is
        told once a minute. When nothing is left of them the failure is raised.
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
            except Exception as failed:  # noqa: BLE001  a cloud, or a fault of ours: asked again at the next look
                known.say(self.tell, fault_text(failed), at=self.instant())
            if known.down is not None:
                raise NodeError(
                    f"{run_id}: {problem} Its machines are down ({'; '.join(known.down.checks)}), and the ledger does "
                    "not know it.",
                    fix="Make the workspace writable, then: planner launches collect",
                ) from error
        return known.entry

    def _collect_unwritten(self, entry: Entry) -> None:
        self.backend.collect(entry.launch, self._home_of(entry.launch.run_id))

    def abandon(self, run_id: str) -> Entry:
        """Close an intent that was never submitted."""
        self.ledger.move(
            run_id,
            State.DOWN_VERIFIED,
            at=self.now(),
            text="nothing was submitted",
            outcome=Outcome.NEVER_SUBMITTED,
            expected=State.PLANNED,
        )
        return self.ledger.entry(run_id)

    def cancel(self, run_id: str) -> Entry:
        """Bring home what there is, then take everything down, now, whoever drives it.

        A client that is submitting at this moment is waited for: its machines would come after the proof that there
        are none. A ledger that cannot be written does not keep machines up: they are taken down first, and then said.
        """
        entry = self.ledger.entry(run_id)
        try:
            return self._cancel(run_id)
        except StoreError as error:
            known = Unwritten(entry, handed=True)
            with contextlib.suppress(Exception):
                self._collect_unwritten(entry)
            take_down(self.backend, known)
            give_up_s = time.monotonic() + SETTLED_AFTER_S  # before a job was seen a machine may still come
            waits = entry.state is State.SUBMITTED and entry.launch.target.through_sky
            while waits and known.down is not None and time.monotonic() < give_up_s:
                time.sleep(SETTLED_AFTER_S / 60)
                known.down = None
                take_down(self.backend, known)
            if known.down is None:
                raise NodeError(f"{run_id}: its machines are not proven gone, and {error}") from error
            said = "; ".join(known.down.checks)
            raise NodeError(
                f"{run_id}: its machines are down ({said}), and the ledger does not know it: {error.message}",
                fix="Make the workspace writable, then: planner launches collect",
            ) from error

    def _cancel(self, run_id: str) -> Entry:
        self._wait_for_submission(run_id)
        entry = self.ledger.entry(run_id)
        if entry.state is State.PLANNED:
            return self.abandon(run_id)
        if entry.state in (State.SUBMITTED, State.RUNNING):
            self.ledger.note(run_id, "CANCELLED", "taken down by the user", at=self.now())
            self._bring_home(entry, Outcome.CANCELLED, patience=timedelta(0))
        return self.step(run_id)

    def _wait_for_submission(self, run_id: str) -> None:
        give_up_s = time.monotonic() + SUBMISSION_PATIENCE_S
        while self._in_submission(self.ledger.entry(run_id)) and time.monotonic() < give_up_s:
            with self.lock(run_id) as mine:
                if mine:  # nobody drives it, so nobody submits it
                    return
            time.sleep(0.1)

    def _in_submission(self, entry: Entry) -> bool:
        return in_submission(entry, self.ledger.events(entry.launch.run_id))

    def collect_again(self, run_id: str) -> Collected | None:
        """Fetch what the machines of a launch that is over still have; None where there is no such thing."""
        entry = self.ledger.entry(run_id)
        with contextlib.suppress(NodeError):
            return self.backend.collect(entry.launch, self._home_of(run_id))
        return None

    @contextlib.contextmanager
    def lock(self, run_id: str) -> Iterator[bool]:
        """Hold the right to drive a launch; False where another client has it. A client that dies lets go."""
        with driving_lock(self._home_of(run_id)) as mine:
            yield mine

    def _submit(self, entry: Entry, known: Unwritten) -> None:
        """Write down that there may be machines, then ask for them: killed in between errs on the safe side."""
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
            self.backend.submit(launch)
        except PlannerError as error:
            self.ledger.note(launch.run_id, "REFUSED", str(error), at=self.now())
            self._bring_home(entry, Outcome.REFUSED, patience=timedelta(0))
            return
        self.ledger.note(launch.run_id, HANDED_OVER, "", at=self.now())
        if not self.ledger.entry(launch.run_id).open:  # somebody would not wait
            self.backend.down(launch)
            self._note_once(launch.run_id, "TAKEN_DOWN", "; ".join(self.backend.verify_down(launch).checks))

    def _look(self, entry: Entry) -> None:
        launch, run_id = entry.launch, entry.launch.run_id
        if self.is_late(entry):
            self.ledger.note(run_id, "WATCHDOG", "its time is over; everything is taken down", at=self.now())
            self._bring_home(entry, Outcome.TRUNCATED, patience=timedelta(0))
            return
        status = self.backend.status(launch)
        self.watch(run_id, status)
        if status.launched is not None:
            wrong = mismatches(launch.target, status.launched)
            if wrong:
                self.ledger.note(run_id, "MISMATCH", "; ".join(wrong), at=self.now())
                self.ledger.move(
                    run_id,
                    State.LOST,
                    at=self.now(),
                    text="another machine came",
                    outcome=Outcome.MISMATCH,
                    expected=entry.state,
                )
                self._take_down(self.ledger.entry(run_id))
                return
        if status.phase is Phase.UNKNOWN:
            self._note_once(run_id, "UNKNOWN", status.detail)
        elif status.phase in (Phase.LOST, Phase.REFUSED) and self._may_still_appear(entry):
            self._note_once(run_id, "UNKNOWN", "its client died while it submitted; its machines may still appear")
        elif status.phase is Phase.RUNNING and entry.state is State.SUBMITTED:
            self.ledger.move(run_id, State.RUNNING, at=self.now(), text=_words(status), expected=entry.state)
        elif status.phase.is_over:
            if status.phase is not Phase.SUCCEEDED:
                self._note_once(run_id, status.phase.name, status.detail or status.phase.value)
            patience = timedelta(0) if status.phase is Phase.LOST else COLLECT_PATIENCE
            self._bring_home(entry, OUTCOMES[status.phase], patience=patience)

    def is_settling(self, run_id: str) -> bool:
        """Return whether a machine of a launch that was given up may still come."""
        entry, events = self.ledger.entry(run_id), self.ledger.events(run_id)
        gave_up = next((event.at for event in events if event.kind == "COLLECTING"), None)
        waited_s = 0.0 if gave_up is None else self.elapsed.waited_s(run_id, gave_up, unknown_s=0.0)
        return is_settling(entry, events, waited_s=min(waited_s, self.elapsed_s(entry)))  # a clock may be set forward

    def _may_still_appear(self, entry: Entry) -> bool:
        return may_still_appear(entry, self.ledger.events(entry.launch.run_id), elapsed_s=self.elapsed_s(entry))

    def _bring_home(self, entry: Entry, outcome: Outcome, *, patience: timedelta) -> None:
        """Collect before anything is taken down, also after a failure; try again while patience lasts."""
        run_id = entry.launch.run_id
        began = next((event.at for event in self.ledger.events(run_id) if event.kind == "COLLECTING"), None)
        if began is None:
            began = self.now()
            self.ledger.note(run_id, "COLLECTING", f"the job is over: {outcome.value}", at=began)
        waited_s = self.elapsed.waited_s(run_id, began)
        try:
            collection = self.backend.collect(entry.launch, self._home_of(run_id))
        except InputError:
            raise  # a host that is missing from its file, a disk: nothing that more patience mends
        except Exception as error:  # noqa: BLE001  a host's bytes, a library's fault: its machine costs money all the same
            if waited_s < patience.total_seconds():
                self._note_once(run_id, "PROBLEM", f"results could not be copied yet: {error}")
                return
            self.ledger.note(run_id, "PROBLEM", f"results could not be copied: {error}", at=self.now())
            collection = collected(self._home_of(run_id), run_id=run_id, nodes=entry.launch.target.nodes)
            if not collection.results and not collection.steps:
                self._lose(entry, outcome)
                self._take_down(self.ledger.entry(run_id))
                return
            collection = collection.model_copy(update={"complete": False})  # what came before the failure
        self._write_down(entry, collection, outcome)
        self._take_down(self.ledger.entry(run_id))

    def _write_down(self, entry: Entry, collection: Collected, outcome: Outcome) -> None:
        run_id = entry.launch.run_id
        what = f"{len(collection.results)} result(s), {len(collection.steps)} file(s) of steps"
        if collection.problems:
            self._note_once(run_id, "PROBLEM", " ".join(collection.problems))
        if outcome is Outcome.COMPLETED and not collection.complete:
            outcome = Outcome.TRUNCATED
        elif outcome is Outcome.COMPLETED and (collection.problems or not collection.results):
            outcome = Outcome.FAILED  # the job says that it has a result, and there is none that can be read
        if outcome in (Outcome.LOST, Outcome.TRUNCATED) and not collection.results and not collection.steps:
            self._lose(entry, outcome)
            return
        if outcome is Outcome.LOST:
            outcome = Outcome.TRUNCATED  # the machine is lost, what it pushed is not
        if outcome is Outcome.FAILED and any(_was_stopped(path) for path in collection.results):
            outcome = Outcome.TRUNCATED  # its own time was over
        self.ledger.move(
            run_id,
            State.COLLECTED,
            at=self.now(),
            text=f"{what} in {collection.folder.name}",
            outcome=outcome,
            expected=self._now_at(entry),
        )

    def _lose(self, entry: Entry, outcome: Outcome) -> None:
        outcome = Outcome.LOST if outcome is Outcome.COMPLETED else outcome  # without a result nothing is complete
        self.ledger.move(
            entry.launch.run_id,
            State.LOST,
            at=self.now(),
            text="no result was copied",
            outcome=outcome,
            expected=self._now_at(entry),
        )

    @staticmethod
    def _now_at(entry: Entry) -> State:
        """Return the state in which this client left a launch that it has just submitted or looked at."""
        return State.SUBMITTED if entry.state is State.PLANNED else entry.state

    def _take_down(self, entry: Entry) -> None:
        """Take everything down, then ask those who send the bill; without their word the launch stays open."""
        launch, run_id = entry.launch, entry.launch.run_id
        if self.elapsed_s(entry) > launch.bill.caps.worst_minutes * 60.0:
            self._see_whether_up(entry)
        try:
            self.backend.down(launch)
        except Exception as error:  # noqa: BLE001  whatever it was, those who send the bill are asked next
            self._note_once(run_id, "PROBLEM", f"down failed: {fault_text(error)}")
        evidence = self.backend.verify_down(launch)
        said = "; ".join(evidence.checks)
        if evidence.down and self.is_settling(run_id):
            again = f"nothing is there; for {SETTLED_AFTER_S / 60:g} minutes a machine may still come and is looked for"
            if self._note_once(run_id, SETTLING, again):
                self.tell(f"{run_id}: {again}.")
        elif evidence.down:
            counted_s = self._counted_s(self.ledger.entry(run_id))
            self.ledger.move(
                run_id, State.DOWN_VERIFIED, at=self.now(), text=said, counted_s=counted_s, expected=entry.state
            )
        else:
            self._note_once(run_id, "STILL_UP", said)
            self._see_up(entry)

    def _see_whether_up(self, entry: Entry) -> None:
        """Look whether machines are still up although their time is over; who cannot say is no witness."""
        with contextlib.suppress(Exception):
            status = self.backend.status(entry.launch)
            if status.launched is not None and not status.phase.is_over:
                self._see_up(entry)

    def _see_up(self, entry: Entry) -> None:
        elapsed_s = self.elapsed_s(entry)
        if elapsed_s > entry.launch.bill.caps.worst_minutes * 60.0:
            self.ledger.see_up(entry.launch.run_id, elapsed_s=elapsed_s)

    def _counted_s(self, entry: Entry) -> float:
        """Return for how long a launch counts as billed that is gone now; say where that is not the clock's figure."""
        run_id, worst_s = entry.launch.run_id, entry.launch.bill.caps.worst_minutes * 60.0
        elapsed_s, by_clock_s = self.elapsed_s(entry), self.elapsed.by_clock(entry)
        counted_s = billed_seconds(elapsed_s=elapsed_s, seen_up_s=entry.seen_up_s, worst_s=worst_s)
        if abs(by_clock_s - counted_s) >= CLOCKS_DIFFER_S:
            why = (
                f"the proof came {elapsed_s / 60:.0f} minutes after the submission, and nobody saw its machines so late"
                if elapsed_s > counted_s
                else f"by the clock of this machine it took {by_clock_s / 60:.0f}"
            )
            self.ledger.note(run_id, "CLOCK", f"counted are {counted_s / 60:.0f} minutes: {why}", at=self.now())
        return counted_s

    def _note_once(self, run_id: str, kind: str, text: str) -> bool:
        """Write an event down unless the last one says the same: a loop must not fill the ledger."""
        events = self.ledger.events(run_id)
        new = not events or (events[-1].kind, events[-1].text) != (kind, text)
        if new:
            self.ledger.note(run_id, kind, text, at=self.now())
        return new

    def _home_of(self, run_id: str) -> Path:
        return home_of(self.folder, run_id)


def _was_stopped(path: Path) -> bool:
    try:
        return (read_result(path) or {}).get("exit_reason") == "interrupted"
    except Exception:  # noqa: BLE001  a result that cannot be read says nothing
        return False


def _words(status: NodeStatus) -> str:
    launched = status.launched
    if launched is None:
        return status.detail
    known = launched.model_dump(exclude_none=True)
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in known.items())
