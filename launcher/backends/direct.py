"""Launches on machines that exist already: this one, or hosts by SSH. It is a smaller version of what SkyPilot does.

The job runs in its own session on each node and outlives the connection. Its own two timeouts end it, so a client that
never comes back leaves nothing running for ever.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from planner.errors import NodeError
from planner.launcher.backends import node_scripts
from planner.launcher.backends.node_reports import (
    NONCE,
    NodeReport,
    phase_of_all,
    processes_in,
    read_marks,
    whole_numbers,
    why_not_proven,
)
from planner.launcher.cloud.account import OF_USER, TRUST, fingerprint, is_same_account
from planner.launcher.collect.results import LOG_LIMIT_BYTES, collected, last_step
from planner.launcher.plan.backend import (
    Collected,
    DownEvidence,
    Launch,
    Launched,
    LaunchPhase,
    Leftover,
    NodeStatus,
    ProviderTime,
)
from planner.launcher.plan.sighting import Sight, Sighting

SHARED_VARIABLE = "SKYPILOT_NODE_IPS"


class ReachableMachine(Protocol):
    """One machine and the way to talk to it. Each method raises NodeError if the machine is unreachable or fails."""

    name: str
    folder: str
    inner_address: str
    variables: dict[str, str]

    def bash(self, script: str) -> str:
        """Run a script there and return its output. A failing script raises NodeError."""

    def host_key(self) -> str:
        """Return the fingerprint of the host key; empty if there is none."""

    def copy_there(self, folder: Path, to: str) -> None:
        """Make the folder `to` there equal to the local one."""

    def copy_here(self, folder: str, into: Path) -> None:
        """Copy the contents of a folder there into a local one. A missing folder is not an error."""


class DirectBackend:
    """A launch over a list of machines; the first is node 0."""

    def __init__(
        self, machines_of: Callable[[Launch], Sequence[ReachableMachine]], everywhere: Sequence[ReachableMachine]
    ) -> None:
        self._machines_of = machines_of
        self._everywhere = everywhere

    def check(self, launch: Launch) -> tuple[str, ...]:
        """Log in to every machine and check that it is free."""
        seen = []
        for machine in self._machines_of(launch):
            gpus = machine.bash(
                "command -v timeout flock setsid >/dev/null && nvidia-smi -L 2>/dev/null | grep -c GPU; :"
            )
            running = machine.bash(node_scripts.running_ids()).split()
            busy = f"busy with {', '.join(running)}" if running else "free"
            seen.append(f"{machine.name}: answers, {gpus.strip() or 0} GPU(s), {busy}")
        return tuple(seen)

    def account(self, launch: Launch) -> str | None:
        """Return which machines these are and which user logs in. A name in hosts.yaml may later lead to another
        machine.

        Returns None if one of them has no id.
        """
        identities = [machine.bash(node_scripts.identity()).split() for machine in self._machines_of(launch)]
        ids = [f"{fingerprint(words[0])}{OF_USER}{words[1]}" for words in identities if len(words) == 2]
        return f"machine {', '.join(ids)}" if len(ids) == len(identities) else None

    def ready(self, launch: Launch) -> None:
        """Raise if a machine does not answer."""
        self.check(launch)

    def submit(self, launch: Launch) -> None:
        """Copy the benchmark to every machine, then start it everywhere. A second call starts nothing twice."""
        machines = self._machines_of(launch)
        (mount,) = launch.task["file_mounts"].values()
        for machine in machines:
            machine.copy_there(Path(mount), f"{machine.folder}/workloads")
        addresses = "\n".join(machine.inner_address for machine in machines)
        for rank, machine in enumerate(machines):
            variables = {
                **machine.variables,
                **launch.task["envs"],
                SHARED_VARIABLE: addresses,
                "SKYPILOT_NUM_NODES": str(len(machines)),
                "SKYPILOT_NODE_RANK": str(rank),
            }
            text = node_scripts.job(
                setup=launch.task["setup"],
                run=launch.task["run"],
                variables=variables,
                folder=machine.folder,
                rank=rank,
            )
            nonce = _marks_at_start(launch, machine).get(NONCE, "")
            script = node_scripts.start(
                job_text=text, folder=machine.folder, run_id=launch.run_id, rank=rank, nonce=nonce
            )
            machine.bash(script)

    def status(self, launch: Launch) -> NodeStatus:
        """Return the phase of the job over all machines; UNKNOWN if one of them does not answer."""
        seen = []
        for rank, machine in enumerate(self._machines_of(launch)):
            try:
                text = machine.bash(node_scripts.look(folder=machine.folder, run_id=launch.run_id, rank=rank))
            except NodeError as error:
                return NodeStatus(phase=LaunchPhase.UNKNOWN, detail=error.message)
            seen.append(NodeReport(machine.name, text))
        phase, detail = phase_of_all(seen)
        other = self.other_witness(launch) if phase.is_over else None
        if other is not None:
            return NodeStatus(phase=LaunchPhase.UNKNOWN, detail=other)
        began = any(node.phase in ("running", "over") for node in seen)
        return NodeStatus(
            phase=phase,
            detail=detail,
            progress=last_step(seen[0].steps),
            launched=Launched(nodes=len(seen)) if began else None,
        )

    def logs(self, launch: Launch, write: Callable[[str], None]) -> None:
        """Pass on every node's log, one after the other."""
        machines = self._machines_of(launch)
        for rank, machine in enumerate(machines):
            if len(machines) > 1:
                write(f"== node {rank}: {machine.name}\n")
            run = f"{node_scripts.home(machine.folder)}/results/{launch.run_id}"
            write(machine.bash(f"tail -c {LOG_LIMIT_BYTES} {run}/node-{rank}/job.log 2>/dev/null || :"))

    def collect(self, launch: Launch, into: Path) -> Collected:
        """Copy node 0's results and every node's log and errors."""
        machines = self._machines_of(launch)
        for rank, machine in enumerate(machines):
            run = f"{machine.folder}/results/{launch.run_id}"
            folder = into if rank == 0 else into / f"node-{rank}"
            machine.copy_here(f"{run}/node-{rank}", folder)
            for start in range(1, int(launch.task["envs"]["PLANNER_STARTS"]) + 1):
                machine.copy_here(f"{run}/start-{start}", folder / f"start-{start}")
        return collected(into, run_id=launch.run_id, nodes=len(machines))

    def down(self, launch: Launch) -> None:
        """End the run's processes on every machine. All machines are tried before the first failure is raised."""
        failures = []
        for machine in self._machines_of(launch):
            try:
                machine.bash(node_scripts.stop(folder=machine.folder, run_id=launch.run_id))
            except NodeError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def verify_down(self, launch: Launch) -> DownEvidence:
        """Look on every machine for processes of the run."""
        checks, down = [], True
        other = self.other_witness(launch)
        if other is not None:
            return DownEvidence(down=False, checks=(other,), unknown=other)
        for machine in self._machines_of(launch):
            try:
                pids, on_gpu = processes_in(
                    machine.bash(node_scripts.count(folder=machine.folder, run_id=launch.run_id))
                )
            except NodeError as error:
                checks.append(f"{machine.name}: cannot be asked: {error.message}")
                down = False
                continue
            checks.append(f"{machine.name}: {len(pids)} process(es) of {launch.run_id}")
            if on_gpu:
                checks.append(
                    f"{machine.name}: process {', '.join(on_gpu)} of this user holds an accelerator since after the "
                    "launch's start and may be its own; end it there if it is"
                )
            down = down and not pids and not on_gpu
        return DownEvidence(down=down, checks=tuple(checks))

    def sight(self, launch: Launch) -> tuple[Sighting, ...]:
        """Return the marks that tell each machine from every other, before the launch is started there."""
        seen = []
        for rank, machine in enumerate(self._machines_of(launch)):
            marks = self._marks(launch, machine, rank) | {NONCE: secrets.token_hex(16)}
            seen.append(Sighting(id=machine.name, where=machine.name, sight=Sight.ALIVE, marks=marks))
        return tuple(seen)

    def other_witness(self, launch: Launch) -> str | None:
        """Return why these machines cannot speak of a launch: it was started on others.

        A launch of an older ledger has no marks. Then the machine-id and the user are compared.
        """
        try:
            for rank, machine in enumerate(self._machines_of(launch)):
                started = _marks_at_start(launch, machine)
                why = why_not_proven(started, self._marks(launch, machine, rank)) if started else None
                if why is not None:
                    return f"unknown: not proven that {machine.name} is where it was started: {why}. {TRUST}"
            if launch.known or launch.account is None:
                return None
            asked = self.account(launch)
        except NodeError:
            return None  # the next caller gets the same answer
        if is_same_account(launch.account, asked):
            return None
        return f"unknown: it was started on {launch.account}, and {launch.target.id} is now {asked or 'without an id'}"

    @staticmethod
    def _marks(launch: Launch, machine: ReachableMachine, rank: int) -> dict[str, str]:
        script = node_scripts.marks(folder=machine.folder, run_id=launch.run_id, rank=rank)
        return read_marks(machine.bash(script), host_key=machine.host_key())

    def down_by_id(self, run_id: str) -> DownEvidence:
        """End the processes of a run on every machine that we can reach."""
        checks, down = [], True
        for machine in self._everywhere:
            try:
                machine.bash(node_scripts.stop(folder=machine.folder, run_id=run_id))
                left = len(processes_in(machine.bash(node_scripts.count(folder=machine.folder, run_id=run_id)))[0])
            except NodeError as error:
                checks.append(f"{machine.name}: cannot be asked: {error.message}")
                down = False
                continue
            checks.append(f"{machine.name}: {left} process(es) of {run_id}")
            down = down and left == 0
        return DownEvidence(down=down, checks=tuple(checks))

    def provider_time(self, launch: Launch) -> ProviderTime:
        """Return the time on node 0, and the start time of its job."""
        machine = self._machines_of(launch)[0]
        script = node_scripts.times(folder=machine.folder, run_id=launch.run_id)
        seconds = whole_numbers(machine.bash(script))
        if len(seconds) != 2:
            raise NodeError(f"{machine.name}: does not say when the job was started.")
        now, started = (datetime.fromtimestamp(moment, tz=UTC) for moment in seconds)
        return ProviderTime(now=now, started_at=started)

    def find_leftovers(self, known: Collection[Launch]) -> list[Leftover]:
        """List every run that has processes on a reachable machine. An unreachable machine is listed too."""
        del known
        leftovers = []
        for machine in self._everywhere:
            try:
                ids = machine.bash(node_scripts.running_ids()).split()
            except NodeError as error:
                detail = f"could not be asked: {error.message}"
                leftovers.append(
                    Leftover(name=machine.name, where=machine.name, run_id=None, detail=detail, alarm=True)
                )
                continue
            leftovers += [
                Leftover(name=f"pl-{run_id}", where=machine.name, run_id=run_id, detail="has processes")
                for run_id in ids
            ]
        return leftovers

    def delete_part(self, left: Leftover) -> None:
        """Refuse: a host has nothing that is billed separately."""
        raise NodeError(f"{left.name}: nothing of it can be deleted.")

    def close(self) -> None:
        """Do nothing: no connection stays open."""


def _marks_at_start(launch: Launch, machine: ReachableMachine) -> dict[str, str]:
    return next((machine_known.marks for machine_known in launch.known if machine_known.id == machine.name), {})
