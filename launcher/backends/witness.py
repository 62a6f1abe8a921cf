"""Whether the host that answers is the one on which a launch was started, and runs on since then. Pure.

A name, an address and an installation's id may lead to another machine later: a clone has the same, a container shares
its machine's boot. What was told at the start is kept in the ledger and compared with what is told now.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

INSTALLATION, USER, BOOT, PROCESSES, HOST_KEY, NONCE = "installation", "user", "boot", "processes", "host_key", "nonce"
"""The marks of a host: hash of /etc/machine-id, user id, id of the boot, namespace of its process ids, fingerprint of
the key with which its sshd answers, and a random word that the launch left in its folder there."""
OF_HOST = {HOST_KEY: "host key", NONCE: "nonce of the launch", INSTALLATION: "machine-id"}
HASH_DIGITS = 12


def read_marks(text: str, *, host_key: str) -> dict[str, str]:
    """Return the marks in the answer of `node_scripts.marks`, without those that the host does not have."""
    told = {key: value.strip() for key, equals, value in (line.partition("=") for line in text.splitlines()) if equals}
    names = (INSTALLATION, USER, BOOT, PROCESSES, NONCE)
    marks = {name: told[name][:200] for name in names if told.get(name)} | ({HOST_KEY: host_key} if host_key else {})
    if INSTALLATION in marks:
        marks[INSTALLATION] = hashlib.sha256(marks[INSTALLATION].encode()).hexdigest()[:HASH_DIGITS]
    return marks


def host_key_in(log: str) -> str:
    """Return the fingerprint of the server's key in the log of `ssh -v`; empty where it says none.

    Of several (a jump host logs its own first) the last is that of the host.
    """
    found = re.findall(r"^debug1: Server host key: \S+ (SHA256:\S+)", log, re.MULTILINE)
    return found[-1] if found else ""


def why_not_proven(started: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """Return why a host that answers now cannot prove that a job is gone; None where it can.

    It can while it is the same boot, the same process ids and the same user: then its list of processes is the whole
    truth. After another boot nothing of the job is left if it is the same machine: its host key and the launch's nonce
    must be there, and the machine-id where it had one. A host without an id of its boot must show these too.
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
