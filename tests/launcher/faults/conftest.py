"""Fakes, started once per process, and a fresh world for each row."""

from __future__ import annotations

import getpass
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.fakes.aws_server import NEVER_REFUSED
from tests.fakes.servers import AWS_KEYS, Server, running
from tests.launcher.faults.forks import Forks, forking
from tests.launcher.faults.sky_server import SkyServer, serve
from tests.launcher.faults.world import WorldOfFaults, kept_environment
from tests.launcher.loopback_ssh import Sshd, running_sshd

SSH_CONFIG = """\
Host {{cluster}} {{cluster}}-worker*
  HostName 127.0.0.1
  Port {port}
  User {user}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
"""


@pytest.fixture(autouse=True)
def ctrl_c_reaches_children() -> None:
    """Restore Ctrl-C if the tests run in the background of a shell, whose children ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def aws_server(aws_models: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start an AWS for these rows alone, because `reap` is alarmed by machines of other tests."""
    with running("aws_server", log=tmp_path_factory.mktemp("aws") / "server.log", environment=AWS_KEYS) as server:
        yield server


@pytest.fixture(scope="session")
def lambda_labs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running("lambda_server", log=tmp_path_factory.mktemp("lambda") / "server.log") as server:
        yield server


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    """Start a host whose logins begin in a folder of its own, not in a real home."""
    with running_sshd(tmp_path_factory.mktemp("host") / "sshd") as server:
        keys = server.folder / "authorized_keys"
        command = f'command="cd {server.folder}/home && exec sh -c \\"$SSH_ORIGINAL_COMMAND\\""'
        keys.write_text(f"{command} {keys.read_text()}")
        yield server


@pytest.fixture(scope="session")
def clients(aws_server: Server) -> Callable[[str], Any]:
    session = boto3.session.Session(aws_access_key_id=NEVER_REFUSED, aws_secret_access_key="testing")

    @cache
    def client(region: str) -> Any:
        return session.client("ec2", region_name=region, endpoint_url=aws_server.url)

    return client


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    with forking(kept_environment()) as started:
        yield started


@pytest.fixture
def world(
    tmp_path: Path, aws_server: Server, lambda_labs: Server, sshd: Sshd, clients: Callable[[str], Any], forks: Forks
) -> Iterator[WorldOfFaults]:
    sky = SkyServer()
    server = serve(sky)
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        made = WorldOfFaults(tmp_path / "w", aws_server, lambda_labs, sshd, sky, url, clients, forks)
        sky.clouds = made
        sky.ssh_config = SSH_CONFIG.format(port=sshd.port, user=getpass.getuser(), folder=sshd.folder)
        yield made
        made.clean()
    finally:
        server.shutdown()
        server.server_close()
