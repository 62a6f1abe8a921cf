"""Faults of docs/launch_faults.csv in memory: no machine keeps running unseen, and no measurement is lost."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from planner.errors import NodeError, RefusedError
from planner.launcher.drive.campaign import LaunchGroup
from planner.launcher.drive.drive import Driver
from planner.launcher.drive.steps import COLLECT_PATIENCE
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import Launched, LaunchPhase, NodeStatus
from planner.launcher.plan.target import Target
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON, launch_of, rate
from tests.launcher.scripted_backend import ScriptedBackend

P5E = Target(
    provider="aws",
    name="p5e.48xlarge",
    accelerator="H200-SXM",
    devices_per_node=8,
    purchase="spot",
    region="us-east-2",
)
CAME = Launched(
    instance_type="p5e.48xlarge", accelerator="H200", accelerators_per_node=8, nodes=1, region="us-east-2", spot=True
)
RUNNING = NodeStatus(phase=LaunchPhase.RUNNING, launched=CAME)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def drive(tmp_path, clock):
    """Plan one launch on the backend given, and return its driver."""

    def make(backend, *, planned=True):
        driver = Driver(
            ledger=Ledger(tmp_path / "ledger.sqlite"),
            backend=backend,
            folder=tmp_path / "launches",
            now=clock,
            instant=clock.instant,
        )
        if planned:
            driver.ledger.plan([launch_of(P5E, price=rate(14.0, highest=39.8))])
        return driver

    return make


def step(driver, times=1, *, submit=True):
    for _ in range(times):
        entry = driver.step("r1", submit=submit)
    return entry


def kinds(driver):
    return [event.kind for event in driver.ledger.events("r1")]


def test_a_good_launch_goes_through_every_state(drive):
    backend = ScriptedBackend(
        statuses=[NodeStatus(phase=LaunchPhase.PENDING), RUNNING, NodeStatus(phase=LaunchPhase.SUCCEEDED)]
    )
    driver = drive(backend)
    seen = [step(driver).state for _ in range(4)]
    assert seen == [State.SUBMITTED, State.SUBMITTED, State.RUNNING, State.DOWN_VERIFIED]
    assert backend.asked == ["submit", "collect", "down", "verify"]
    assert driver.ledger.entry("r1").outcome is LaunchOutcome.COMPLETED


def test_the_intent_is_in_the_ledger_before_the_backend_hears_of_it(drive):
    class Looks(ScriptedBackend):
        def submit(self, launch):
            assert Ledger(driver.ledger.path).entry("r1").state is State.SUBMITTED
            super().submit(launch)

    backend = Looks()
    driver = drive(backend)
    assert step(driver).state is State.SUBMITTED
    assert backend.asked == ["submit"]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"instance_type": "p5en.48xlarge"}, id="a p5en for the same H200:8"),
        pytest.param({"accelerators_per_node": 4}, id="half the accelerators"),
        pytest.param({"region": "us-west-2"}, id="another region"),
        pytest.param({"spot": False}, id="on demand instead of spot"),
        pytest.param({"nodes": 2}, id="two nodes for one"),
    ],
)
def test_another_machine_than_ordered_is_taken_down_unread(drive, changes):
    other = NodeStatus(phase=LaunchPhase.RUNNING, launched=CAME.model_copy(update=changes))
    backend = ScriptedBackend(statuses=[other])
    driver = drive(backend)
    entry = step(driver, 2)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.MISMATCH)
    assert backend.asked == ["submit", "down", "verify"]
    assert "MISMATCH" in kinds(driver)


@pytest.mark.parametrize(
    ("phase", "outcome"),
    [
        pytest.param(LaunchPhase.FAILED, LaunchOutcome.FAILED, id="the job failed"),
        pytest.param(LaunchPhase.SETUP_FAILED, LaunchOutcome.SETUP_FAILED, id="the set-up failed"),
        pytest.param(LaunchPhase.REFUSED, LaunchOutcome.REFUSED, id="no capacity"),
    ],
)
def test_after_a_failure_what_there_is_is_collected_before_everything_goes_down(drive, phase, outcome):
    backend = ScriptedBackend(statuses=[NodeStatus(phase=phase, detail="why")])
    entry = step(drive(backend), 2)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, outcome)
    assert backend.asked == ["submit", "collect", "down", "verify"]


def test_a_provider_that_refuses_leaves_nothing_and_says_why(drive):
    backend = ScriptedBackend(submit_error=NodeError("InsufficientInstanceCapacity: no p5e."))
    driver = drive(backend)
    entry = step(driver)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.REFUSED)
    assert backend.asked[-2:] == ["down", "verify"]
    assert any("InsufficientInstanceCapacity" in event.text for event in driver.ledger.events("r1"))


@pytest.mark.parametrize(
    ("pushed", "outcome"),
    [
        pytest.param(1, LaunchOutcome.TRUNCATED, id="its steps had been pushed"),
        pytest.param(0, LaunchOutcome.LOST, id="nothing came home"),
    ],
)
def test_a_preempted_node_is_lost_but_what_it_pushed_is_not(drive, pushed, outcome):
    backend = ScriptedBackend(
        statuses=[RUNNING, NodeStatus(phase=LaunchPhase.LOST)], results=0, steps=pushed, complete=False
    )
    driver = drive(backend)
    entry = step(driver, 3)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, outcome)
    assert ("COLLECTED" in kinds(driver)) == bool(pushed)
    assert ("LOST" in kinds(driver)) is True


def test_a_result_without_every_node_s_last_line_is_truncated(drive):
    entry = step(drive(ScriptedBackend(complete=False)), 2)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.TRUNCATED)


def test_the_watchdog_takes_everything_down_when_its_time_is_over(drive, clock):
    """20 minutes for the job and 35 before it: at 55 minutes, independent of the backend."""
    backend = ScriptedBackend(statuses=[RUNNING])
    driver = drive(backend)
    step(driver, 2)
    clock.forward(minutes=54.9)
    assert step(driver).state is State.RUNNING
    clock.forward(minutes=0.1)
    entry = step(driver)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.TRUNCATED)
    assert backend.asked == ["submit", "collect", "down", "verify"]


def test_expired_credentials_take_nothing_for_granted(drive):
    """A machine that cannot be asked is neither over nor down; the event is written once, not at every look."""
    expired = NodeStatus(phase=LaunchPhase.UNKNOWN, detail="ExpiredToken")
    backend = ScriptedBackend(statuses=[RUNNING, expired, expired, expired, NodeStatus(phase=LaunchPhase.SUCCEEDED)])
    driver = drive(backend)
    assert step(driver, 5).state is State.RUNNING
    assert kinds(driver).count("UNKNOWN") == 1
    assert step(driver).state is State.DOWN_VERIFIED


def test_results_that_will_not_come_are_asked_for_again_while_the_machine_is_kept(drive, clock):
    backend = ScriptedBackend(collect_errors=2)
    driver = drive(backend)
    assert step(driver, 3).state is State.SUBMITTED
    assert backend.asked == ["submit", "collect", "collect"]
    entry = step(driver)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.COMPLETED)


def test_patience_for_results_ends_and_the_machine_goes_down(drive, clock):
    backend = ScriptedBackend(collect_errors=99)
    driver = drive(backend)
    step(driver, 2)
    clock.forward(COLLECT_PATIENCE)
    entry = step(driver)
    assert entry.state is State.DOWN_VERIFIED
    assert backend.asked[-2:] == ["down", "verify"]
    assert [kind for kind in kinds(driver) if kind in ("LOST", "COLLECTED")] == ["LOST"]


def test_without_the_provider_s_word_a_launch_stays_open(drive):
    backend = ScriptedBackend(still_up=2)
    driver = drive(backend)
    entry = step(driver, 2)
    assert (entry.state, entry.open) == (State.COLLECTED, True)
    assert step(driver).open
    assert step(driver).state is State.DOWN_VERIFIED
    assert kinds(driver).count("STILL_UP") == 1
    assert backend.asked.count("down") == 3


@pytest.mark.parametrize("state", list(State))
def test_the_next_client_goes_on_from_any_state(drive, tmp_path, clock, state):
    """A killed client leaves a state; a new one, with nothing but the ledger, brings it to its end."""
    first = drive(ScriptedBackend())
    path = {
        State.PLANNED: [],
        State.SUBMITTED: [State.SUBMITTED],
        State.RUNNING: [State.SUBMITTED, State.RUNNING],
        State.COLLECTED: [State.SUBMITTED, State.RUNNING, State.COLLECTED],
        State.LOST: [State.SUBMITTED, State.RUNNING, State.LOST],
        State.DOWN_VERIFIED: [State.SUBMITTED, State.RUNNING, State.COLLECTED, State.DOWN_VERIFIED],
    }[state]
    for passed in path:
        first.ledger.move("r1", passed, at=clock(), deadline_at=NOON + timedelta(hours=1))
    backend = ScriptedBackend()
    entry = drive(backend, planned=False).drive("r1", stop=threading.Event(), poll_s=0.01)
    assert entry.state is State.DOWN_VERIFIED
    assert "submit" not in backend.asked
    expected = {
        State.PLANNED: [],
        State.SUBMITTED: ["collect", "down", "verify"],
        State.RUNNING: ["collect", "down", "verify"],
        State.COLLECTED: ["down", "verify"],
        State.LOST: ["down", "verify"],
        State.DOWN_VERIFIED: [],
    }
    assert backend.asked == expected[state]


def test_one_of_two_clients_drives_and_the_other_watches(drive):
    first, two = drive(ScriptedBackend(statuses=[RUNNING])), drive(ScriptedBackend(), planned=False)
    with first.lock("r1") as mine:
        assert mine
        first.step("r1", submit=True)
        stop = threading.Event()
        stop.set()
        assert two.drive("r1", stop=stop, poll_s=0.01).state is State.SUBMITTED
        assert two.backend.asked == []
    assert two.drive("r1", stop=threading.Event(), poll_s=0.01).state is State.DOWN_VERIFIED


def test_cancelling_brings_home_what_there_is(drive):
    backend = ScriptedBackend(statuses=[RUNNING], complete=False)
    driver = drive(backend)
    step(driver, 2)
    entry = driver.cancel("r1")
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.CANCELLED)
    assert backend.asked == ["submit", "collect", "down", "verify"]


def campaign(tmp_path, clock, backends, tick=lambda: None):
    ledger = Ledger(tmp_path / "ledger.sqlite")

    def driver_of(launch):
        return Driver(
            ledger=ledger,
            backend=backends[launch.run_id],
            folder=tmp_path / "launches",
            now=clock,
            instant=clock.instant,
        )

    return LaunchGroup(ledger=ledger, driver_of=driver_of, poll_s=lambda _: 0.01, tick=tick, tick_s=0.01)


def test_one_target_that_fails_does_not_stop_the_others(tmp_path, clock):
    backends = {"r1": ScriptedBackend(submit_error=NodeError("no capacity")), "r2": ScriptedBackend()}
    launches = [launch_of(P5E, run_id=run_id, price=rate()) for run_id in backends]
    entries = campaign(tmp_path, clock, backends).start(launches, check=lambda _: None)
    assert [entry.outcome for entry in entries] == [LaunchOutcome.REFUSED, LaunchOutcome.COMPLETED]
    assert all(entry.state is State.DOWN_VERIFIED for entry in entries)


def test_a_refused_campaign_submits_nothing(tmp_path, clock):
    def refuse(entries):
        raise RefusedError("over the cap")

    backends = {"r1": ScriptedBackend(), "r2": ScriptedBackend()}
    launches = [launch_of(P5E, run_id=run_id, price=rate()) for run_id in backends]
    first = campaign(tmp_path, clock, backends)
    with pytest.raises(RefusedError):
        first.start(launches, check=refuse)
    assert first.ledger.entries() == []
    assert all(backend.asked == [] for backend in backends.values())


def test_after_ctrl_c_launches_go_on_and_the_next_command_finds_them(tmp_path, clock):
    """The interruption comes in the thread that draws; nothing is taken down, and a later client finishes."""
    backends = {run_id: ScriptedBackend(statuses=[RUNNING]) for run_id in ("r1", "r2")}
    launches = [launch_of(P5E, run_id=run_id, price=rate()) for run_id in backends]

    def interrupt_when_running():
        if all(entry.state is State.RUNNING for entry in first.ledger.entries()):
            raise KeyboardInterrupt

    first = campaign(tmp_path, clock, backends, interrupt_when_running)
    with pytest.raises(KeyboardInterrupt):
        first.start(launches, check=lambda _: None)
    assert all(backend.asked == ["submit"] for backend in backends.values())
    for backend in backends.values():
        backend.statuses = [NodeStatus(phase=LaunchPhase.SUCCEEDED)]
    entries = campaign(tmp_path, clock, backends).resume(launches)
    assert [entry.outcome for entry in entries] == [LaunchOutcome.COMPLETED] * 2
