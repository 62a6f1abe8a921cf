"""SkyPilot over a cloud in memory, and the product's own backend that asks it; only the network is replaced."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from planner.errors import NodeError
from planner.launcher.backends.sky.backend import SkyBackend
from planner.launcher.backends.sky.process import SkyRefusalError
from planner.launcher.cloud import aws, kubernetes, lambda_labs
from planner.launcher.plan.backend import Collected, Launch
from planner.launcher.plan.target import LaunchProvider
from tests.launcher.launches import NOON
from tests.launcher.simulated.cloud import REGION, Cloud
from tests.launcher.simulated.ec2 import Ec2InMemory
from tests.launcher.simulated.kubernetes_api import CoreInMemory
from tests.launcher.simulated.lambda_api import requested

UNREACHED = {"silent", "html", "fault", "throttled", "odd", "repeats", "keys-refused"}
"""Faults of a cloud with which SkyPilot cannot ask it either."""
NO_CHECK = ssl.create_default_context()
"""Made once, because making one takes longer than a whole step."""


@dataclass
class Sky:
    """SkyPilot's own view of the cluster of one launch."""

    cloud: Cloud
    cluster: bool = False
    """True if its list has the cluster."""
    requested: str | None = None
    """The state of the request for machines, while there is no cluster."""
    job: str = "RUNNING"
    ran: bool = False
    """True if the job began."""
    seeks_on: bool = False
    """True if it seeks another machine instead of using the one that came."""
    lies: int = 0
    """Number of times that `down` says that it is done and ends nothing."""
    fails: int = 0
    """Number of times that `down` fails."""
    gives_up: bool = False
    """True if it gives the order up although the cloud carries it out."""
    loses: bool = False
    """True if the answer to the submission is lost."""
    silent: bool = False
    lists_for_ever: bool = False
    asked: list[str] = field(default_factory=list)

    def ask(self, do: str, **question: Any) -> Any:
        """Answer in the place of its process."""
        self.asked.append(do)
        if self.silent:
            raise NodeError("SkyPilot's server does not answer.")
        if do == "submit":
            return self._submit()
        if do == "look":
            return self._look(refresh=question.get("refresh", False))
        if do == "down":
            return self._down()
        if do == "clusters":
            return [self._record()] if self.cluster else []
        raise AssertionError(do)

    def _submit(self) -> str:
        self.requested = "RUNNING"
        self.cloud.order()
        if self.loses:
            raise SkyRefusalError("RuntimeError", "connection reset by peer")
        return "request"

    def _look(self, *, refresh: bool) -> dict[str, Any]:
        self._go_on()
        if refresh and not self.lists_for_ever:
            self._reach()
            found = [machine for machine in self.cloud.listed(self.cloud.key_here) if machine in self.cloud.running]
            self.cluster = self.cluster and any(machine.labelled for machine in found)
        if self.requested == "FAILED":
            error = {"type": "ResourcesUnavailableError", "message": "no capacity"}
            return {"launch": {"status": "FAILED", "error": error}, "cluster": None, "job": None}
        if not self.cluster:
            launch = None if self.requested is None else {"status": self.requested}
            return {"launch": launch, "cluster": None, "job": None}
        job = {"id": 1, "status": self.job} if self.cloud.running else None
        return {"launch": None, "cluster": self._record(), "job": job}

    def _go_on(self) -> None:
        """Make the cluster once its machine has come, or give the order up."""
        self.cloud.come()
        if self.requested == "RUNNING" and self.gives_up:
            self.requested = "FAILED"
        elif self.requested == "RUNNING" and self.cloud.instances and not self.seeks_on:
            self.requested, self.cluster, self.ran = None, True, True

    def _record(self) -> dict[str, Any]:
        machines = self.cloud.instances[:1]
        target_type = machines[0].type if machines else None
        launched = {"nodes": 1, "region": REGION if self.cloud.provider is LaunchProvider.AWS else None}
        if target_type is not None:
            launched["instance_type"] = target_type
        return {
            "name": "pl-r1",
            "status": "UP",
            "launched": launched,
            "launched_at": NOON.timestamp(),
            "autostop_minutes": 10,
            "to_down": True,
            "ids": [machine.id for machine in machines],
        }

    def _down(self) -> bool:
        """End what it finds by its tags in the cloud's list, cancel the request, then forget the cluster."""
        self._go_on()
        if self.fails:
            self.fails -= 1
            raise SkyRefusalError("RuntimeError", "throttled")
        self._reach()
        if "ends-forbidden" in self.cloud.wrong:
            raise SkyRefusalError("RuntimeError", "UnauthorizedOperation")
        if self.lies:
            self.lies -= 1
        else:
            found = [machine.id for machine in self.cloud.listed(self.cloud.key_here) if machine.labelled]
            try:
                self.cloud.end(found, self.cloud.key_here)
            except Exception as error:
                raise SkyRefusalError("RuntimeError", "the cloud refuses") from error
        there, self.cluster = self.cluster or self.requested is not None, self.lists_for_ever
        self.requested = None
        return there

    def _reach(self) -> None:
        if self.cloud.wrong & UNREACHED or self.cloud.key_here is None:
            raise SkyRefusalError("RuntimeError", "the cloud does not answer")


class SimulatedBackend(SkyBackend):
    """The product's backend on the simulated SkyPilot. Results are only named."""

    def __init__(self, sky: Sky, place: Path) -> None:
        super().__init__(place)
        self.sky = sky
        self.unreadable = False
        """True if results cannot be copied."""
        self.home = False
        """True if they were copied before."""
        self._processes: Any = self

    def of(self, launch: Launch) -> Sky:
        """Return SkyPilot."""
        del launch
        return self.sky

    def all_of(self, launches: object) -> list[tuple[Sky, str]]:
        """Return SkyPilot, and what it is called."""
        del launches
        return [(self.sky, "SkyPilot")]

    def collect(self, launch: Launch, into: Path) -> Collected:
        if self.unreadable:
            raise NodeError("results could not be copied.")
        self.home |= self.sky.ran and bool(self.sky.cloud.running)
        results = (into / "result.json",) if self.home else ()
        return Collected(folder=into, results=results, steps=(), log=None, complete=self.home)


@contextmanager
def asked_instead(cloud: Cloud) -> Iterator[None]:
    """Let the product ask this cloud, at Lambda's HTTP interface and through boto3's and Kubernetes' clients."""

    def client(service: str, region_name: str) -> Ec2InMemory:
        assert service in ("ec2", "sts")
        return Ec2InMemory(cloud, region_name)

    few = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with (
        patch.dict(os.environ, few, clear=True),  # also because each variable is a secret to look for in every text
        patch.object(ssl, "create_default_context", lambda: NO_CHECK),
        patch.object(httpx, "request", partial(requested, cloud)),
        patch.object(lambda_labs, "_key_in_file", lambda: cloud.key_here),
        patch.object(kubernetes, "_api", lambda _context: CoreInMemory(cloud)),
        patch.object(kubernetes, "contexts", list),
        patch.object(aws, "_client", client),
        patch.object(aws, "_region_here", lambda: REGION),
        patch.object(aws, "has_credentials", lambda: cloud.key_here is not None),
    ):
        yield
