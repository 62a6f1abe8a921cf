"""Direct SSH against real sshds on this machine: one host and two, end to end, and every way in which it fails."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner.errors import NodeError
from planner.launcher.backends.hosts import HostsFile
from planner.launcher.backends.ssh import ssh_backend
from planner.launcher.collect.results import read_result
from planner.launcher.drive.drive import Driver
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.backend import LaunchPhase
from planner.launcher.plan.target import Target
from tests.fakes.ports import free_port
from tests.launcher.launches import ENDLESS_SPEC, asleep, launch_of
from tests.launcher.loopback_ssh import running_sshd

POLL_S = 0.3


@pytest.fixture(scope="module")
def sshds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ssh")
    with running_sshd(folder / "a") as server, running_sshd(folder / "b") as two:
        yield server, two


@pytest.fixture
def hosts(sshds, tmp_path):
    env = {"GLOO_SOCKET_IFNAME": "lo", "PLANNER_PORT": str(free_port()), "OMP_NUM_THREADS": "1"}
    return {
        name: sshd.host(python=sys.executable, folder=str(tmp_path / name), env=env)
        for name, sshd in zip(("a", "b"), sshds, strict=True)
    }


@pytest.fixture
def driver(hosts, tmp_path):
    return Driver(ledger=Ledger(tmp_path / "ledger.sqlite"), backend=ssh_backend(hosts), folder=tmp_path / "launches")


def run_id(tmp_path: Path, name: str) -> str:
    """Return a run id that is unique among all processes of the machine."""
    return f"{name}-{os.getpid()}-{tmp_path.name}"[:60]


def on(*names: str) -> Target:
    return Target(provider="host", name=names[0], more_hosts=names[1:], nodes=len(names), devices_per_node=1)


@pytest.mark.slow
def test_two_hosts_train_together_and_node_0_s_result_comes_home(driver, tmp_path):
    launch = launch_of(on("a", "b"), run_id=run_id(tmp_path, "two"), now=datetime.now(tz=UTC))
    assert all("answers" in seen for seen in driver.backend.check(launch))
    driver.ledger.plan([launch])
    entry = driver.go_on(launch.run_id, stop=threading.Event(), poll_s=POLL_S, submit=True)
    assert (entry.state, entry.outcome) == (State.DOWN_VERIFIED, LaunchOutcome.COMPLETED)
    result = read_result(tmp_path / "launches" / launch.run_id / "start-1" / "result.json")
    assert result is not None
    assert (result["nodes"], result["world_size"]) == (2, 2)
    assert result["exit_reason"] in ("completed", "not_steady")
    home = tmp_path / "launches" / launch.run_id
    logs = [(folder / "job.log").read_text() for folder in (home, home / "node-1")]
    assert [f"rank={rank} exit=0" in log for rank, log in enumerate(logs)] == [True, True]
    assert driver.backend.verify_down(launch).down


@pytest.mark.slow
def test_a_job_outlives_the_connection_and_is_stopped_with_what_it_has(driver, tmp_path):
    """Submit returns at once; nothing holds the job but itself; `down` lets ranks write, then nothing is left."""
    launch = launch_of(on("a"), run_id=run_id(tmp_path, "one"), spec=ENDLESS_SPEC, now=datetime.now(tz=UTC))
    driver.ledger.plan([launch])
    stop = threading.Event()
    while driver.step(launch.run_id, submit=True).state is not State.RUNNING:
        assert not stop.wait(POLL_S)
    driver.backend.submit(launch)  # a second time starts nothing
    while driver.backend.status(launch).progress is None:
        assert not stop.wait(POLL_S)
    assert [left.run_id for left in driver.backend.find_leftovers([]) if left.run_id == launch.run_id]
    driver.backend.down(launch)
    assert driver.backend.verify_down(launch).down
    found = driver.backend.collect(launch, tmp_path)
    assert json.loads(found.results[0].read_text())["exit_reason"] == "interrupted"


@pytest.mark.slow
def test_a_second_benchmark_on_a_busy_host_is_refused(driver, tmp_path):
    busy = asleep(launch_of(on("a"), run_id=run_id(tmp_path, "busy")))
    second = launch_of(on("a"), run_id=run_id(tmp_path, "late"))
    driver.backend.submit(busy)
    stop = threading.Event()
    try:
        while driver.backend.status(busy).phase is not LaunchPhase.RUNNING:
            assert not stop.wait(POLL_S)
        driver.backend.submit(second)
        while not driver.backend.status(second).phase.is_over:
            assert not stop.wait(POLL_S)
        assert driver.backend.status(second).phase is LaunchPhase.REFUSED
    finally:
        driver.backend.down(busy)


@pytest.mark.slow
def test_a_failed_set_up_is_told_apart_from_a_failed_job(driver, hosts, tmp_path):
    broken = {"a": hosts["a"].model_copy(update={"python": "/bin/false"})}
    backend = ssh_backend(broken)
    launch = launch_of(on("a"), run_id=run_id(tmp_path, "setup"))
    backend.submit(launch)
    stop = threading.Event()
    while not backend.status(launch).phase.is_over:
        assert not stop.wait(POLL_S)
    assert backend.status(launch).phase is LaunchPhase.SETUP_FAILED
    text: list[str] = []
    backend.logs(launch, text.append)
    assert "cannot import torch" in "".join(text)


@pytest.mark.slow
def test_a_job_that_is_gone_without_a_word_is_lost(driver, tmp_path):
    """State after a reboot: everything of it is killed at once."""
    launch = asleep(launch_of(on("a"), run_id=run_id(tmp_path, "gone")))
    driver.backend.submit(launch)
    for _ in range(3):  # what a killed process had just started is killed the next time
        machine = driver.backend._machines_of(launch)[0]
        machine.bash(f"for e in /proc/[0-9]*; do grep -qzxF 'PLANNER_RUN_ID={launch.run_id}' $e/environ 2>/dev/null "
                     "&& kill -KILL ${e#/proc/}; done; :")  # fmt: skip
    assert driver.backend.verify_down(launch).down
    status = driver.backend.status(launch)
    assert (status.phase, "left no exit code" in status.detail) == (LaunchPhase.LOST, True)


def test_a_host_that_does_not_answer_is_unknown_and_never_down(sshds, tmp_path):
    away = sshds[0].host(port=1, folder=str(tmp_path / "away"))
    backend = ssh_backend({"a": away})
    launch = launch_of(on("a"))
    assert backend.status(launch).phase is LaunchPhase.UNKNOWN
    evidence = backend.verify_down(launch)
    assert not evidence.down
    assert "cannot be asked" in evidence.checks[0]
    with pytest.raises(NodeError, match="ssh cannot reach it") as failed:
        backend.submit(launch)
    assert "Try by hand: ssh " in failed.value.fix


def test_a_launch_that_never_reached_the_host_says_so(driver, tmp_path):
    status = driver.backend.status(launch_of(on("a"), run_id=run_id(tmp_path, "never")))
    assert (status.phase, status.detail) == (LaunchPhase.REFUSED, "no job was started on a")


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        pytest.param({"address": "a", "env": {"AWS_SECRET_ACCESS_KEY": "x"}}, "looks like a secret", id="secret"),
        pytest.param({"address": "a", "env": {"HF_TOKEN": "x"}}, "looks like a secret", id="token"),
        pytest.param({"address": "a", "env": {"CUDA_NOTE": "AKIAIOSFODNN7EXAMPLE"}}, "looks like a secret", id="value"),
        pytest.param({"address": "a", "env": {"EDITOR": "vi"}}, "not among the variables", id="a name of no library"),
        pytest.param({"address": "a", "env": {"PLANNER_PUSH_TO": "s3://b"}}, "not among", id="a name that is ours"),
        pytest.param(
            {"address": "a", "ssh_options": {"ProxyCommand": "sshpass -p hunter2 ssh -W %h:%p jump"}},
            "ssh_options: ProxyCommand holds a secret",
            id="password of a proxy",
        ),
        pytest.param({"address": "me:hunter2@a"}, "address: holds a secret", id="password in the address"),
        pytest.param(
            {"address": "a", "key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl"}, "key: holds a secret", id="key itself"
        ),
        pytest.param({"address": "a", "folder": "planner"}, "must begin with", id="relative folder"),
        pytest.param({"address": "a", "folder": "/srv/a b"}, "must begin with", id="folder with a space"),
    ],
)
def test_hosts_yaml_refuses_what_would_hurt(host, problem):
    with pytest.raises(ValueError, match=problem):
        HostsFile.model_validate({"schema_version": 1, "hosts": {"a": host}})


def test_variables_of_the_libraries_go_to_a_host():
    names = (
        "NCCL_SOCKET_IFNAME",
        "OMP_NUM_THREADS",
        "CUDA_VISIBLE_DEVICES",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING",
        "TMPDIR",
    )
    env = {**dict.fromkeys(names, "1"), "PLANNER_PORT": "8008", "https_proxy": "http://proxy:3128", "NCCL_IB_PKEY": "1"}
    read = HostsFile.model_validate({"schema_version": 1, "hosts": {"a": {"address": "a", "env": env}}})
    assert read.hosts["a"].env == env
