"""Commands whose peers take the question and send nothing, or one byte at a time for ever.

Each command ends by itself and names the peer that did not answer. The limits of planner/time_limits.py are seconds.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from planner import time_limits
from tests.fakes.servers import AWS_KEYS
from tests.launcher.faults.between import Meddling, between
from tests.launcher.faults.world import LAUNCH, P4D, ROOT, STAND_IN

FAR_BEYOND_S = 100
"""After which a command counts as one that never ends."""
LIMITS = {
    "planner.time_limits:CONNECT_S": 2.0,
    "planner.time_limits:SILENCE_S": 2.0,
    "planner.time_limits:OPERATION_S": 4.0,
    "planner.launcher.backends.sky.process:ANSWER_TIMEOUT_S": 6.0,
}
PEERS = {"silent": Meddling(""), "a byte at a time": Meddling("", b"<", slowly=True)}
REFRESH = ("prices", "refresh", "--timeout-s", "2", "--source")
UNKNOWN_ID = "20260101-000000-abcdef"
RUN = next((ROOT / "catalogs" / "runs").glob("*.json"))
S3 = {"PLANNER_RUNS": "s3://a-bucket/runs"}
EXAMPLE = str(ROOT / "examples" / "own_8xh200.yaml")

COMMANDS = [
    pytest.param((*LAUNCH, *P4D), {}, 4, ("STS: ",), id="launch at AWS"),
    # What was submitted is watched for its own worst case and 5 minutes more: rows `...-silent-collect`.
    pytest.param((*LAUNCH, *P4D, "--check"), {}, 4, ("SkyPilot did not answer",), id="launch, SkyPilot's dry run"),
    pytest.param(
        ("launches", "reap", "--everywhere"), {}, 4,
        ("EC2: ", "Lambda", "Kubernetes context 'mute'", "SkyPilot did not answer"), id="reap",
    ),
    pytest.param(("launches", "down", UNKNOWN_ID), {}, 4, ("EC2: ",), id="down by an id that the ledger does not know"),
    pytest.param(("runs", "list"), S3, 4, ("s3://a-bucket/runs",), id="runs on S3"),
    pytest.param(("runs", "add", str(RUN)), S3, 4, ("s3://a-bucket/runs",), id="a run to S3"),
    pytest.param(("runs", "export"), S3, 4, ("s3://a-bucket/runs",), id="runs from S3"),
    pytest.param(("compare", EXAMPLE), S3, 4, ("s3://a-bucket",), id="a plan, runs on S3"),
    *(
        pytest.param((*REFRESH, source), {}, 4, ("no price was fetched",), id=f"prices of {source}")
        for source in ("aws", "aws-list", "azure", "gpuhunt", "lambda", "skypilot")
    ),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize(("words", "more", "code", "said"), COMMANDS)
def test_a_command_ends(tmp_path: Path, peer: str, words: tuple[str, ...], more: dict[str, str], code: int, said: str):
    with between(PEERS[peer]) as url:
        done = ended(words, environment(tmp_path, url) | more)
    told = f"{done.stdout}\n{done.stderr}"
    assert "Traceback" not in told
    assert done.returncode == code, told
    for who in said:
        assert who in told, told


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [("launch", "cpu-smoke", "--on", "host/a", "--yes"), ("launches", "reap"), ("launches", "down", UNKNOWN_ID)],
)
def test_a_command_ends_on_a_host_that_says_nothing(tmp_path: Path, words: tuple[str, ...]):
    with silent_port() as port, between(PEERS["silent"]) as url:
        given = environment(tmp_path, url)
        host = {"address": "127.0.0.1", "user": "me", "port": port}
        home = tmp_path / "workspace"
        home.mkdir()
        (home / "hosts.yaml").write_text(yaml.safe_dump({"schema_version": 1, "hosts": {"a": host}}))
        done = ended(words, given)
    assert done.returncode == 4, done.stderr
    assert "ssh cannot reach it" in f"{done.stdout}\n{done.stderr}"


def test_the_limits_are_those_that_the_documents_promise():
    assert (time_limits.CONNECT_S, time_limits.SILENCE_S, time_limits.OPERATION_S) == (10.0, 30.0, 300.0)


def ended(words: tuple[str, ...], given: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its own end; one that has none is a TimeoutExpired."""
    return subprocess.run(
        [sys.executable, "-m", "planner.cli.main", *words], env=given, cwd=given["HOME"], stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=FAR_BEYOND_S, check=False,
    )  # fmt: skip


def environment(folder: Path, url: str) -> dict[str, str]:
    """Return an environment in which every service has one address."""
    (folder / ".lambda_cloud").mkdir()
    (folder / ".lambda_cloud" / "lambda_keys").write_text("api_key = a-key\n")
    named = [{"name": "mute", "cluster": {"server": url}}], [{"name": "mute", "user": {"token": "a-token"}}]
    context = {"name": "mute", "context": {"cluster": "mute", "user": "mute"}}
    config = {"apiVersion": "v1", "kind": "Config", "clusters": named[0], "users": named[1], "contexts": [context]}
    (folder / "kubeconfig").write_text(json.dumps(config | {"current-context": "mute"}))
    return {
        "PATH": os.environ["PATH"],
        **AWS_KEYS,
        "HOME": str(folder),
        "PLANNER_HOME": str(folder / "workspace"),
        "KUBECONFIG": str(folder / "kubeconfig"),
        "AWS_ENDPOINT_URL": url,
        "LAMBDA_ENDPOINT_URL": f"{url}/api/v1",
        "LAMBDA_API_KEY": "a-key",
        "PLANNER_LAMBDA_API_URL": url,
        "PLANNER_AZURE_PRICES_URL": url,
        "PLANNER_AWS_LIST_URL": url,
        "PLANNER_SKYPILOT_CATALOG_URL": url,
        "GPUHUNT_CATALOG_URL": url,
        "FAKE_SKY_URL": url,
        "FAULT_SETTINGS": json.dumps(LIMITS),
        "PYTHONPATH": os.pathsep.join([str(STAND_IN), str(ROOT)]),
        "NO_COLOR": "1",
    }


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port of this machine that takes connections and reads nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        yield int(silent.getsockname()[1])
