"""The launch protocol under every order of up to four faults: no path says that a launch is gone while a machine runs.

States and their changes: `launcher/ledger/entry.py` (State, LEGAL). Observations, ids and their clocks:
`launcher/plan/sighting.py` (Sight, Known, observed). The decision: `launcher/drive/gone.py` (judge). The assumption
without which nothing could be proven: a provider's list is behind for less than SETTLED_AFTER_S.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from planner.errors import NodeError
from planner.launcher.cloud.account import account_of
from planner.launcher.drive import gone
from planner.launcher.drive.drive import Driver
from planner.launcher.ledger.entry import State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.sighting import ANYTHING
from planner.launcher.plan.target import LaunchProvider, Target
from tests.launcher.clock import Clock
from tests.launcher.launches import launch_of, rate
from tests.launcher.simulated.cloud import Cloud
from tests.launcher.simulated.quick_ledger import QuickLedger
from tests.launcher.simulated.skypilot import SimulatedBackend, Sky, asked_instead

MOST_FAULTS = 4
PERIOD_S = 300.0
NO_TASK = {"run": "true"}
TARGETS = {
    LaunchProvider.AWS: Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, region="us-east-1"),
    LaunchProvider.LAMBDA: Target(provider="lambda", name="gpu_8x_h100_sxm5", devices_per_node=8),
}


@pytest.fixture(autouse=True)
def _five_minutes(monkeypatch, _settled_at_once):
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", PERIOD_S)


class Protocol(RuleBasedStateMachine):
    """One launch, its ledger, its cloud, and clients that come and go."""

    provider = LaunchProvider.AWS

    def __init__(self) -> None:
        super().__init__()
        assert gone.SETTLED_AFTER_S == PERIOD_S
        self.folder = Path(tempfile.mkdtemp(prefix="protocol-"))
        self.clock = Clock()
        self.cloud = Cloud(self.clock, self.provider)
        self.sky = Sky(self.cloud)
        self.faults = 0
        self.patched = asked_instead(self.cloud)
        self.patched.__enter__()
        ledger = QuickLedger(self.folder / "ledger.sqlite")
        launch = launch_of(TARGETS[self.provider], price=rate(), max_minutes=600.0)
        ledger.plan([launch.model_copy(update={"account": account_of(TARGETS[self.provider]), "task": NO_TASK})])
        self.driver = self.client(ledger)

    def client(self, ledger: Ledger) -> Driver:
        """Return a client that knows only the ledger."""
        return Driver(
            ledger=ledger,
            backend=SimulatedBackend(self.sky, self.folder / "sky"),
            folder=self.folder / "launches",
            now=self.clock,
            instant=self.clock.instant,
        )

    def teardown(self) -> None:
        """Check that after the faults `down` proves the end, except where the only key that could is gone for ever."""
        try:
            self.cloud.refusals = self.sky.fails = self.sky.lies = 0
            self.cloud.key_here = next(iter(self.cloud.keys))
            for _ in range(4):
                self.driver.cancel("r1")
                self.gone_is_gone()
                self.clock.forward(seconds=PERIOD_S + 1)
            entry = self.driver.ledger.entry("r1")
            seen_by_new_key = self.cloud.keys == {"key-1"} or self.provider is LaunchProvider.AWS
            assert not entry.open or not seen_by_new_key, self.driver.ledger.events("r1")
            assert not self.cloud.running or entry.open
        finally:
            self.patched.__exit__(None, None, None)
            shutil.rmtree(self.folder)

    @property
    def ids_known(self) -> bool:
        """Return whether every machine that runs is known by its id."""
        known = {machine.id for machine in self.driver.ledger.entry("r1").launch.known if machine.id != ANYTHING}
        return bool(self.cloud.instances) and {instance.id for instance in self.cloud.instances} <= known

    @initialize()
    def submitted(self) -> None:
        self.driver.step("r1", submit=True)

    @invariant()
    def gone_is_gone(self) -> None:
        entry = self.driver.ledger.entry("r1")
        running = [machine.id for machine in self.cloud.running]
        assert entry.state is not State.DOWN_VERIFIED or not running, (running, self.driver.ledger.events("r1"))

    # --- what clients do

    @rule()
    def look(self) -> None:
        self.driver.step("r1")

    @rule()
    def take_down(self) -> None:
        with suppress(NodeError):  # a failed question about a launch that is over is an error
            self.driver.cancel("r1")

    @rule(seconds=st.sampled_from([1.0, 20.0, 150.0, 299.0, 301.0]))
    def wait(self, seconds: float) -> None:
        self.clock.forward(seconds=seconds)

    @rule()
    def job_ends(self) -> None:
        self.sky.job = "SUCCEEDED"

    # --- faults, four at most

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(seconds=st.sampled_from([1.0, 60.0, PERIOD_S - 1.0]))
    def lists_are_behind(self, seconds: float) -> None:
        self.faults += 1
        self.cloud.blind_until_s = max(self.cloud.blind_until_s, self.cloud.now_s + seconds)

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(times=st.integers(1, 3))
    def the_end_is_refused(self, times: int) -> None:
        self.faults += 1
        self.cloud.refusals += times

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(times=st.integers(1, 3))
    def skypilot_lies(self, times: int) -> None:
        self.faults += 1
        self.sky.lies += times

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(times=st.integers(1, 3))
    def skypilot_fails(self, times: int) -> None:
        self.faults += 1
        self.sky.fails += times

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule()
    def skypilot_forgets(self) -> None:
        self.faults += 1
        self.sky.cluster = False

    @precondition(lambda self: self.faults < MOST_FAULTS and self.ids_known)
    @rule()
    def labels_are_taken_away(self) -> None:
        self.faults += 1
        for instance in self.cloud.instances:
            instance.labelled = False

    @precondition(lambda self: self.faults < MOST_FAULTS and self.provider is LaunchProvider.LAMBDA)
    @rule()
    def the_key_is_rotated(self) -> None:
        self.faults += 1
        self.cloud.keys, self.cloud.key_here = {"key-2"}, "key-2"

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule()
    def the_keys_here_are_of_another_account(self) -> None:
        self.faults += 1
        self.cloud.key_here = "key-of-somebody-else"

    @rule()
    def the_keys_here_are_right_again(self) -> None:
        self.cloud.key_here = next(iter(self.cloud.keys))

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(hours=st.sampled_from([-30, 30]))
    def the_clock_is_set(self, hours: int) -> None:
        self.faults += 1
        self.clock.turn(hours=hours)

    @precondition(lambda self: self.faults < MOST_FAULTS)
    @rule(elsewhere=st.booleans())
    def another_client_goes_on(self, elsewhere: bool) -> None:
        self.faults += 1
        if elsewhere:
            self.clock.reboot()
        self.driver = self.client(QuickLedger(self.folder / "ledger.sqlite"))

    @precondition(lambda self: self.faults < MOST_FAULTS and bool(self.cloud.running))
    @rule()
    def the_provider_ends_a_machine(self) -> None:
        self.faults += 1
        self.cloud.take(self.cloud.running[0])


@pytest.mark.parametrize("examples", [15, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("provider", TARGETS, ids=str)
def test_no_order_of_four_faults_ends_in_a_proof_while_a_machine_runs(provider, examples):
    case = type("Case", (Protocol,), {"provider": provider})
    checks = list(HealthCheck)
    run_state_machine_as_test(
        case,
        settings=settings(
            max_examples=examples, stateful_step_count=16, deadline=None, suppress_health_check=checks, database=None
        ),
    )
