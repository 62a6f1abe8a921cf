"""Clients that disturb each other or die at the worst moment: every started machine is ended by some client."""

from __future__ import annotations

import sqlite3
import threading
from datetime import timedelta

import pytest

from planner.errors import NodeError
from planner.launcher.drive.drive import Driver
from planner.launcher.drive.gone import ORPHAN_GRACE
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import LaunchPhase, NodeStatus
from planner.launcher.plan.target import Target
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON, launch_of, rate
from tests.launcher.scripted_backend import ScriptedBackend

P4D = Target(provider="aws", name="p4d.24xlarge", accelerator="A100-40GB-SXM", devices_per_node=8, region="us-east-1")
GONE = NodeStatus(phase=LaunchPhase.LOST, detail="no such cluster")
BOUND_S = 20.0


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def driver_of(tmp_path, clock):
    """Return a client on the backend given; the first one writes the intent down."""

    def make(backend):
        ledger = Ledger(tmp_path / "ledger.sqlite")
        if not ledger.entries():
            ledger.plan([launch_of(P4D, price=rate())])
        return Driver(ledger=ledger, backend=backend, folder=tmp_path / "launches", now=clock, instant=clock.instant)

    return make


class SlowToSubmit(ScriptedBackend):
    """Takes as long over a submission as the test wants, and then it has machines."""

    def __init__(self) -> None:
        super().__init__(statuses=[NodeStatus(phase=LaunchPhase.RUNNING)])
        self.begun, self.may_end = threading.Event(), threading.Event()

    def submit(self, launch):
        self.begun.set()
        assert self.may_end.wait(BOUND_S)
        super().submit(launch)


def in_thread(call, *arguments, **named):
    thread = threading.Thread(target=call, args=arguments, kwargs=named)
    thread.start()
    return thread


def test_ctrl_c_before_the_submission_leaves_nothing_to_submit(driver_of):
    backend = ScriptedBackend()
    stop = threading.Event()
    stop.set()
    entry = driver_of(backend).go_on("r1", stop=stop, poll_s=0.01, submit=True)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.NEVER_SUBMITTED)
    assert backend.asked == []


def test_taking_down_waits_for_the_client_that_is_submitting(driver_of):
    """Else there is a proof that nothing runs, and then the machines come."""
    backend = SlowToSubmit()
    first, second = driver_of(backend), driver_of(backend)

    def launches():
        with first.lock("r1"):
            first.step("r1", submit=True)

    submitting = in_thread(launches)
    assert backend.begun.wait(BOUND_S)
    cancelling = in_thread(second.cancel, "r1")
    cancelling.join(0.5)
    assert backend.asked == []
    backend.may_end.set()
    submitting.join(BOUND_S)
    cancelling.join(BOUND_S)
    assert backend.asked == ["submit", "collect", "down", "verify"]
    assert first.ledger.entry("r1").state is State.DOWN_VERIFIED


def test_a_launch_that_is_closed_during_its_submission_is_taken_down(driver_of):
    """Another client closed the launch, or a person edited the ledger."""

    class ClosedMeanwhile(ScriptedBackend):
        def submit(self, launch):
            super().submit(launch)
            driver.ledger.move("r1", State.DOWN_VERIFIED, at=NOON, outcome=LaunchOutcome.CANCELLED)

    backend = ClosedMeanwhile()
    driver = driver_of(backend)
    opened = driver.step("r1", submit=True)
    assert (opened.state, opened.outcome) == (State.LOST, LaunchOutcome.CANCELLED)
    driver.step("r1")
    assert backend.asked == ["submit", "down", "verify"]
    assert driver.ledger.entry("r1").state is State.DOWN_VERIFIED


def test_machines_that_a_dead_client_asked_for_may_still_appear(driver_of, clock):
    """Killed within the submission: for some seconds nothing is to be seen, and that proves nothing."""
    driver_of(ScriptedBackend()).ledger.move("r1", State.SUBMITTED, at=NOON, deadline_at=NOON + timedelta(hours=1))
    backend = ScriptedBackend(statuses=[GONE])
    driver = driver_of(backend)
    clock.forward(ORPHAN_GRACE / 2)
    assert driver.step("r1").state is State.SUBMITTED
    assert backend.asked == []
    clock.forward(ORPHAN_GRACE / 2)
    assert driver.step("r1").state is State.DOWN_VERIFIED


def test_a_submission_that_came_to_its_end_needs_no_grace(driver_of):
    driver = driver_of(ScriptedBackend(statuses=[GONE], results=0, steps=0))
    driver.step("r1", submit=True)
    assert driver.step("r1").state is State.DOWN_VERIFIED


def test_a_ledger_that_cannot_be_written_ends_neither_the_watch_nor_the_watchdog(driver_of, clock, monkeypatch):
    """The disk is full: the launch is still watched and taken down at the deadline; then the failure is reported."""
    states = iter([NodeStatus(phase=LaunchPhase.RUNNING)] * 3)

    class Watched(ScriptedBackend):
        def status(self, launch):
            found = next(states, None)
            if found is None:  # seen three times: now its time is over
                clock.forward(launch.deadline_at - clock.now)
            return found or NodeStatus(phase=LaunchPhase.RUNNING)

    backend = Watched()
    driver = driver_of(backend)
    driver.step("r1", submit=True)

    def full(*_arguments, **_named):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Ledger, "_note", staticmethod(full))
    with pytest.raises(NodeError, match="disk is full"):
        driver.go_on("r1", stop=threading.Event(), poll_s=0.001)
    assert backend.asked == ["submit", "collect", "down", "verify"]
    assert next(states, None) is None


def test_steps_that_were_collected_before_the_machine_was_lost_count(driver_of, tmp_path):
    """Its steps came, the rest never did: truncated, not lost."""

    class Half(ScriptedBackend):
        def collect(self, launch, into):
            (into / "start-1").mkdir(exist_ok=True)
            (into / "start-1" / "result.json.steps.jsonl").write_text("{}\n", encoding="utf-8")
            raise NodeError("the connection broke")

    driver = driver_of(Half(statuses=[GONE]))
    driver.step("r1", submit=True)
    entry = driver.step("r1")
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.TRUNCATED)
    assert driver.backend.asked == ["submit", "down", "verify"]
