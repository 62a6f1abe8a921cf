"""End of a launch: results come home, machines go down, and the party that sends the bill proves it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from planner.errors import InputError, NodeError, StoreError
from planner.launcher.collect.results import collected, read_result
from planner.launcher.drive.context import CLOCKS_DIFFER_S, DriveContext, billed_seconds
from planner.launcher.drive.gone import (
    COLLECTING,
    SEEN_AGAIN,
    SETTLING,
    Verdict,
    job_was_seen,
    judge,
    sightings,
    why_collected,
)
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.ledger.entry import LaunchOutcome, LedgerEntry, State
from planner.launcher.plan.backend import Collected, DownEvidence
from planner.launcher.plan.sighting import Sight, Sighting

BILLED = (Sight.ALIVE, Sight.ENDING)
NAMES_SHOWN = 10
"""Number of rejected files that a message names."""


@dataclass(frozen=True)
class Ending(DriveContext):
    """Ends a launch, whatever its outcome."""

    def verdict(self, run_id: str, *, asked: bool = True) -> Verdict:
        """Return whether a launch is gone, from everything that the ledger knows of its machines."""
        entry = self.ledger.entry(run_id)
        seen = job_was_seen(self.ledger.events(run_id))
        return judge(entry.launch, entry.launch.known, job_seen=seen, asked=asked)

    def is_settling(self, run_id: str) -> bool:
        """Return whether the proof that a launch is gone needs only time."""
        return self.ledger.entry(run_id).state in (State.COLLECTED, State.LOST) and self.verdict(run_id).pending

    def is_stuck(self, entry: LedgerEntry) -> bool:
        """Return whether a provider has been ending a machine for so long that more waiting is pointless."""
        given_up = entry.state in (State.COLLECTED, State.LOST)
        return given_up and judge(entry.launch, entry.launch.known, job_seen=True).stuck

    def other_witness(self, run_id: str) -> str | None:
        """Return why the account asked here cannot speak for a launch, after one more look at its machines."""
        entry = self.ledger.entry(run_id)
        if self.backend.other_witness(entry.launch) is None or not entry.launch.target.through_sky:
            return self.backend.other_witness(entry.launch)
        with contextlib.suppress(NodeError):
            self.see(run_id, self.backend.sight(entry.launch))
        return self.backend.other_witness(self.ledger.entry(run_id).launch)

    def see(self, run_id: str, seen: Sequence[Sighting]) -> None:
        """Write down a look at the machines of a launch, each by its id, and how late one was still billed."""
        if seen:
            self.ledger.see(run_id, seen, at=self.now(), instant=self.instant())
        if any(sighting.sight in BILLED for sighting in seen):
            self._see_up(self.ledger.entry(run_id))

    def reopen(self, run_id: str, seen: str) -> None:
        """Reopen a finished launch of which something was seen: the ledger must not say that nothing is left."""
        said = f"seen after the proof of its end: {seen}"
        if self.ledger.move(run_id, State.LOST, at=self.now(), text=said, expected=State.DOWN_VERIFIED):
            self.ledger.note(run_id, SEEN_AGAIN, seen, at=self.now())
            self._see_up(self.ledger.entry(run_id))

    def end_seen(self, entry: LedgerEntry, seen: str) -> DownEvidence:
        """Take down what was seen of a launch, open or finished, and return the proof.

        Works without a writable ledger, and then says so.
        """
        run_id = entry.launch.run_id
        try:
            self.reopen(run_id, seen)
            now = self.ledger.entry(run_id)
            if now.state in (State.SUBMITTED, State.RUNNING):  # another client has it, and its time is over
                self._bring_home(now, LaunchOutcome.TRUNCATED, patience=timedelta(0))
            return self._take_down(self.ledger.entry(run_id))
        except StoreError:
            self.backend.down(entry.launch)
            self.backend.verify_down(entry.launch)
            raise

    def _bring_home(self, entry: LedgerEntry, outcome: LaunchOutcome, *, patience: timedelta) -> None:
        """Collect before anything is taken down, also after a failure. Retry within `patience`."""
        run_id = entry.launch.run_id
        began = next((event.at for event in self.ledger.events(run_id) if event.kind == COLLECTING), None)
        if began is None:
            began = self.now()
            self.ledger.note(run_id, COLLECTING, why_collected(outcome), at=began)
        waited_s = self.elapsed.waited_s(run_id, began)
        try:
            collection = self.backend.collect(entry.launch, self._home_of(run_id))
        except InputError:
            raise  # a host missing from its file, or a disk: waiting fixes neither
        except Exception as error:  # noqa: BLE001  a host's bytes or a library failed: its machine still costs money
            if waited_s < patience.total_seconds():
                self._note_once(run_id, "PROBLEM", f"results could not be copied yet: {error}")
                return
            self.ledger.note(run_id, "PROBLEM", f"results could not be copied: {error}", at=self.now())
            collection = collected(self._home_of(run_id), run_id=run_id, nodes=entry.launch.target.nodes)
            if not collection.results and not collection.steps:
                self._lose(entry, outcome)
                self._take_down(self.ledger.entry(run_id))
                return
            collection = collection.model_copy(update={"complete": False})  # files that came before the failure
        self._write_down(entry, collection, outcome)
        self._take_down(self.ledger.entry(run_id))

    def _write_down(self, entry: LedgerEntry, collection: Collected, outcome: LaunchOutcome) -> None:
        run_id = entry.launch.run_id
        counts = f"{len(collection.results)} result(s), {len(collection.steps)} file(s) of steps"
        if collection.problems:
            self._note_once(run_id, "PROBLEM", " ".join(collection.problems))
        if collection.left_out:
            names = ", ".join(collection.left_out[:NAMES_SHOWN])
            more = len(collection.left_out) - NAMES_SHOWN
            self._note_once(run_id, "LEFT_OUT", f"not taken in: {names}" + (f" and {more} more" if more > 0 else ""))
        if outcome is LaunchOutcome.COMPLETED and not collection.complete:
            outcome = LaunchOutcome.TRUNCATED
        elif outcome is LaunchOutcome.COMPLETED and (collection.problems or not collection.results):
            outcome = LaunchOutcome.FAILED  # the job reports a result, but none can be read
        if outcome in (LaunchOutcome.LOST, LaunchOutcome.TRUNCATED) and not collection.results and not collection.steps:
            self._lose(entry, outcome)
            return
        if outcome is LaunchOutcome.LOST:
            outcome = LaunchOutcome.TRUNCATED  # the machine is lost, but what it pushed is not
        if outcome is LaunchOutcome.FAILED and any(_was_stopped(path) for path in collection.results):
            outcome = LaunchOutcome.TRUNCATED  # its own time was over
        self.ledger.move(
            run_id,
            State.COLLECTED,
            at=self.now(),
            text=f"{counts} in {collection.folder.name}",
            outcome=outcome,
            expected=self._now_at(entry),
        )

    def _lose(self, entry: LedgerEntry, outcome: LaunchOutcome) -> None:
        outcome = (
            LaunchOutcome.LOST if outcome is LaunchOutcome.COMPLETED else outcome
        )  # without a result the run is not complete
        self.ledger.move(
            entry.launch.run_id,
            State.LOST,
            at=self.now(),
            text="no result was copied",
            outcome=outcome,
            expected=self._now_at(entry),
        )

    @staticmethod
    def _now_at(entry: LedgerEntry) -> State:
        """Return the state in which this client left a launch that it has just submitted or looked at."""
        return State.SUBMITTED if entry.state is State.PLANNED else entry.state

    def _take_down(self, entry: LedgerEntry) -> DownEvidence:
        """Take everything down, then ask the party that sends the bill. Without its answer the launch stays open."""
        launch, run_id = entry.launch, entry.launch.run_id
        if self.elapsed_s(entry) > launch.bill.caps.worst_minutes * 60.0:
            self._see_whether_up(entry)
        if launch.target.through_sky:
            with contextlib.suppress(NodeError):  # asked again below if no answer comes now
                self.see(run_id, self.backend.sight(launch))
        launch, asked = self.ledger.entry(run_id).launch, True
        try:
            self.backend.down(launch)
        except Exception as error:  # noqa: BLE001  whatever failed, the party that sends the bill is asked next
            asked = False
            self._note_once(run_id, "PROBLEM", f"down failed: {fault_text(error)}")
        evidence = self.backend.verify_down(launch)
        if launch.target.through_sky and evidence.unknown is None:
            self.see(run_id, sightings(evidence))
        said, verdict = "; ".join(evidence.checks), self.verdict(run_id, asked=asked)
        if not evidence.down:
            self._note_once(run_id, "STILL_UP", said)
            self._see_up(entry)
        elif verdict.gone:
            counted_s = self._counted_s(self.ledger.entry(run_id))
            proof = f"{said}; proven {verdict.said}"
            self.ledger.move(
                run_id, State.DOWN_VERIFIED, at=self.now(), text=proof, counted_s=counted_s, expected=entry.state
            )
        elif self._note_once(run_id, SETTLING if verdict.pending else "STILL_UP", verdict.said) and verdict.pending:
            self.tell(f"{run_id}: {verdict.said}.")
        return evidence

    def _see_whether_up(self, entry: LedgerEntry) -> None:
        """Check whether machines are still up although their time is over.

        A provider without an answer proves nothing.
        """
        with contextlib.suppress(Exception):
            status = self.backend.status(entry.launch)
            if status.launched is not None and not status.phase.is_over:
                self._see_up(entry)

    def _see_up(self, entry: LedgerEntry) -> None:
        elapsed_s = self.elapsed_s(entry)
        if elapsed_s > entry.launch.bill.caps.worst_minutes * 60.0:
            self.ledger.see_up(entry.launch.run_id, elapsed_s=elapsed_s)

    def _counted_s(self, entry: LedgerEntry) -> float:
        """Return the billed duration of a launch that is gone now. Say so if it is not the clock's figure."""
        run_id, worst_s = entry.launch.run_id, entry.launch.bill.caps.worst_minutes * 60.0
        elapsed_s, by_clock_s = self.elapsed_s(entry), self.elapsed.by_clock(entry)
        counted_s = billed_seconds(elapsed_s=elapsed_s, seen_up_s=entry.seen_up_s, worst_s=worst_s)
        if abs(by_clock_s - counted_s) >= CLOCKS_DIFFER_S:
            why = (
                f"the proof came {elapsed_s / 60:.0f} minutes after the submission, and its machines were not seen "
                "that late"
                if elapsed_s > counted_s
                else f"by the clock of this machine it took {by_clock_s / 60:.0f}"
            )
            self.ledger.note(run_id, "CLOCK", f"counted are {counted_s / 60:.0f} minutes: {why}", at=self.now())
        return counted_s


def _was_stopped(path: Path) -> bool:
    try:
        return (read_result(path) or {}).get("exit_reason") == "interrupted"
    except Exception:  # noqa: BLE001  an unreadable result proves nothing
        return False
