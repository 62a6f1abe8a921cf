"""One launch under faults: clients come and go, one after the other, until it is over or they give up.

The driver, `reap`, the backend and the ledger are the product's own. What goes over the network is in memory
(tests/launcher/simulated), and time passes only while a client waits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from planner.errors import PlannerError
from planner.launcher.cloud.account import account_of
from planner.launcher.drive import drive
from planner.launcher.drive.drive import Driver
from planner.launcher.ledger.entry import LedgerEntry, State
from planner.launcher.plan.bill import TimeCaps
from planner.launcher.plan.target import LaunchProvider, Reach, Target
from planner.use_cases.launching import launches
from planner.use_cases.launching.launches import Launches
from planner.use_cases.launching.launches_reap import reap
from tests.launcher.clock import Clock
from tests.launcher.combinations.mortal_client import ClientDiedError, MortalBackend, TornLedger
from tests.launcher.combinations.single_fault import SingleFault
from tests.launcher.launches import launch_of, rate
from tests.launcher.simulated.cloud import Cloud, CloudMachine
from tests.launcher.simulated.skypilot import Sky, asked_instead

TARGETS = {
    LaunchProvider.AWS: Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, region="us-east-1"),
    LaunchProvider.LAMBDA: Target(provider="lambda", name="gpu_8x_h100_sxm5", devices_per_node=8),
    LaunchProvider.K8S: Target(provider="k8s", name="lab", devices_per_node=8),
}
CAPS = TimeCaps(max_minutes=6, provisioning_minutes=4, idle_minutes=2)
"""The watchdog comes after 10 minutes, the worst case is 12: so long faults last beyond it."""
POLL_S = 60.0
BOOT_S, JOB_S = 60.0, 300.0
CALM_S = 400.0
"""Time of watching a launch that must stay open, after the faults cease: longer than any proof takes."""
WATCHED_S = 2400.0
"""Longest wait for the alarm: one of them comes after half an hour."""
BOUND_S = 1200.0
"""Within which the launch must be over once the faults have ceased: four times the period of the proof."""


class PassingTime(threading.Event):
    """Wait of a client between two looks: time passes then."""

    def __init__(self, world: FaultyWorld) -> None:
        super().__init__()
        self._world = world

    def wait(self, timeout: float | None = None) -> bool:
        self._world.pass_time(timeout or POLL_S)
        return self._world.stopped


@dataclass
class FaultyWorld:
    """Surroundings of one row. `folder` is its workspace."""

    provider: LaunchProvider
    faults: tuple[SingleFault, ...]
    folder: Path
    alarm: str = ""
    """Words with which the launch must stay open; none where it must end."""
    clock: Clock = field(default_factory=Clock)
    unwritable: bool = False
    dies_at: set[str] = field(default_factory=set)
    """`verb:before`, `verb:after` or a state of the ledger, at which the client dies, once each."""
    stopped: bool = False
    """True if the present client is told to stop watching."""
    away_until_s: float = 0.0
    """Until when no client comes."""
    verb: str = "launch"
    """Command of the next client: launch, collect, down or reap."""
    said: list[str] = field(default_factory=list)
    """Exit codes of clients."""
    after_proof: list[CloudMachine] = field(default_factory=list)
    """Machines that came after a proof, which no client knows yet."""

    def __post_init__(self) -> None:
        self.cloud = Cloud(self.clock, self.provider, boots_for_s=BOOT_S)
        self.sky = Sky(self.cloud)
        self.backend = MortalBackend(self.sky, self.folder / "sky", self)
        self.ledger = TornLedger(self.folder / "ledger.sqlite", self)
        self._events = sorted(
            [
                (fault.strikes_s, number, fault.begin)
                for number, fault in enumerate(self.faults)
                if fault.strikes_s is not None
            ]
            + [
                (fault.ceases_s, number, fault.end) for number, fault in enumerate(self.faults) if fault.end is not None
            ],
            key=lambda event: event[:2],
        )
        self._proofs = [fault.begin for fault in self.faults if fault.strikes_s is None]
        calm_s = max([BOOT_S + JOB_S, *(fault.ceases_s for fault in self.faults)])
        self._calm_s = calm_s + CALM_S
        self.limit_s = calm_s + (WATCHED_S if self.alarm else BOUND_S)

    # --- time

    def pass_time(self, seconds: float) -> None:
        """Let time pass, with what happens meanwhile, and look at the ledger as a person might at any moment."""
        self.clock.forward(seconds=seconds)
        self.cloud.come()
        came = min((instance.came_s for instance in self.cloud.instances), default=None)
        if came is not None and self.cloud.now_s >= came + JOB_S and self.sky.job == "RUNNING":
            self.sky.job = "SUCCEEDED"
        self._strike()
        self.gone_is_gone()
        if self.is_enough():
            self.stopped = True

    def is_enough(self) -> bool:
        """Return whether more looks would show nothing: the bound is reached, or what stays wrong was said."""
        now_s = self.cloud.now_s
        return now_s > self.limit_s or (bool(self.alarm) and now_s > self._calm_s and self.alarm in self.told())

    def _strike(self) -> None:
        while self._events and self._events[0][0] <= self.cloud.now_s:
            self._events.pop(0)[2](self)

    def gone_is_gone(self) -> None:
        """Fail where the ledger says that all is gone and a machine runs that came before."""
        if self.entry.state is State.DOWN_VERIFIED:
            left = [machine.id for machine in self.cloud.running if machine not in self.after_proof]
            assert not left, (left, self.told())

    # --- clients

    @contextmanager
    def mortal(self, verb: str) -> Iterator[None]:
        """Let the client die before or after one of its verbs."""
        self.die_here(f"{verb}:before")
        yield
        self.die_here(f"{verb}:after")

    def die_here(self, where: str) -> None:
        """Kill the client where it is to die here."""
        if where in self.dies_at:
            self.dies_at.remove(where)
            raise ClientDiedError(where)

    @property
    def entry(self) -> LedgerEntry:
        """The launch as the ledger has it."""
        return self.ledger.entry("r1")

    def run(self) -> LedgerEntry:
        """Let clients do their work until the launch is over, or for as long as the bound allows."""
        slow = SimpleNamespace(monotonic=lambda: self.cloud.now_s, sleep=self.pass_time)
        with ExitStack() as stack:
            stack.enter_context(closing(self.ledger._connect()))  # kept open: the last one to close tidies the file
            stack.enter_context(asked_instead(self.cloud))
            stack.enter_context(patch.object(drive, "time", slow))
            stack.enter_context(patch.object(launches, "time", slow))
            self._plan()
            self._strike()
            while not self.is_enough():
                self._one_client()
                self.gone_is_gone()
                if not self.entry.open and not self._something_after_the_proof():
                    break
                self.stopped = False
                self.pass_time(max(POLL_S, self.away_until_s - self.cloud.now_s))
            self.gone_is_gone()
            assert not self.after_proof or self.entry.open, "what came after the proof was found"
        return self.entry

    def _plan(self) -> None:
        launch = launch_of(TARGETS[self.provider], price=rate(), caps=CAPS)
        changes = {"account": account_of(launch.target), "task": {"run": "true"}}
        self.ledger.plan([launch.model_copy(update=changes)])

    def _something_after_the_proof(self) -> bool:
        if not self._proofs:
            return False
        self._proofs.pop()(self)
        self.verb = "reap"
        self.limit_s = self.cloud.now_s + self.cloud.ends_for_s + BOUND_S
        return True

    def _one_client(self) -> None:
        """Run the next client until it ends or dies; after a death another one goes on at another machine."""
        verb, self.verb = self.verb, "collect"
        driver, stop = self._driver(), PassingTime(self)
        try:
            if verb == "launch":
                with driver.lock("r1", needed=True):
                    driver.go_on("r1", stop=stop, poll_s=POLL_S, submit=True)
            elif verb == "down":
                self._launches().cancel_all(["r1"])
            elif verb == "reap":
                reap(self._launches(), take_down=True)
                self.after_proof.clear()
            else:
                driver.drive("r1", stop=stop, poll_s=POLL_S)
        except ClientDiedError:
            self.clock.reboot()
        except PlannerError as error:
            self.said.append(str(error))

    def _driver(self) -> Driver:
        return Driver(
            ledger=self.ledger,
            backend=self.backend,
            folder=self.folder / "launches",
            now=self.clock,
            instant=self.clock.instant,
            tell=self.said.append,
        )

    def _launches(self) -> Launches:
        made = Launches(
            home=str(self.folder),
            now=self.clock,
            instant=self.clock.instant,
            poll_s=POLL_S,
            _backends={Reach.SKYPILOT: self.backend},
        )
        made.__dict__["ledger"] = self.ledger
        return made

    # --- what came of it

    def told(self) -> str:
        """Return everything that was written down or said."""
        events = [f"{event.kind}: {event.text}" for event in self.ledger.events("r1")]
        return "\n".join([*events, *self.said])

    def up_s(self) -> float:
        """Return for how long at least one machine was up."""
        spans = sorted((instance.came_s, min(instance.ended_s, self.cloud.now_s)) for instance in self.cloud.instances)
        total, until = 0.0, 0.0
        for came, ended in spans:
            total += max(0.0, ended - max(came, until))
            until = max(until, ended)
        return total
