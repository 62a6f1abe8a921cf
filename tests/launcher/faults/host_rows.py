"""Rows: another host answers, or a job hides its processes."""

from __future__ import annotations

import getpass
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import yaml

from tests.fakes.ports import free_port
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import DOWN, GONE, REAP
from tests.launcher.faults.seen_again import end_of
from tests.launcher.faults.world import Done, WorldOfFaults
from tests.launcher.loopback_ssh import wait_for_sshd

ON_HOST = ("launch", "cpu-smoke", "--on", "host/a", "--max-minutes", "5", "--yes")
PATIENCE_S = 60.0
SLEEPS = "exec sleep 3007"
DAEMON = """\
here=$(dirname "$0")
env -i setsid bash -c 'echo $$ > "$1/daemon.part"; mv "$1/daemon.part" "$1/daemon"; exec sleep 3011' x "$here" \\
  > /dev/null 2>&1 &
while [ ! -e "$here/daemon" ]; do sleep 0.05; done
"""
"""A daemon without environment, in a session of its own, that notes its id."""


def host_is(world: WorldOfFaults, *, port: int | None = None) -> None:
    """hosts.yaml names the loopback host, or another sshd under the same name."""
    server = world.sshd
    host = {
        "address": "127.0.0.1",
        "user": getpass.getuser(),
        "port": port or server.port,
        "key": str(server.key),
        "folder": str(world.node / world.folder.parent.name),
        "python": str(world.folder / "python"),
        "ssh_options": {
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "IdentitiesOnly": "yes",
        },
    }
    text = yaml.safe_dump({"schema_version": 1, "hosts": {"a": host}})
    (world.home / "hosts.yaml").write_text(text, encoding="utf-8")


def runs(world: WorldOfFaults, script: str) -> None:
    """Launch a job on the host that is this script; the client is killed when it runs."""
    up, python = world.folder / "up", world.folder / "python"
    python.write_text(f"#!/bin/bash\n{script}\ntouch {up}\n{SLEEPS}\n", encoding="utf-8")
    python.chmod(0o755)
    host_is(world)
    client = world.begin(*ON_HOST)
    until_s = time.monotonic() + PATIENCE_S
    while not up.exists() and client.poll() is None and time.monotonic() < until_s:
        time.sleep(0.05)
    assert up.exists(), end_of(client)
    client.kill()
    end_of(client)


@contextmanager
def another_sshd(world: WorldOfFaults, *, prepare: str = "true", host_key: bool = False) -> Iterator[int]:
    """Run an sshd that sees no process of the first one's jobs, as another machine does; yield its port."""
    port, folder = free_port(), world.sshd.folder
    text = (folder / "sshd_config").read_text(encoding="utf-8").replace(f"Port {world.sshd.port}", f"Port {port}")
    if host_key:
        key = world.folder / "another_key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        text = text.replace(f"HostKey {folder}/host_key", f"HostKey {key}")
    configuration = world.folder / "sshd_config"
    configuration.write_text(text, encoding="utf-8")
    command = f"{prepare} && exec /usr/sbin/sshd -D -e -f {configuration}"
    with (world.folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen(
            ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", "-c", command],
            stdout=log,
            stderr=log,
        )
    try:
        wait_for_sshd(port, process, world.folder)
        yield port
    finally:
        process.kill()
        process.wait()


def answered_by(
    another: Callable[[WorldOfFaults], AbstractContextManager[int]], words: str = DOWN
) -> Callable[[WorldOfFaults], Done]:
    """While the job runs, another machine answers under the host's name; then the first one answers again."""

    def act(world: WorldOfFaults) -> Done:
        runs(world, "true")
        with another(world) as port:
            host_is(world, port=port)
            done = world.cli(*words.split())
            host_is(world)
        assert world.cli(*DOWN.split()).code == 0
        return done

    return act


def with_own_boot(world: WorldOfFaults) -> str:
    """Return the command by which an sshd sees another boot than this machine's."""
    other = world.folder / "boot_id"
    other.write_text("00000000-0000-4000-8000-000000000000\n", encoding="ascii")
    return f"mount --bind {other} /proc/sys/kernel/random/boot_id"


def leaves(script: str) -> Callable[[WorldOfFaults], Done]:
    """Take down a job that leaves processes behind, and check that none of them runs."""

    def act(world: WorldOfFaults) -> Done:
        runs(world, script)
        done = world.cli(*DOWN.split())
        left = _daemons(world)
        for process in left:
            os.kill(process, signal.SIGKILL)
        assert left == [], done
        return done

    return act


def _daemons(world: WorldOfFaults) -> list[int]:
    """Return the processes whose ids the row's daemon wrote down, as far as they run."""
    text = (world.folder / "daemon").read_text(encoding="ascii") if (world.folder / "daemon").exists() else ""
    return [int(word) for word in text.split() if Path(f"/proc/{word}/exe").exists()]


HOSTS = (
    Fault(
        "host-daemon", "a job leaves a daemon without environment, in a session of its own", "host",
        "found by its control group or by who adopted it, and ended", leaves(DAEMON), 0, GONE, "cancelled",
    ),
    Fault(
        "host-clone", "a clone with the same machine-id and host key answers under the host's name", "host",
        "not proven: it does not see the job; exit 4; proven by the first one later",
        answered_by(another_sshd), 4, GONE, said="not proven",
    ),
    Fault(
        "host-clone-reap", "... then `reap`", "host", "an alarm", answered_by(another_sshd, REAP), 4,
        GONE, said="not proven",
    ),
    Fault(
        "host-other", "another machine with the same machine-id answers", "host",
        "not proven: another boot and another host key",
        answered_by(lambda world: another_sshd(world, prepare=with_own_boot(world), host_key=True)), 4, GONE,
        said="not the same boot, nor the same host key",
    ),
)  # fmt: skip
