"""Launches through SkyPilot: AWS, Lambda, Kubernetes, SSH node pools and Slurm.

SkyPilot carries the launch; whether anything is left is asked of the provider itself (launcher/cloud/), because
SkyPilot's own list can be wrong in both directions. Nothing is ever purged from that list.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from launcher.backends.base import (
    RESULT_NAME,
    SENTINEL,
    STEPS_NAME,
    Collected,
    Evidence,
    Launch,
    Leftover,
    NodeStatus,
    Phase,
)
from launcher.backends.sky_catalog import own_catalog
from launcher.backends.sky_identity import identities
from launcher.backends.sky_leftovers import CLUSTER_PREFIX, cluster_leftover, machine_leftover
from launcher.backends.sky_phase import UNDER_WAY, managed_status_of, status_of
from launcher.backends.sky_process import SkyProcess, SkyRefusalError
from launcher.backends.sky_rsync import SSH_CONFIGS, copy_results
from launcher.cloud import pushed
from launcher.cloud.machine import Machine
from launcher.cloud.ours import could_ask, delete, machines_of, machines_of_anybody
from launcher.cloud.reservation import check_reservation, reservation_of
from launcher.target import Provider
from launcher.task import sky_config_of
from planner.errors import InputError, NodeError

GONE = "ClusterDoesNotExist"
JOB_LOG = "job.log"


class SkyBackend:
    """The launcher's way through SkyPilot. `place` is a folder of the workspace for logs and own catalogs."""

    def __init__(self, place: Path, *, sky_home: Path | None = None) -> None:
        self._place = place.resolve()
        self._sky_home = Path.home() if sky_home is None else sky_home
        self._processes: dict[str, SkyProcess] = {}

    def close(self) -> None:
        """End the processes that hold SkyPilot; what was launched goes on."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    def check(self, launch: Launch) -> tuple[str, ...]:
        """Let SkyPilot's dry run find, price and accept the machine; return its table's lines."""
        _refuse_early(launch)
        reserved = (check_reservation(launch.target),) if launch.target.reservation is not None else ()
        sky = self._sky(launch)
        shown = sky.ask("dry_run", task=launch.task, config=_config(launch))
        return (*reserved, *(line.rstrip() for line in shown.splitlines() if line.strip()))

    def submit(self, launch: Launch) -> None:
        """Hand the launch to SkyPilot's server, unless it has it already."""
        _refuse_early(launch)
        sky = self._sky(launch)
        if self._known(launch):
            return
        if launch.target.reservation is not None:
            check_reservation(launch.target)
        task, managed = launch.task, launch.target.managed
        sky.ask("submit", task=task, cluster=launch.cluster, config=_config(launch), managed=managed)

    def status(self, launch: Launch) -> NodeStatus:
        """Ask SkyPilot; where it believes in machines but knows no job, let it ask the cloud."""
        try:
            if launch.target.managed:
                return managed_status_of(self._sky(launch).ask("look_managed", cluster=launch.cluster)["job"])
            seen = self._look(launch)
            status = status_of(seen)
            if status.phase in (Phase.SETTING_UP, Phase.UNKNOWN) and not _under_way(seen):
                status = status_of(self._look(launch, refresh=True))
            if launch.target.reservation is not None and status.launched is not None:
                place = reservation_of(machines_of(launch), launch.target)
                launched = status.launched.model_copy(update={"reservation": place})
                status = status.model_copy(update={"launched": launched})
        except InputError:
            raise
        except NodeError as error:
            return NodeStatus(phase=Phase.UNKNOWN, detail=str(error))
        return status

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        """Pass on the log of set-up and job; before there is one, that of how machines are sought."""
        sky = self._sky(launch)
        try:
            write(sky.ask("log", cluster=launch.cluster, managed=launch.target.managed))
        except SkyRefusalError:
            write(sky.ask("provision_log", cluster=launch.cluster))

    def collect(self, launch: Launch, into: Path) -> Collected:
        """Bring home what the nodes have by rsync, what they pushed to the store, and the logs.

        Each way is tried; the one error that counts is that none led anywhere although there are machines.
        """
        problems: list[str] = []
        log = self._write_log(launch, into, problems)
        if launch.store is not None:
            try:
                pushed.fetch(launch.store, launch.run_id, into)
            except NodeError as error:
                problems.append(str(error))
        if not launch.target.managed:  # after what was pushed, which may be older
            self._fetch_from_nodes(launch, into, problems)
        results = sorted(into.glob(f"start-*/{RESULT_NAME}"))
        steps = sorted(into.glob(f"start-*/{STEPS_NAME}"))
        if problems and not results and not steps:
            raise NodeError(f"nothing could be brought home from {launch.cluster}: {'; '.join(problems)}")
        text = "" if log is None else log.read_text(encoding="utf-8", errors="replace")
        ends = {line for line in text.splitlines() if f"{SENTINEL} run={launch.run_id} " in line}
        complete = bool(results) and len({_rank(line) for line in ends}) >= launch.target.nodes
        return Collected(folder=into, results=tuple(results), steps=tuple(steps), log=log, complete=complete)

    def down(self, launch: Launch) -> None:
        """Let SkyPilot end the launch and take the cluster down; what the cloud still has is terminated there.

        Where SkyPilot fails but the cloud could be asked and emptied, the work is done: its list heals by itself.
        """
        failed: NodeError | None = None
        try:
            what = "down_managed" if launch.target.managed else "down"
            self._sky(launch).ask(what, cluster=launch.cluster)
        except NodeError as error:
            failed = error
        if could_ask(launch.target) and not self._recovers(launch):
            delete([machine for machine in machines_of(launch) if machine.alive], launch.target)
        elif failed is not None:
            raise failed

    def verify_down(self, launch: Launch) -> Evidence:
        """Ask the cloud for machines with the launch's label, and SkyPilot for a launch that is still under way."""
        checks = []
        alive = False
        if could_ask(launch.target):
            found = machines_of(launch)
            alive = any(machine.alive for machine in found)
            checks.append(_said(launch, found))
        if launch.target.managed:
            job = self._sky(launch).ask("look_managed", cluster=launch.cluster)["job"]
            going = job is not None and not managed_status_of(job).phase.is_over
            checks.append(f"SkyPilot's managed job: {'none' if job is None else job['status']}")
            return Evidence(down=not alive and not going, checks=tuple(checks))
        seen = self._look(launch, refresh=not could_ask(launch.target))
        under_way = _under_way(seen)
        checks.append("SkyPilot: " + ("a launch is still under way" if under_way else "no launch under way"))
        if not could_ask(launch.target):
            alive = seen["cluster"] is not None
            checks.append("SkyPilot's list: " + (f"{seen['cluster']['status']}" if alive else "no such cluster"))
        return Evidence(down=not alive and not under_way, checks=tuple(checks))

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        """List SkyPilot's clusters with our prefix and the clouds' machines with our label, with an alarm where due.

        A cloud that cannot be asked is itself a leftover with an alarm: silence is no proof.
        """
        now = datetime.now(tz=UTC)
        own = {launch.cluster: launch for launch in known}
        found = []
        for process, where in [(self._ordinary(), "SkyPilot"), *self._own_catalogs(known)]:
            try:
                clusters = process.ask("clusters", prefix=CLUSTER_PREFIX)
            except NodeError as error:  # the clouds can still be asked
                found.append(Leftover(name="?", where=where, run_id=None, detail=error.message, alarm=True))
                continue
            found += [cluster_leftover(one, own.get(one["name"]), where=where, now=now) for one in clusters]
        for machine, problem in machines_of_anybody([launch.target for launch in known]):
            if machine is None:
                found.append(Leftover(name="?", where=problem, run_id=None, detail="could not be asked", alarm=True))
            elif machine.alive:
                found.append(machine_leftover(machine, now=now))
        return found

    def _recovers(self, launch: Launch) -> bool:
        """Say whether a controller of managed jobs would start again what is ended behind its back."""
        if not launch.target.managed:
            return False
        job = self._sky(launch).ask("look_managed", cluster=launch.cluster)["job"]
        return job is not None and not managed_status_of(job).phase.is_over

    def _look(self, launch: Launch, *, refresh: bool = False) -> dict[str, Any]:
        return dict(self._sky(launch).ask("look", cluster=launch.cluster, refresh=refresh))

    def _known(self, launch: Launch) -> bool:
        if launch.target.managed:
            return self._sky(launch).ask("look_managed", cluster=launch.cluster)["job"] is not None
        seen = self._look(launch)
        return seen["launch"] is not None or seen["cluster"] is not None

    def _write_log(self, launch: Launch, into: Path, problems: list[str]) -> Path | None:
        path = into / JOB_LOG
        try:
            text = self._sky(launch).ask("log", cluster=launch.cluster, managed=launch.target.managed)
        except NodeError as error:
            if not (isinstance(error, SkyRefusalError) and error.sky_type == GONE):  # where there is nothing to read
                problems.append(str(error))
            return path if path.exists() else None
        path.write_text(text, encoding="utf-8")
        return path

    def _fetch_from_nodes(self, launch: Launch, into: Path, problems: list[str]) -> None:
        """Copy the results of node 0, and below `node-<rank>` what others left."""
        try:
            hosts = self._sky(launch).ask("reach", cluster=launch.cluster)
        except NodeError as error:
            problems.append(str(error))
            return
        config = self._sky_home / SSH_CONFIGS / launch.cluster
        for rank, host in enumerate(hosts):
            folder = into if rank == 0 else into / f"node-{rank}"
            problem = copy_results(host, launch.run_id, folder, config=config)
            if problem is not None:
                problems.append(f"node {rank}: {problem}")

    def _sky(self, launch: Launch) -> SkyProcess:
        """Return the SkyPilot of this launch: an ordinary one, or one with our price in its catalog."""
        target, rate = launch.target, launch.bill.rate
        if target.provider is not Provider.AWS or target.reservation is None or rate is None:
            return self._ordinary()
        place = self._catalog_place(target.name)
        if target.name not in self._processes:
            extra = own_catalog(target, usd_per_node_hour=rate.usd_per_node_hour, sky_home=self._sky_home, place=place)
            self._processes[target.name] = SkyProcess(extra, log=place / "sky.log")
        return self._processes[target.name]

    def _own_catalogs(self, known: Collection[Launch]) -> list[tuple[SkyProcess, str]]:
        reserved = {launch.target.name: launch for launch in known if launch.target.reservation is not None}
        return [(self._sky(launch), f"SkyPilot for {name}") for name, launch in sorted(reserved.items())]

    def _ordinary(self) -> SkyProcess:
        if "" not in self._processes:
            self._processes[""] = SkyProcess(log=self._place / "sky.log")
        return self._processes[""]

    def _catalog_place(self, name: str) -> Path:
        return self._place / f"catalog-{name}"


