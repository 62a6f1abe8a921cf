"""A machine may come after a failed submission: it is looked for until none can come, and taken down."""

from __future__ import annotations

import pytest

from planner.errors import NodeError
from planner.launcher.drive.drive import Driver
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.target import LaunchProvider, Target
from tests.launcher.clock import Clock
from tests.launcher.launches import launch_of
from tests.launcher.scripted_backend import ScriptedBackend

P4D = Target(provider=LaunchProvider.AWS, name="p4d.24xlarge", devices_per_node=8, region="us-east-1")


@pytest.fixture(autouse=True)
def _five_minutes(monkeypatch, _settled_at_once):
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", 300.0)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def refused(tmp_path, clock):
    """Return a launch that the provider refused, without a machine so far."""
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
    assert (entry.state, entry.outcome) == (State.COLLECTED, LaunchOutcome.REFUSED)
    assert said == ["r1: nothing is there; for 5 minutes a machine may still come and is looked for."]
    return driver


def test_a_machine_that_comes_late_is_taken_down(refused, clock):
    clock.forward(seconds=20)
    refused.backend.still_up = 1
    assert refused.step("r1").open
    clock.forward(seconds=300)
    assert refused.step("r1").open, "it was there a moment ago, so another may come"
    clock.forward(seconds=300)
    assert refused.step("r1").state is State.DOWN_VERIFIED
    assert refused.backend.asked[-6:] == ["down", "verify"] * 3


@pytest.mark.parametrize(("seconds", "state"), [(299, State.COLLECTED), (300, State.DOWN_VERIFIED)])
def test_a_refused_submission_is_over_after_five_minutes(refused, clock, seconds, state):
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
