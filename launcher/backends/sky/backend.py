"""Launches through SkyPilot: AWS, Lambda, Kubernetes, SSH node pools and Slurm.

SkyPilot carries the launch. The provider itself is asked whether anything is left (launcher/cloud/), because SkyPilot's
own list can be wrong in both directions. Nothing is ever purged from that list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from planner.errors import InputError, NodeError
from planner.launcher.backends.sky.collect import collect
from planner.launcher.backends.sky.launch_config import config_of, refuse_early
from planner.launcher.backends.sky.leftovers import answer_leftovers, listed_by_skypilot, storage_leftovers
from planner.launcher.backends.sky.phase import (
    by_skypilot,
    exists_at_provider,
    goes_on,
    managed_status_of,
    status_of,
    under_way,
)
from planner.launcher.backends.sky.process import SkyProcessPool, SkyRefusalError
from planner.launcher.cloud.account import account_of, wrong_witness
from planner.launcher.cloud.aws_storage import delete as delete_stored
from planner.launcher.cloud.provider_machines import (
    could_ask,
    delete,
    end_everywhere,
    look,
    machines_of,
    machines_of_anybody,
    storage_of_anybody,
    to_end,
)
from planner.launcher.cloud.reservation import check_reservation, reservation_of
from planner.launcher.plan.backend import (
    Collected,
    DownEvidence,
    Launch,
    LaunchPhase,
    Leftover,
    NodeStatus,
    ProviderTime,
)
from planner.launcher.plan.sighting import Sighting
from planner.launcher.plan.task import cluster_name


class SkyBackend:
    """Backend that launches through SkyPilot. `place` is a folder of the workspace for logs and own catalogs."""

    def __init__(self, place: Path, *, sky_home: Path | None = None) -> None:
        self._sky_home = Path.home() if sky_home is None else sky_home
        self._processes = SkyProcessPool(place.resolve(), sky_home=self._sky_home)

    def close(self) -> None:
        """End the processes that hold SkyPilot. Launched jobs continue."""
        self._processes.close()

    def check(self, launch: Launch) -> tuple[str, ...]:
        """Let SkyPilot's dry run find, price and accept the machine. Return its table's lines."""
        refuse_early(launch)
        reserved = (check_reservation(launch.target),) if launch.target.reservation is not None else ()
        sky = self._processes.of(launch)
        shown = sky.ask("dry_run", task=launch.task, config=config_of(launch))
        return (*reserved, *(line.rstrip() for line in shown.splitlines() if line.strip()))

    def account(self, launch: Launch) -> str | None:
        """Return the owner of the local credentials: the AWS account, the Lambda key, the Kubernetes cluster."""
        return account_of(launch.target)

    def ready(self, launch: Launch) -> None:
        """Refuse if something is missing here, or if the user's SkyPilot settings would break a cap."""
        refuse_early(launch)
        self._processes.of(launch).ask("check_settings", config=config_of(launch))

    def submit(self, launch: Launch) -> None:
        """Hand the launch to SkyPilot's server, unless it has it already."""
        refuse_early(launch)
        sky = self._processes.of(launch)
        if self._known(launch):
            return
        if launch.target.reservation is not None:
            check_reservation(launch.target)
        task, managed = launch.task, launch.target.managed
        sky.ask("submit", task=task, cluster=launch.cluster, config=config_of(launch), managed=managed)

    def status(self, launch: Launch) -> NodeStatus:
        """Return SkyPilot's status. If it lists machines but no job, it asks the cloud first."""
        try:
            if launch.target.managed:
                return managed_status_of(self._look_managed(launch))
            seen = self._look(launch)
            status = status_of(seen)
            if status.phase in (LaunchPhase.SETTING_UP, LaunchPhase.UNKNOWN) and not under_way(seen):
                status = status_of(self._look(launch, refresh=True))
            if launch.target.reservation is not None and status.launched is not None:
                place = reservation_of(machines_of(launch), launch.target)
                launched = status.launched.model_copy(update={"reservation": place})
                status = status.model_copy(update={"launched": launched})
        except InputError:
            raise
        except NodeError as error:
            return NodeStatus(phase=LaunchPhase.UNKNOWN, detail=str(error))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return NodeStatus(
                phase=LaunchPhase.UNKNOWN, detail=f"SkyPilot's answer cannot be read: {type(error).__name__}"
            )
        return status

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        """Pass on the log of set-up and job. Before there is one, pass on the log of provisioning."""
        sky = self._processes.of(launch)
        try:
            write(sky.ask("log", cluster=launch.cluster, managed=launch.target.managed))
        except SkyRefusalError:
            write(sky.ask("provision_log", cluster=launch.cluster))

    def collect(self, launch: Launch, into: Path) -> Collected:
        """Copy home what the nodes have, what they pushed to the store, and the logs."""
        return collect(self._processes.of(launch), launch, into, sky_home=self._sky_home)

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        """Return the provider's report on each machine; nothing if it cannot be asked without SkyPilot.

        With another account's credentials only what is listed counts, never what is absent.
        """
        if not could_ask(launch.target):
            return ()
        wrong = wrong_witness(launch) is not None
        return tuple(
            sighting for sighting in look(launch, learn=True).seen if not wrong or exists_at_provider(sighting)
        )

    def other_witness(self, launch: Launch) -> str | None:
        """Return why the account asked here cannot speak for this launch; None if it can."""
        return wrong_witness(launch) if could_ask(launch.target) else None

    def down(self, launch: Launch) -> None:
        """Let SkyPilot end the launch and take the cluster down. Terminate at the cloud what still exists there.

        The cloud is asked in every region. If SkyPilot fails but the cloud could be asked and emptied, the work is
        done: SkyPilot's list corrects itself. The machines of a managed job are left to its controller while it works,
        because it would restart one that was ended by someone else.
        """
        sky, failed = self._processes.of(launch), None
        try:
            if launch.target.managed:
                sky.ask("down_managed", cluster=launch.cluster)
                if goes_on(self._look_managed(launch)):
                    return
            else:
                sky.ask("down", cluster=launch.cluster)
        except NodeError as error:
            failed = error
        if failed is not None and (launch.target.managed or not could_ask(launch.target)):
            raise failed
        if could_ask(launch.target):
            unknown = wrong_witness(launch)
            if unknown is not None:
                raise NodeError(f"{launch.cluster}: {unknown}")
            seen = look(launch)
            delete(to_end(launch, seen), launch)
            if seen.problem is not None:
                raise seen.problem

    def verify_down(self, launch: Launch) -> DownEvidence:
        """Return whether nothing of the launch is left, according to the provider and to SkyPilot.

        The provider's answer counts from the account in which the machines were started, for every region that the
        launch may have reached. If SkyPilot still lists the cluster, it is made to ask the cloud once more. As long as
        it lists the cluster nothing is proven: the two then use different accounts.
        """
        unknown = self.other_witness(launch)
        if unknown is not None:
            return DownEvidence(down=False, checks=(unknown,), unknown=unknown)
        checks, left = [], False
        by_id: tuple[Sighting, ...] = ()
        if could_ask(launch.target):
            seen = look(launch)
            if seen.problem is not None:
                raise seen.problem
            left, by_id = any(machine.alive for machine in seen.machines), seen.seen
            checks.append(seen.said)
            if launch.account is None:
                checks.append("the account was not recorded: that of the keys here was asked")
        if launch.target.managed:
            managed = self._look_managed(launch)
            going = goes_on(managed)
            checks.append("SkyPilot's managed job: " + ("none" if managed["job"] is None else managed["job"]["status"]))
            by_id = by_id or by_skypilot(there=going)
            return DownEvidence(down=not left and not going, checks=tuple(checks), seen=by_id)
        reported = self._look(launch, refresh=not could_ask(launch.target))
        going = under_way(reported)
        checks.append("SkyPilot: " + ("a launch is still under way" if going else "no launch under way"))
        if reported["cluster"] is not None and could_ask(launch.target) and not left and not going:
            reported = self._look(launch, refresh=True)
        listed = reported["cluster"]
        by_id = by_id or by_skypilot(there=listed is not None)
        if listed is not None:
            checks.append(f"SkyPilot's list: {listed['status']}")
        elif not could_ask(launch.target):
            checks.append("SkyPilot's list: no such cluster")
        if listed is not None and could_ask(launch.target) and not left and not going:
            unknown = (
                f"unknown: SkyPilot lists {launch.cluster} as {listed['status']}, and the provider has no such machine."
                f" Does SkyPilot's server (sky api info) use the same account? Start it again with the keys here (sky "
                f"api stop), or, once the provider's console shows nothing: sky down --purge {launch.cluster}"
            )
            return DownEvidence(down=False, checks=(unknown, *checks), unknown=unknown, seen=by_id)
        return DownEvidence(down=not left and not going and listed is None, checks=tuple(checks), seen=by_id)

    def down_by_id(self, run_id: str) -> DownEvidence:
        """End the cluster and the managed job of this id, then everything with its label or name at any provider.

        The owner of the machines is unknown, so the local credentials of every provider are tried. The machines of a
        managed job are left to its controller while it works.
        """
        sky, cluster, checks, failed = self._processes.ordinary(), cluster_name(run_id), [], False
        for question in ("down_managed", "down"):
            try:
                there = sky.ask(question, cluster=cluster)
                if there and question == "down_managed" and goes_on(dict(sky.ask("look_managed", cluster=cluster))):
                    going = f"SkyPilot's managed job {cluster} was cancelled; its controller takes the machines down"
                    return DownEvidence(down=False, checks=(going,))
                checks.append(f"SkyPilot, {question}: {'done' if there else 'nothing there'}")
            except NodeError as error:
                checks.append(f"SkyPilot, {question}: {error.message}")
                failed = True
        answers = end_everywhere(run_id, cluster=cluster)
        left = any(machine.alive for answer in answers for machine in answer.machines)
        silent_ones = any(answer.problem is not None for answer in answers)
        return DownEvidence(
            down=not (failed or left or silent_ones), checks=(*checks, *(answer.in_words() for answer in answers))
        )

    def provider_time(self, launch: Launch) -> ProviderTime:
        """Return when the cloud listed the launch's machines, and when it started the first of them."""
        machines = machines_of(launch) if could_ask(launch.target) else []
        seen = [machine.seen_at for machine in machines if machine.seen_at is not None]
        started = [machine.started_at for machine in machines if machine.started_at is not None]
        return ProviderTime(now=max(seen, default=None), started_at=min(started, default=None))

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        """List SkyPilot's clusters and jobs with our names and the clouds' machines with our label, with alarms.

        A cloud or SkyPilot that cannot be asked is itself a leftover with an alarm: a missing answer proves nothing,
        and must not hide what others list.
        """
        now = datetime.now(tz=UTC)
        leftovers = listed_by_skypilot(self._processes.all_of(known), known, now=now)
        for answer in machines_of_anybody([launch.target for launch in known]):
            leftovers += answer_leftovers(answer, now=now)
        for storage in storage_of_anybody(known):
            leftovers += storage_leftovers(storage)
        return leftovers

    def delete_part(self, left: Leftover) -> None:
        """Delete a volume, an address or a snapshot that carries our label."""
        kind, _, name = (left.part or "").partition(" ")
        if not left.deletable:
            raise NodeError(f"{name}: does not carry our label, so it may be somebody's own.")
        delete_stored(name, kind, left.where)

    def _look_managed(self, launch: Launch) -> dict[str, Any]:
        return dict(self._processes.of(launch).ask("look_managed", cluster=launch.cluster))

    def _look(self, launch: Launch, *, refresh: bool = False) -> dict[str, Any]:
        return dict(self._processes.of(launch).ask("look", cluster=launch.cluster, refresh=refresh))

    def _known(self, launch: Launch) -> bool:
        if launch.target.managed:
            seen = self._look_managed(launch)
            return seen["job"] is not None or seen["launch"] is not None
        seen = self._look(launch)
        return seen["launch"] is not None or seen["cluster"] is not None
