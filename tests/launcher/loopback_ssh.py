"""A real sshd on a free port of this machine, with keys and a home of its own; ended by its process id."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from planner.launcher.backends.hosts import Host
from tests.fakes.ports import free_port

PATIENCE_S = 20.0


@dataclass(frozen=True)
class Sshd:
    """A server that is up, and how to log in."""

    port: int
    folder: Path
    key: Path

    def host(self, **changes: object) -> Host:
        """Return its entry in hosts.yaml."""
        fields: dict[str, object] = {
            "address": "127.0.0.1",
            "user": getpass.getuser(),
            "port": self.port,
            "key": str(self.key),
            "folder": str(self.folder / "planner"),
            "ssh_options": {
                "StrictHostKeyChecking": "yes",
                "UserKnownHostsFile": str(self.folder / "known_hosts"),
                "IdentitiesOnly": "yes",
            },
        }
        return Host.model_validate(fields | changes)


@contextmanager
def running_sshd(folder: Path) -> Iterator[Sshd]:
    """Start sshd in `folder`, wait until it answers, end it afterwards."""
    folder.mkdir(parents=True)
    for name in ("host_key", "user_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, capture_output=True
        )
    (folder / "authorized_keys").write_text((folder / "user_key.pub").read_text())
    home = folder / "home"
    home.mkdir()
    port = free_port()
    public = " ".join((folder / "host_key.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    (folder / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
        f"AuthorizedKeysFile {folder}/authorized_keys\nSetEnv HOME={home}\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd as root wants it for privilege separation
    sshd = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert sshd is not None, "openssh-server is not installed (scripts/system-packages)"
    with (folder / "sshd.log").open("wb") as log:
        process = subprocess.Popen([sshd, "-D", "-e", "-f", str(folder / "sshd_config")], stdout=log, stderr=log)
    try:
        wait_for_sshd(port, process, folder)
        yield Sshd(port=port, folder=folder, key=folder / "user_key")
    finally:
        process.terminate()
        process.wait()


def wait_for_sshd(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until an sshd answers; its log lies in `folder`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        try:
            process.wait(timeout=0.05)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"sshd did not come up: {(folder / 'sshd.log').read_text()}")
