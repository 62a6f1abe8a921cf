"""SkyPilot with its own API server, its clouds on loopback, and a HOME that holds nothing else."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.fakes.ports import free_port
from tests.fakes.servers import AWS_KEYS, Server, running
from tests.fakes.sky_home import make_home

STARTS = 3
START_TIMEOUT_S = 180


@dataclass(frozen=True)
class OfflineClouds:
    """The fakes, and the environment in which SkyPilot takes them for the world."""

    aws: Server
    lambda_labs: Server
    kubernetes: Server
    home: Path
    environment: dict[str, str]

    def reset(self) -> None:
        """Forget calls, refusals, and machines on Lambda and Kubernetes."""
        for server in (self.aws, self.lambda_labs, self.kubernetes):
            server.ask("reset")


@contextlib.contextmanager
def clouds(folder: Path) -> Iterator[OfflineClouds]:
    """Start the fakes, and end them and every API server that SkyPilot started in their HOME."""
    more = {**AWS_KEYS, "MOTO_IAM_LOAD_MANAGED_POLICIES": "true"}
    with (
        running("aws_server", log=folder / "aws.log", environment=more) as aws,
        running("lambda_server", log=folder / "lambda.log") as lambda_labs,
        running("kubernetes_server", log=folder / "kubernetes.log") as kubernetes,
    ):
        home = folder / "home"
        environment = make_home(home, aws_url=aws.url, lambda_url=lambda_labs.url, kubernetes_url=kubernetes.url)
        try:
            yield OfflineClouds(aws, lambda_labs, kubernetes, home, environment)
        finally:
            end_servers(home)


def start_api_server(made: OfflineClouds) -> None:
    """Start SkyPilot's API server in this environment; on another port if another program took the first one.

    SkyPilot derives the port of its queue from that of the server; it lies where clients get their ports from.
    """
    said = ""
    for _ in range(STARTS):
        started = subprocess.run(
            [Path(sys.executable).with_name("sky"), "api", "start"],
            env=made.environment, capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False,
        )  # fmt: skip
        if started.returncode == 0:
            return
        log = made.home / ".sky" / "api_server" / "server.log"
        said += started.stdout + started.stderr + (log.read_text(encoding="utf-8") if log.exists() else "")
        end_servers(made.home)
        made.environment["SKYPILOT_API_SERVER_LOCAL_PORT"] = str(free_port())
    raise AssertionError(f"SkyPilot's API server did not start {STARTS} times:\n{said}")


def end_servers(home: Path) -> None:
    """End the processes that run with this HOME, which no one else uses, and all that they started.

    SkyPilot's executors write their title over their environment, so they are found as children of their server.
    """
    ours: set[psutil.Process] = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.pid != os.getpid() and process.environ().get("HOME") == str(home):
                ours |= {process, *process.children(recursive=True)}
    for process in ours:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGKILL)
    psutil.wait_procs(list(ours), timeout=20)
