"""Launches on hosts by plain SSH and rsync, for machines without Kubernetes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from launcher.backends.direct import DirectBackend, Machine
from launcher.backends.hosts import Host
from launcher.backends.witness import host_key_in
from launcher.collect.incoming import RSYNC, incoming
from launcher.plan.backend import Launch
from planner.errors import InputError, NodeError, NotFoundError

CONNECT_TIMEOUT_S = 10
SCRIPT_TIMEOUT_S = 180.0
COPY_TIMEOUT_S = 600.0
HOST_KEY_TIMEOUT_S = 30.0
UNREACHABLE = 255
BEGINS = "PLANNER-SCRIPT-BEGINS"


class SshMachine:
    """One host of hosts.yaml. Never asks for a password: a launch may go on at night."""

    def __init__(self, name: str, host: Host) -> None:
        self.name = name
        self.folder = host.folder
        self.inner_address = host.inner_address or host.address
        self.variables = {**host.env, **({"PLANNER_PYTHON": host.python} if host.python else {})}
        self._host = host
        self._login = f"{host.user}@{host.address}" if host.user else host.address

    def bash(self, script: str) -> str:
        """Run a script there, given on stdin: nothing of it shows in the host's list of processes.

        What a login prints before it is left out. A host that did not begin it (another shell, a forced command) has
        not answered: its silence would prove that nothing runs.
        """
        given = f"printf '%s\\n' {BEGINS}\n{script}"
        said = self._run([*self._ssh(), self._login, "bash -s"], given=given, timeout_s=SCRIPT_TIMEOUT_S)
        _, began, answer = said.partition(f"{BEGINS}\n")
        if not began:
            raise NodeError(
                f"{self.name}: its login does not run what it is given.",
                fix=f"It must run bash: {shlex.join([*self._ssh(), self._login, 'bash -s'])}",
            )
        return answer

    def host_key(self) -> str:
        """Return the fingerprint of the host's key, as ssh tells it; empty where a shared connection hides it."""
        command = [*self._ssh(), "-v", self._login, "true"]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=HOST_KEY_TIMEOUT_S,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return host_key_in(done.stderr)

    def copy_there(self, folder: Path, to: str) -> None:
        """Copy with rsync; compiled files stay here."""
        self.bash(f"mkdir -p {_remote(to)}\n")
        self._rsync("-a", "--delete", "--exclude=__pycache__", f"{folder}/", f"{self._login}:{_bare(to)}/")

    def copy_here(self, folder: str, into: Path) -> None:
        """Copy with rsync; whole files only, put in place when they are complete."""
        if self.bash(f"test -d {_remote(folder)} && echo there; :").strip():
            with incoming(into) as staged:
                self._rsync(*RSYNC, f"{self._login}:{_bare(folder)}/", f"{staged}/")

    def _rsync(self, *arguments: str) -> None:
        command = ["rsync", "--timeout=60", "-e", shlex.join(self._ssh()), *arguments]
        self._run(command, given=None, timeout_s=COPY_TIMEOUT_S)

    def _ssh(self) -> list[str]:
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": str(CONNECT_TIMEOUT_S),
            "ServerAliveInterval": "15",
            "ServerAliveCountMax": "3",
            **self._host.ssh_options,
        }
        return [
            "ssh",
            *(part for name, value in options.items() for part in ("-o", f"{name}={value}")),
            *(["-p", str(self._host.port)] if self._host.port else []),
            *(["-i", str(Path(self._host.key).expanduser())] if self._host.key else []),
        ]

    def _run(self, command: Sequence[str], *, given: str | None, timeout_s: float) -> str:
        try:
            done = subprocess.run(
                command,
                input=given,
                stdin=subprocess.DEVNULL if given is None else None,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=timeout_s,
            )
        except subprocess.TimeoutExpired as error:
            raise NodeError(f"{self.name}: no answer within {timeout_s:g} s.") from error
        if done.returncode == UNREACHABLE:
            raise NodeError(
                f"{self.name}: ssh cannot reach it: {_last_line(done.stderr)}.",
                fix=f"Try by hand: {shlex.join([*self._ssh(), self._login, 'true'])}",
            )
        if done.returncode != 0:
            raise NodeError(f"{self.name}: {_last_line(done.stderr) or f'{command[0]} ended with {done.returncode}'}.")
        return done.stdout


def ssh_backend(hosts: Mapping[str, Host]) -> DirectBackend:
    """Return the backend of the hosts of hosts.yaml."""
    for program in ("ssh", "rsync"):
        if shutil.which(program) is None:
            raise InputError(
                f"{program} is not installed on this machine.", fix=f"Install it, e.g.: apt-get install {program}"
            )
    machines: dict[str, Machine] = {name: SshMachine(name, host) for name, host in hosts.items()}

    def machines_of(launch: Launch) -> list[Machine]:
        names = (launch.target.name, *launch.target.more_hosts)
        absent = next((name for name in names if name not in machines), None)
        if absent is not None:
            raise NotFoundError(
                "host", absent, machines, where=f"launch {launch.run_id}", fix="It stood in hosts.yaml; put it back."
            )
        return [machines[name] for name in names]

    return DirectBackend(machines_of, list(machines.values()))


def _bare(folder: str) -> str:
    """Return the folder as rsync reads it: relative to the home."""
    return folder[2:] if folder.startswith("~/") else folder


def _remote(folder: str) -> str:
    return f"$HOME/{shlex.quote(folder[2:])}" if folder.startswith("~/") else shlex.quote(folder)


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "").rstrip(".")
