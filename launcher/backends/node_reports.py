"""Reads what a node reports: the phase of its job, its processes, and the marks of the host. Pure.

A name, an address and an installation's id may lead to another machine later: a clone has the same, and a container
shares its machine's boot. The marks at the start are kept in the ledger and compared with the current ones, to decide
whether the host that answers is the one on which a launch was started, and has run since then.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence

from planner.launcher.plan.backend import (
    LaunchPhase,
)

INSTALLATION, USER, BOOT, PROCESSES, HOST_KEY, NONCE = "installation", "user", "boot", "processes", "host_key", "nonce"
"""Marks of a host: hash of /etc/machine-id, user id, boot id, namespace of its process ids, fingerprint of its sshd's
host key, and a random word that the launch left in its folder there.
"""
OF_HOST = {HOST_KEY: "host key", NONCE: "nonce of the launch", INSTALLATION: "machine-id"}
HASH_DIGITS = 12


def read_marks(text: str, *, host_key: str) -> dict[str, str]:
    """Return the marks in the answer of `node_scripts.marks`, without those that the host lacks."""
    values = {
        key: value.strip() for key, equals, value in (line.partition("=") for line in text.splitlines()) if equals
    }
    names = (INSTALLATION, USER, BOOT, PROCESSES, NONCE)
    marks = {name: values[name][:200] for name in names if values.get(name)} | (
        {HOST_KEY: host_key} if host_key else {}
    )
    if INSTALLATION in marks:
        marks[INSTALLATION] = hashlib.sha256(marks[INSTALLATION].encode()).hexdigest()[:HASH_DIGITS]
    return marks


def host_key_in(log: str) -> str:
    """Return the fingerprint of the server's key in the log of `ssh -v`; empty if there is none.

    If there are several (a jump host logs its own first), the last is the host's.
    """
    found = re.findall(r"^debug1: Server host key: \S+ (SHA256:\S+)", log, re.MULTILINE)
    return found[-1] if found else ""


def why_not_proven(started: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Return why a host that answers now cannot prove that a job is gone; None if it can.

    It can within the same boot, process namespace and user: then its process list is complete. After another boot
    nothing of the job is left if it is the same machine: its host key and the launch's nonce must match, and the
    machine-id if it had one. A host without a boot id must match these too.
    """
    if started.get(USER) != now.get(USER):
        return "another user answers, who does not see the job's processes"
    same_boot = started.get(BOOT) == now.get(BOOT)
    if BOOT in started and same_boot:
        if started.get(PROCESSES) == now.get(PROCESSES):
            return None
        return "another container answers, which does not see the job's processes"
    missing = [
        words
        for mark, words in OF_HOST.items()
        if (mark in started or mark != INSTALLATION) and (mark not in now or started.get(mark) != now[mark])
    ]
    return f"not the same boot, nor the same {', '.join(missing)}" if missing else None


def processes_in(text: str) -> tuple[list[int], list[str]]:
    """Return the processes of a run, and those on an accelerator that may belong to it (node_scripts.count)."""
    lines = [line.strip() for line in text.splitlines()]
    return whole_numbers(text), [line.removeprefix("gpu=") for line in lines if re.fullmatch(r"gpu=[0-9]{1,12}", line)]


class NodeReport:
    """One node's report on its job."""

    def __init__(self, name: str, text: str) -> None:
        pairs = [line.partition("=") for line in text.splitlines()]
        facts = {key: value for key, _, value in pairs if key != "step"}
        self.name = name
        self.started = facts.get("job") == "started"
        self.phase = facts.get("phase", "")
        self.exit = exit_code(facts.get("exit", ""))
        self.alive = facts.get("alive", "0") != "0"
        self.steps = [value for key, _, value in pairs if key == "step"]


def whole_numbers(text: str) -> list[int]:
    """Return the lines that are whole numbers. A login may print other lines."""
    return [int(line) for line in text.splitlines() if re.fullmatch(r"[0-9]{1,12}", line.strip())]


def exit_code(text: str) -> int | None:
    """Return an exit code; None if there is none yet, and 1 if it is not a number."""
    if not text:
        return None
    return int(text) if re.fullmatch(r"-?[0-9]{1,6}", text) else 1


def phase_of_all(seen: Sequence[NodeReport]) -> tuple[LaunchPhase, str]:
    """Return the phase of all nodes together: the worst certain one, otherwise the least advanced."""
    absent = [node.name for node in seen if not node.started]
    if absent:
        return LaunchPhase.REFUSED, f"no job was started on {', '.join(absent)}"
    for phase, word, detail in (
        (LaunchPhase.REFUSED, "refused", "another benchmark runs there"),
        (LaunchPhase.SETUP_FAILED, "setup_failed", "the set-up failed; see the log"),
    ):
        names = [node.name for node in seen if node.phase == word]
        if names:
            return phase, f"{', '.join(names)}: {detail}"
    gone = [node.name for node in seen if node.exit is None and not node.alive]
    if gone:
        return LaunchPhase.LOST, f"{', '.join(gone)}: the job is gone and left no exit code"
    if any(node.exit is None for node in seen):
        return (
            (LaunchPhase.RUNNING, "")
            if all(node.phase in ("running", "over") for node in seen)
            else (LaunchPhase.SETTING_UP, "")
        )
    bad = [f"{node.name}: exit {node.exit}" for node in seen if node.exit != 0]
    return (LaunchPhase.FAILED, ", ".join(bad)) if bad else (LaunchPhase.SUCCEEDED, "")
