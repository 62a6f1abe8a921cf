"""A cloud of one launch in memory: its machines and its present faults.

EC2's and Lambda's interfaces to it are in `ec2.py` and `lambda_api.py`, SkyPilot's in `skypilot.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from planner.launcher.plan.target import LaunchProvider
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON

REGION, OTHER_REGION = "us-east-1", "us-west-2"
STILL_LISTED_S = 3600.0
"""EC2 lists a terminated machine for about an hour."""


class EndRefusedError(Exception):
    """The cloud refuses a request to end machines."""


@dataclass
class CloudMachine:
    """One machine, as its cloud knows it."""

    id: str
    came_s: float = 0.0
    ended_s: float = math.inf
    """Time at which it stops to be billed."""
    asked_to_end: bool = False
    labelled: bool = True
    """True if it carries the tags, or at Lambda the name, by which we and SkyPilot find it."""
    type: str | None = None
    """Kind, where it differs from the order."""


@dataclass
class Cloud:
    """Machines and present faults of a cloud. Seconds are of the clock's own count."""

    clock: Clock
    provider: LaunchProvider
    instances: list[CloudMachine] = field(default_factory=list)
    orders: list[float] = field(default_factory=list)
    """Time at which machines that were ordered come."""
    gives: bool = True
    """True if it carries orders out."""
    boots_for_s: float = 0.0
    """Seconds from the order to the machine."""
    blind_until_s: float = 0.0
    """Until when its lists are empty."""
    refusals: int = 0
    """Number of requests to end machines that it still refuses."""
    deaf: int = 0
    """Number of requests to end machines that it still answers without carrying them out."""
    ends_for_s: float = 0.0
    """Seconds for which Lambda says `terminating` and bills the machine."""
    keys: set[str] = field(default_factory=lambda: {"key-1"})
    """Those that open the account."""
    key_here: str | None = "key-1"
    wrong: set[str] = field(default_factory=set)
    """Faults of its answers: names that `ec2.py` and `lambda_api.py` know."""
    ordered_type: str | None = None
    """The type of the machines that come, where it is another one than ordered."""

    @property
    def now_s(self) -> float:
        """The time since the clock's first boot."""
        return self.clock.passed_s

    @property
    def now(self) -> datetime:
        """Return the time by its own clock, which is never set."""
        return NOON + timedelta(seconds=self.now_s)

    @property
    def running(self) -> list[CloudMachine]:
        """Billed USD."""
        return [instance for instance in self.instances if instance.ended_s > self.now_s]

    def order(self) -> None:
        """Take an order for a machine."""
        if self.gives:
            self.orders.append(self.now_s + self.boots_for_s)
        self.come()

    def come(self) -> None:
        """Deliver the machines that are due."""
        due = [at for at in self.orders if at <= self.now_s]
        self.orders = [at for at in self.orders if at > self.now_s]
        for at in due:
            self.instances.append(CloudMachine(f"i-{len(self.instances)}", came_s=at, type=self.ordered_type))

    def listed(self, key: str | None) -> list[CloudMachine]:
        """Return what its list shows: EC2 also shows what was ended, Lambda does not."""
        self.come()
        if key not in self.keys or self.now_s < self.blind_until_s:
            return []
        kept_s = STILL_LISTED_S if self.provider is LaunchProvider.AWS else 0.0
        return [instance for instance in self.instances if instance.ended_s + kept_s > self.now_s]

    def end(self, ids: Sequence[str], key: str | None) -> set[str]:
        """End machines by their ids; return those that it says it ends. While its lists are behind it knows none."""
        if self.refusals:
            self.refusals -= 1
            raise EndRefusedError
        knows = key in self.keys and self.now_s >= self.blind_until_s
        found = [machine for machine in self.running if machine.id in ids and knows]
        if found and self.deaf:
            self.deaf -= 1
            return {machine.id for machine in found}
        for machine in found:
            self.take(machine)
        return {machine.id for machine in found}

    def take(self, machine: CloudMachine) -> None:
        """End one machine. Lambda may take its time."""
        if not machine.asked_to_end:
            machine.asked_to_end, machine.ended_s = True, self.now_s + self.ends_for_s
