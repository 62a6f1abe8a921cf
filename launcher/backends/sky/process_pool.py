"""Chooses the SkyPilot for each launch: the user's own, or one whose catalog has our price of a Capacity Block."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from pathlib import Path

from planner.errors import NodeError
from planner.launcher.backends.sky.catalog import own_catalog
from planner.launcher.backends.sky.process import SkyProcess
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.target import LaunchProvider

REST_TIMEOUT_S = 30.0


class SkyProcessPool:
    """Processes that hold a SkyPilot each, created on demand. `place` is for logs and own catalogs."""

    def __init__(self, place: Path, *, sky_home: Path) -> None:
        self._place = place
        self._sky_home = sky_home
        self._ordinary: SkyProcess | None = None
        self._own: dict[str, SkyProcess] = {}

    def ordinary(self) -> SkyProcess:
        """Return the user's own SkyPilot."""
        if self._ordinary is None:
            self._ordinary = SkyProcess(log=self._place / "sky.log")
        return self._ordinary

    def of(self, launch: Launch) -> SkyProcess:
        """Return the SkyPilot of this launch."""
        target, rate = launch.target, launch.bill.rate
        if target.provider is not LaunchProvider.AWS or target.reservation is None or rate is None:
            return self.ordinary()
        if target.name not in self._own:
            place = self._place / f"catalog-{target.name}"
            extra = own_catalog(target, usd_per_node_hour=rate.usd_per_node_hour, sky_home=self._sky_home, place=place)
            self._own[target.name] = SkyProcess(extra, log=place / "sky.log")
        return self._own[target.name]

    def all_of(self, launches: Collection[Launch]) -> list[tuple[SkyProcess, str]]:
        """Return every SkyPilot that these launches may have used, with its name."""
        reserved = {launch.target.name: launch for launch in launches if launch.target.reservation is not None}
        own = [(self.of(launch), f"SkyPilot for {name}") for name, launch in sorted(reserved.items())]
        return [(self.ordinary(), "SkyPilot"), *own]

    def close(self) -> None:
        """End the processes. The user's API server continues. One of ours ends too, unless it has work to do."""
        for process in self._own.values():
            with contextlib.suppress(NodeError):  # then it continues as before
                process.ask_running("rest", timeout_s=REST_TIMEOUT_S)
            process.close()
        if self._ordinary is not None:
            self._ordinary.close()
        self._ordinary, self._own = None, {}
