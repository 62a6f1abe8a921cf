"""Full disks and libraries that raise any error: the launch is still watched and taken down, and others go on."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from planner.errors import NodeError, StoreError
from planner.launcher.drive.campaign import LaunchGroup
from planner.launcher.drive.drive import Driver
from planner.launcher.drive.unwritten import Unwritten
from planner.launcher.ledger.entry import State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import LaunchPhase, NodeStatus
from planner.launcher.plan.target import Target
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON, launch_of, rate
from tests.launcher.scripted_backend import ScriptedBackend

P4D = Target(provider="aws", name="p4d.24xlarge", accelerator="A100-40GB-SXM", devices_per_node=8, region="us-east-1")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def driver_of(tmp_path, clock):
    """Return a client on the backend given, with one launch planned."""

    def make(backend):
        ledger = Ledger(tmp_path / "ledger.sqlite")
        ledger.plan([launch_of(P4D, price=rate())])
        return Driver(ledger=ledger, backend=backend, folder=tmp_path / "launches", now=clock, instant=clock.instant)

    return make


@pytest.mark.parametrize("broken", ["_note", "_state", "_all"])
def test_a_job_that_ends_while_the_ledger_cannot_be_used_is_brought_home_and_taken_down(
    driver_of, clock, monkeypatch, broken
):
    """Nothing can be written, or even read: no minute after the job is paid for, and the user gets a message."""
    backend = ScriptedBackend(
        statuses=[NodeStatus(phase=LaunchPhase.RUNNING)] * 3 + [NodeStatus(phase=LaunchPhase.SUCCEEDED)]
    )
    told: list[str] = []
    driver = replace(driver_of(backend), tell=told.append)
    driver.step("r1", submit=True)
    driver.step("r1")
    known = Unwritten(driver.ledger.entry("r1"))

    def full(*_arguments, **_named):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(Ledger, broken, staticmethod(full))
    monkeypatch.setattr(Ledger, "events", full)

    def look_five_times() -> None:
        for _ in range(5):
            clock.forward(timedelta(seconds=40))
            driver._watched_step(known)

    with pytest.raises(NodeError, match=r"down.*ledger does not know"):
        look_five_times()
    assert backend.asked == ["submit", "collect", "down", "verify"]
    assert 1 <= len(told) <= 3, "once a minute, not at every look"


def test_a_fault_of_ours_ends_no_watch(driver_of, clock):
    """A provider's library may raise anything; at the deadline the machine goes."""

    class BackendWithoutStatus(ScriptedBackend):
        def status(self, launch):
            raise KeyError("launched_at")

    backend = BackendWithoutStatus()
    driver = driver_of(backend)
    driver.step("r1", submit=True)
    known = Unwritten(driver.ledger.entry("r1"), deadline_at=driver.ledger.entry("r1").launch.deadline_at)
    for _ in range(3):
        driver._watched_step(known)
    assert backend.asked == ["submit"]
    clock.forward(known.deadline_at - clock.now)
    assert driver._watched_step(known).state is State.DOWN_VERIFIED
    assert backend.asked == ["submit", "collect", "down", "verify"]


@pytest.mark.parametrize("fault", [KeyError("x"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")], ids=repr)
def test_results_that_cannot_be_read_keep_no_machine_up(driver_of, clock, fault):
    class Bad(ScriptedBackend):
        def collect(self, launch, into):
            self.asked.append("collect")
            raise fault

    driver = driver_of(Bad(statuses=[NodeStatus(phase=LaunchPhase.SUCCEEDED)]))
    driver.step("r1", submit=True)
    driver.step("r1")
    clock.forward(timedelta(minutes=6))
    assert driver.step("r1").state is State.DOWN_VERIFIED
    assert driver.backend.asked == ["submit", "collect", "collect", "down", "verify"]


def test_taking_down_needs_no_ledger_that_can_be_written(driver_of, monkeypatch):
    backend = ScriptedBackend(statuses=[NodeStatus(phase=LaunchPhase.RUNNING)])
    driver = driver_of(backend)
    driver.step("r1", submit=True)

    def full(*_arguments, **_named):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(Ledger, "_note", staticmethod(full))
    with pytest.raises(NodeError, match="its machines are down"):
        driver.cancel("r1")
    assert backend.asked[-2:] == ["down", "verify"]


def test_a_proof_that_never_comes_is_not_waited_for_without_end(driver_of, clock, monkeypatch):
    """The ledger cannot be written, and this machine's time since its boot does not advance: 5 + 2 minutes of looks."""
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", 300.0)
    waited: list[float] = []
    slow = SimpleNamespace(monotonic=lambda: sum(waited), sleep=waited.append)
    monkeypatch.setattr("planner.launcher.drive.drive.time", slow)
    driver = driver_of(ScriptedBackend(statuses=[NodeStatus(phase=LaunchPhase.PENDING)]))
    driver.step("r1", submit=True)

    def full(*_arguments, **_named):
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(Ledger, "_note", staticmethod(full))
    with pytest.raises(NodeError, match="not proven, and the ledger does not know it") as raised:
        driver.cancel("r1")
    assert sum(waited) == pytest.approx(420.0)
    assert "planner launches reap" in raised.value.fix


def test_one_bad_launch_stops_no_other(tmp_path, clock):
    """One of three launches raises a foreign error: the others end, then it is reported."""

    class BackendWithABadLaunch(ScriptedBackend):
        def submit(self, launch):
            super().submit(launch)
            if launch.run_id == "r2":
                raise ZeroDivisionError("a library's own")

        def verify_down(self, launch):
            if launch.run_id == "r2":
                raise NodeError("refused")
            return super().verify_down(launch)

    backend = BackendWithABadLaunch()
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def driver(_launch):
        return Driver(ledger=ledger, backend=backend, folder=tmp_path / "launches", now=clock, instant=clock.instant)

    stop_after = iter(range(30))

    def tick():
        if next(stop_after, None) is None:
            raise KeyboardInterrupt

    campaign = LaunchGroup(ledger=ledger, driver_of=driver, poll_s=lambda _: 0.001, tick=tick, tick_s=0.01)
    launches = [launch_of(P4D, run_id=f"r{n}", price=rate(14.0, highest=39.8)) for n in (1, 2, 3)]
    with pytest.raises(KeyboardInterrupt):
        campaign.start(launches, check=lambda _: None)
    states = {entry.launch.run_id: entry.state for entry in ledger.entries()}
    assert states["r1"] is states["r3"] is State.DOWN_VERIFIED
    assert states["r2"] is not State.DOWN_VERIFIED, "its end is not confirmed"


def test_a_disk_that_lets_nothing_be_written_still_tells_what_runs(tmp_path, monkeypatch):
    """SQLite's own read-only connection simulates the disk: root may write what its rights forbid."""
    path = tmp_path / "ledger.sqlite"
    Ledger(path).plan([launch_of(P4D, price=rate())])
    connect = Ledger._connect

    def of_the_disk(self):
        connection = connect(self)
        connection.execute("PRAGMA query_only = ON")
        return connection

    monkeypatch.setattr(Ledger, "_connect", of_the_disk)
    ledger = Ledger(path)
    assert ledger.read_only
    assert [entry.state for entry in ledger.entries()] == [State.PLANNED]
    assert ledger.events("r1")
    with pytest.raises(StoreError, match="readonly"):
        ledger.note("r1", "X", "", at=NOON)
