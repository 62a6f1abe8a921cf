"""Launches on hosts by plain SSH and rsync, for machines without Kubernetes."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from planner import time_limits
from planner.errors import InputError, NodeError, NotFoundError
from planner.launcher.backends.direct import DirectBackend, ReachableMachine
from planner.launcher.backends.hosts import Host
from planner.launcher.backends.node_reports import host_key_in
from planner.launcher.collect.incoming import RSYNC, incoming
from planner.launcher.plan.backend import Launch

SCRIPT_SILENCES = 4
"""Multiple of SILENCE_S that a script may take. The script that stops a run waits twice for 45 s."""
ALIVE_QUESTIONS = 3
"""Number of keep-alive messages to a silent host before its connection is closed."""
UNREACHABLE = 255
BEGINS, ENDS = "PLANNER-SCRIPT-BEGINS", "PLANNER-SCRIPT-ENDS"


class SshMachine:
    """One host of hosts.yaml. Never asks for a password, because a launch may continue at night."""

    def __init__(self, name: str, host: Host) -> None:
        self.name = name
        self.folder = host.folder
        self.inner_address = host.inner_address or host.address
        self.variables = {**host.env, **({"PLANNER_PYTHON": host.python} if host.python else {})}
        self._host = host
        self._login = f"{host.user}@{host.address}" if host.user else host.address

    def bash(self, script: str) -> str:
        """Run a script on the host, given on stdin so that it does not show in the host's process list.

        Output of the login before and after it is left out. A host that did not start the script (another shell, a
        forced command) has not answered: treating its silence as an answer would prove that nothing runs.
        """
        given = f"printf '%s\\n' {BEGINS}\n(\n{script}\n)\ncode=$?\nprintf '\\n%s %s\\n' {ENDS} $code\nexit $code\n"
        limit_s = SCRIPT_SILENCES * time_limits.SILENCE_S
        said = self._run([*self._ssh(), self._login, "bash -s"], given=given, limit_s=limit_s)
        _, began, rest = said.partition(f"{BEGINS}\n")
        if not began:
            raise NodeError(
                f"{self.name}: its login does not run what it is given.",
                fix=f"It must run bash. {self._by_hand('bash -s')}",
            )
        answer, ended, after = rest.rpartition(f"\n{ENDS} ")
        if not ended:
            return rest
        code = after.partition("\n")[0]
        if code != "0":  # a logout message's own success would hide the code
            raise NodeError(f"{self.name}: the script ended with {code}.", fix=self._by_hand("true"))
        return answer

    def host_key(self) -> str:
        """Return the fingerprint of the host's key, as ssh reports it; empty if a shared connection hides it."""
        command = [*self._ssh(), "-v", self._login, "true"]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=time_limits.SILENCE_S,
            )
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return host_key_in(done.stderr)

    def copy_there(self, folder: Path, to: str) -> None:
        """Copy with rsync, without compiled files."""
        self.bash(f"mkdir -p {_remote(to)}\n")
        self._rsync("-a", "--delete", "--exclude=__pycache__", f"{folder}/", f"{self._login}:{_bare(to)}/")

    def copy_here(self, folder: str, into: Path) -> None:
        """Copy with rsync: complete files only, moved to their place at the end."""
        if self.bash(f"test -d {_remote(folder)} && echo there; :").strip():
            with incoming(into) as staged:
                self._rsync(*RSYNC, f"{self._login}:{_bare(folder)}/", f"{staged}/")

    def _rsync(self, *arguments: str) -> None:
        command = ["rsync", f"--timeout={time_limits.SILENCE_S:.0f}", "-e", shlex.join(self._ssh()), *arguments]
        self._run(command, given=None, limit_s=time_limits.OPERATION_S)

    def _by_hand(self, command: str) -> str:
        return f"Try by hand: {shlex.join([*self._ssh(), self._login, command])}"

    def _ssh(self) -> list[str]:
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": f"{time_limits.CONNECT_S:.0f}",
            "ServerAliveInterval": f"{time_limits.SILENCE_S / ALIVE_QUESTIONS:.0f}",
            "ServerAliveCountMax": str(ALIVE_QUESTIONS),
            **self._host.ssh_options,
        }
        return [
            "ssh",
            *(part for name, value in options.items() for part in ("-o", f"{name}={value}")),
            *(["-p", str(self._host.port)] if self._host.port else []),
            *(["-i", str(Path(self._host.key).expanduser())] if self._host.key else []),
        ]

    def _run(self, command: Sequence[str], *, given: str | None, limit_s: float) -> str:
        try:
            done = subprocess.run(
                command,
                input=given,
                stdin=subprocess.DEVNULL if given is None else None,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                check=False,
                timeout=limit_s,
            )
        except subprocess.TimeoutExpired as error:
            fix = self._by_hand("true")
            raise NodeError(f"{self.name}: no complete answer within {limit_s:g} s.", fix=fix) from error
        if done.returncode == UNREACHABLE:
            raise NodeError(
                f"{self.name}: ssh cannot reach it: {_last_line(done.stderr)}.",
                fix=self._by_hand("true"),
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
    machines: dict[str, ReachableMachine] = {name: SshMachine(name, host) for name, host in hosts.items()}

    def machines_of(launch: Launch) -> list[ReachableMachine]:
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
