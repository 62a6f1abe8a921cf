"""A machine that comes after a submission that did not end well: looked for until none can come, and taken down."""

from __future__ import annotations

import pytest

from launcher.drive.drive import Driver
from launcher.drive.submission import is_settling
from launcher.ledger.entry import Entry, Event, Outcome, State
from launcher.ledger.ledger import Ledger
from launcher.plan.target import Provider, Target
from planner.errors import NodeError
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON, launch_of
from tests.launcher.scripted_backend import ScriptedBackend

P4D = Target(provider=Provider.AWS, name="p4d.24xlarge", devices_per_node=8, region="us-east-1")
HERE = Target(provider=Provider.LOCAL, name="here", devices_per_node=1)


@pytest.fixture(autouse=True)
def _five_minutes(monkeypatch, _settled_at_once):
    monkeypatch.setattr("launcher.drive.submission.SETTLED_AFTER_S", 300.0)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def refused(tmp_path, clock):
    """A launch that the provider refused, of which nothing is there yet."""
    said: list[str] = []
    driver = Driver(
        ledger=Ledger(tmp_path / "ledger.sqlite"),
        backend=ScriptedBackend(submit_error=NodeError("no capacity")),
        folder=tmp_path,
        now=clock,
        instant=clock.instant,
        tell=said.append,
    )
    driver.ledger.plan([launch_of(P4D)], check=lambda _: None)
    entry = driver.step("r1", submit=True)
    assert (entry.state, entry.outcome) == (State.COLLECTED, Outcome.REFUSED)
    assert said == ["r1: nothing is there; for 5 minutes a machine may still come and is looked for."]
    return driver


def test_a_machine_that_comes_late_is_taken_down(refused, clock):
    clock.forward(seconds=20)
    refused.backend.still_up = 1
    assert refused.step("r1").open
    clock.forward(seconds=300)
    assert refused.step("r1").state is State.DOWN_VERIFIED
    assert refused.backend.asked[-4:] == ["down", "verify", "down", "verify"]


@pytest.mark.parametrize(("seconds", "state"), [(299, State.COLLECTED), (300, State.DOWN_VERIFIED)])
def test_it_is_over_five_minutes_after_it_was_given_up(refused, clock, seconds, state):
    clock.forward(seconds=seconds)
    assert refused.step("r1").state is state


def test_a_clock_that_is_set_back_does_not_end_the_wait(refused, clock, tmp_path):
    clock.turn(hours=-30)
    clock.reboot()
    again = Driver(
        ledger=refused.ledger, backend=refused.backend, folder=tmp_path, now=clock, instant=clock.instant
    )  # fmt: skip
    assert again.step("r1").open
    clock.forward(seconds=300)
    assert again.step("r1").state is State.DOWN_VERIFIED


@pytest.mark.parametrize(
    ("target", "outcome", "seen", "waited_s", "settling"),
    [
        pytest.param(P4D, Outcome.REFUSED, False, 0.0, True, id="refused"),
        pytest.param(P4D, Outcome.CANCELLED, False, 299.0, True, id="cancelled before its job"),
        pytest.param(P4D, Outcome.CANCELLED, True, 0.0, False, id="cancelled at work"),
        pytest.param(P4D, Outcome.COMPLETED, False, 0.0, False, id="so quick that nobody saw it"),
        pytest.param(P4D, Outcome.LOST, False, 300.0, False, id="waited long enough"),
        pytest.param(HERE, Outcome.LOST, False, 0.0, False, id="no machine is ordered"),
    ],
)
def test_only_machines_that_were_ordered_and_never_seen_at_work_may_still_come(
    target, outcome, seen, waited_s, settling
):
    entry = Entry(
        launch=launch_of(target),
        state=State.LOST,
        outcome=outcome,
        submitted_at=NOON,
        ended_at=None,
        record_id=None,
    )
    events = [Event(at=NOON, kind="RUNNING", text="")] if seen else []
    assert is_settling(entry, events, waited_s=waited_s) is settling
