"""A cloud of one launch in memory, and the SkyPilot before it: machines, lists that are behind, tags, keys, refusals.

The product's own backend asks it (`SimulatedBackend`); only what goes over the network is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

from launcher.backends.sky.backend import SkyBackend
from launcher.backends.sky.process import SkyRefusalError
from launcher.cloud import aws, lambda_labs
from launcher.cloud.account import lambda_account
from launcher.cloud.aws import Listing
from launcher.cloud.machine import Machine
from launcher.plan.backend import Collected, Launch
from launcher.plan.target import Provider
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON

REGION = "us-east-1"


@dataclass
class Instance:
    """One machine, as its cloud knows it."""

    id: str
    running: bool = True
    labelled: bool = True
    """Whether it carries the tags, or at Lambda the name, by which we and SkyPilot find it."""


@dataclass
class Cloud:
    """What is there, and what is wrong with it just now. Seconds are of the clock's own count."""

    clock: Clock
    provider: Provider
    instances: list[Instance] = field(default_factory=list)
    blind_until_s: float = 0.0
    """Until when its lists are empty."""
    refusals: int = 0
    """How many requests to end machines it still refuses."""
    keys: set[str] = field(default_factory=lambda: {"key-1"})
    """Those that open the account."""
    key_here: str = "key-1"
    cluster: bool = False
    """Whether SkyPilot's list has the cluster."""
    job: str = "RUNNING"
    sky_lies: int = 0
    sky_fails: int = 0
    orders: list[float] = field(default_factory=list)
    """When machines that were ordered come."""

    @property
    def now_s(self) -> float:
        """The time since the clock's first boot."""
        return self.clock.passed_s

    @property
    def running(self) -> list[Instance]:
        """What is billed."""
        return [one for one in self.instances if one.running]

    def come(self) -> None:
        """Let machines come whose time it is."""
        due = [at for at in self.orders if at <= self.now_s]
        self.orders = [at for at in self.orders if at > self.now_s]
        for _ in due:
            self.instances.append(Instance(f"i-{len(self.instances)}"))

    def listed(self, key: str) -> list[Instance]:
        """Return what its list shows: EC2 also shows what was ended, Lambda does not."""
        self.come()
        if key not in self.keys or self.now_s < self.blind_until_s:
            return []
        return [one for one in self.instances if one.running or self.provider is Provider.AWS]

    def end(self, ids: Sequence[str], key: str) -> set[str]:
        """End machines by their ids; return those that it says it ends. While its lists are behind it knows none."""
        if self.refusals:
            self.refusals -= 1
            raise lambda_labs._LambdaError("it refuses.", fix="Ask it.", status=500)
        knows = key in self.keys and self.now_s >= self.blind_until_s
        ended = {one.id for one in self.running if one.id in ids and knows}
        for one in self.instances:
            one.running = one.running and one.id not in ended
        return ended

    def ask(self, do: str, **question: Any) -> Any:
        """Answer in SkyPilot's place."""
        if do == "submit":
            self.cluster, self.orders = True, [*self.orders, self.now_s]
            self.come()
            return "request"
        if do == "look":
            return self._look(refresh=question.get("refresh", False))
        if do == "down":
            return self._down()
        raise AssertionError(do)

    def _look(self, *, refresh: bool) -> dict[str, Any]:
        self.come()
        if refresh and not [one for one in self.listed(self.key_here) if one.running and one.labelled]:
            self.cluster = False
        if not self.cluster:
            return {"launch": None, "cluster": None, "job": None}
        record = {"name": "c", "status": "UP", "launched": None, "launched_at": NOON.timestamp()}
        return {"launch": None, "cluster": record, "job": {"id": 1, "status": self.job}}

    def _down(self) -> bool:
        """End what SkyPilot finds by its tags in the cloud's list, then forget the cluster."""
        if self.sky_fails:
            self.sky_fails -= 1
            raise SkyRefusalError("RuntimeError", "throttled")
        if self.sky_lies:
            self.sky_lies -= 1
        else:
            found = [one.id for one in self.listed(self.key_here) if one.labelled]
            self.end(found, self.key_here)
        there, self.cluster = self.cluster, False
        return there


class SimulatedBackend(SkyBackend):
    """The product's backend, whose SkyPilot is the simulated one; no results come home."""

    def __init__(self, cloud: Cloud, place: Path) -> None:
        super().__init__(place)
        self._cloud = cloud
        self._processes: Any = self

    def of(self, launch: Launch) -> Cloud:
        """Return SkyPilot."""
        del launch
        return self._cloud

    def collect(self, launch: Launch, into: Path) -> Collected:
        return Collected(folder=into, results=(into / "result.json",), steps=(), log=None, complete=True)


@contextmanager
def asked_instead(cloud: Cloud) -> Iterator[None]:
    """Let the product ask this cloud, at Lambda's API or at EC2's."""

    def at_lambda(key: str) -> tuple[list[dict[str, Any]], datetime | None]:
        found = [
            {"id": one.id, "name": "pl-r1-0a1b2c3d-head" if one.labelled else "a-box", "status": "active"}
            for one in cloud.listed(key)
        ]
        return found, None

    def at_ec2(*, ids: dict[str, Sequence[str]] | None = None, **_: Any) -> Listing:
        named = {one for some in (ids or {}).values() for one in some}
        machines = tuple(
            Machine(id=one.id, name=one.id, where=REGION, state="running" if one.running else "terminated",
                    alive=one.running, run_id="r1")
            for one in cloud.listed(cloud.key_here)
            if one.labelled or one.id in named
        )  # fmt: skip
        return Listing(machines=machines)

    def end_at_ec2(machines: Sequence[Machine]) -> None:
        if machines:
            cloud.end([one.id for one in machines], cloud.key_here)

    def account(region: str | None) -> str:
        del region
        return "AWS account 1" if cloud.key_here in cloud.keys else "AWS account 2"

    with (
        patch.object(lambda_labs, "_listed", at_lambda),
        patch.object(lambda_labs, "_terminated", cloud.end),
        patch.object(lambda_labs, "keys", lambda: [cloud.key_here]),
        patch.object(aws, "listed", at_ec2),
        patch.object(aws, "terminate", end_at_ec2),
        patch.object(aws, "account", account),
        patch.object(aws, "enabled_regions", lambda _near: [REGION]),
    ):
        yield


def account_at_launch(provider: Provider) -> str:
    """Return the account that the ledger has of the launch."""
    return "AWS account 1" if provider is Provider.AWS else lambda_account("key-1")
