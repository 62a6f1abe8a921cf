"""Decides whether the host that answers is the one on which a launch was started, and has run since then. Pure.

A name, an address and an installation's id may lead to another machine later: a clone has the same, and a container
shares its machine's boot. The marks at the start are kept in the ledger and compared with the current ones.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

INSTALLATION, USER, BOOT, PROCESSES, HOST_KEY, NONCE = "installation", "user", "boot", "processes", "host_key", "nonce"
"""Marks of a host: hash of /etc/machine-id, user id, boot id, namespace of its process ids, fingerprint of its sshd's
host key, and a random word that the launch left in its folder there.
"""
OF_HOST = {HOST_KEY: "host key", NONCE: "nonce of the launch", INSTALLATION: "machine-id"}
HASH_DIGITS = 12


def read_marks(text: str, *, host_key: str) -> dict[str, str]:
    """Return the marks in the answer of `node_scripts.marks`, without those that the host lacks."""
    told = {key: value.strip() for key, equals, value in (line.partition("=") for line in text.splitlines()) if equals}
    names = (INSTALLATION, USER, BOOT, PROCESSES, NONCE)
    marks = {name: told[name][:200] for name in names if told.get(name)} | ({HOST_KEY: host_key} if host_key else {})
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
