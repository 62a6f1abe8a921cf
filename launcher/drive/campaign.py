"""Drives several launches at once, one thread each, under one total cap."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from planner.errors import NodeError, PlannerError
from planner.launcher.drive.drive import Driver
from planner.launcher.drive.unwritten import fault_text
from planner.launcher.ledger.entry import LedgerEntry
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Launch, NodeStatus


@dataclass
class Watch:
    """Latest status of every launch. The drivers write it and the live view reads it."""

    latest: dict[str, NodeStatus] = field(default_factory=dict)

    def __call__(self, run_id: str, status: NodeStatus) -> None:
        """Store the status."""
        self.latest[run_id] = status


@dataclass(frozen=True)
class LaunchGroup:
    """Launches to drive together. `driver_of` returns the driver for a launch's backend."""

    ledger: Ledger
    driver_of: Callable[[Launch], Driver]
    poll_s: Callable[[Launch], float]
    tick: Callable[[], None]
    """Function called about once a second in the caller's thread, for the live view."""
    tick_s: float = 1.0

    def start(self, launches: Sequence[Launch], *, check: Callable[[Sequence[LedgerEntry]], None]) -> list[LedgerEntry]:
        """Plan all launches, or none if `check` raises; then submit and drive each to its end.

        On Ctrl-C the drivers stop after the current step. The launches continue where they run, and the ledger knows
        them.
        """
        with contextlib.ExitStack() as locks:
            for launch in launches:  # lock before others can see them: another client would close them as forgotten
                locks.enter_context(self.driver_of(launch).lock(launch.run_id, needed=True))
            self.ledger.plan(launches, check=check)
            return self._all(
                launches,
                lambda launch, stop: self.driver_of(launch).go_on(
                    launch.run_id, stop=stop, poll_s=self.poll_s(launch), submit=True
                ),
            )

    def resume(self, launches: Sequence[Launch]) -> list[LedgerEntry]:
        """Continue open launches, each from the state in which its last client left it."""
        return self._all(
            launches,
            lambda launch, stop: self.driver_of(launch).drive(launch.run_id, stop=stop, poll_s=self.poll_s(launch)),
        )

    def _all(
        self, launches: Sequence[Launch], go: Callable[[Launch, threading.Event], LedgerEntry]
    ) -> list[LedgerEntry]:
        stop = threading.Event()
        with ThreadPoolExecutor(max_workers=max(1, len(launches))) as pool:
            futures: list[Future[LedgerEntry]] = [pool.submit(go, launch, stop) for launch in launches]
            try:
                while not _done(futures, self.tick_s):
                    self._tick()
            except BaseException:
                stop.set()
                raise
            self._tick()
        failures = {
            launch.run_id: error
            for launch, future in zip(launches, futures, strict=True)
            if (error := future.exception()) is not None
        }
        raise_worst(failures)
        return [future.result() for future in futures]

    def _tick(self) -> None:
        """Draw the view. A closed terminal or an unreadable ledger must not end the watch."""
        with contextlib.suppress(Exception):
            self.tick()


def raise_worst(failures: Mapping[str, BaseException]) -> None:
    """Raise the failures of several launches as one error, one line each, after the others have finished.

    A single error of ours is raised unchanged. Several errors, or an unexpected exception, may leave machines behind:
    they become a NodeError.
    """
    if not failures:
        return
    first = next(iter(failures.values()))
    if len(failures) == 1 and isinstance(first, PlannerError):
        raise first
    lines = [f"{run_id}: {fault_text(error)}" for run_id, error in failures.items()]
    raise NodeError(
        "\n".join([f"{len(failures)} launches failed; the others are finished.", *lines]),
        fix="See what still runs: planner launches reap",
    ) from first


def _done(futures: Sequence[Future[LedgerEntry]], timeout_s: float) -> bool:
    return not wait(futures, timeout=timeout_s).not_done