def _refuse_early(launch: Launch) -> None:
    """Refuse what SkyPilot would refuse late, or not at all."""
    missing = [name for name in ("rsync", "ssh") if shutil.which(name) is None]
    if missing:
        raise InputError(f"{missing[0]} is not on this machine, and SkyPilot needs it.", fix="Install it first.")
    if launch.target.managed and launch.store is None:
        raise InputError(
            "a managed job's machines are gone when it ends, and its results with them.",
            fix="Name a store to which the nodes push: --store s3://bucket/prefix (docs/launching-clouds.md).",
        )


def _config(launch: Launch) -> list[str]:
    """Return SkyPilot's settings of a launch as `a.b=value`."""
    asked = sky_config_of(launch.target, launch.bill.caps)
    return [f"{key}={json.dumps(value)}" for key, value in asked.items()] + identities(launch)


def _under_way(seen: dict[str, Any]) -> bool:
    return seen["launch"] is not None and seen["launch"]["status"] in UNDER_WAY


def _rank(line: str) -> str:
    return next((word for word in line.split() if word.startswith("rank=")), "")


def _said(launch: Launch, found: list[Machine]) -> str:
    who = {Provider.AWS: "EC2", Provider.LAMBDA: "Lambda"}.get(launch.target.provider, "Kubernetes")
    states: dict[str, int] = {}
    for machine in found:
        states[machine.state] = states.get(machine.state, 0) + 1
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items())) or "none"
    return f"{who}, machines of {launch.cluster}: {counted}"
