"""Processes of a run that hide: without environment, in another session, without a parent, on an accelerator alone."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import pytest

from planner.launcher.backends.direct import DirectBackend
from planner.launcher.backends.local import ThisMachine
from planner.launcher.plan.backend import LaunchPhase
from planner.launcher.plan.target import Target
from tests.launcher.launches import launch_of

PATIENCE_S = 30.0
DAEMON = 'env -i setsid bash -c \'echo $$ > "$1.part"; mv "$1.part" "$1"; exec sleep 3011\' x {note} &'
SAME_SESSION = 'env -i bash -c \'echo $$ > "$1.part"; mv "$1.part" "$1"; exec sleep 3011\' x {note} &'


@pytest.fixture
def machine(tmp_path):
    return ThisMachine(tmp_path / "place")


@pytest.fixture
def backend(machine):
    return DirectBackend(lambda _: [machine], [machine])


@pytest.fixture
def started(backend, machine, tmp_path, request):
    """Return what starts a job of this script and waits for the process that it notes; nothing is left afterwards."""
    launch = launch_of(Target(provider="local", name="local"), run_id=f"hides-{os.getpid()}-{tmp_path.name}"[:60])
    noted = tmp_path / "noted"

    def start(script: str, *, then: str = "exec sleep 3007") -> int:
        wait = f"until [ -e {noted} ]; do sleep 0.05; done"  # a job that is over ends what it left, however young
        task = launch.task | {"setup": "true", "run": f"{script.format(note=noted)}\n{wait}\n{then}"}
        backend.submit(launch.model_copy(update={"task": task}))
        until(noted.exists)
        return int(noted.read_text(encoding="ascii"))

    def job_folder() -> Path:
        return Path(machine.folder) / "results" / launch.run_id / "job-0"

    yield launch, start, job_folder
    if noted.exists() and alive(int(noted.read_text(encoding="ascii"))):
        os.kill(int(noted.read_text(encoding="ascii")), signal.SIGKILL)
    backend.down(launch)


def until(done) -> None:
    limit_s = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < limit_s
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def end_the_marked(run_id: str) -> None:
    """Kill every process that has the run in its environment, as a node short of memory may."""
    marked = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"PLANNER_RUN_ID={run_id}".encode() in (place / "environ").read_bytes().split(b"\0"):
                marked.append(int(place.name))
    for process in sorted(marked):  # the job's shell, which would clear up after the others, is the oldest
        os.kill(process, signal.SIGKILL)
    until(lambda: not any(alive(process) for process in marked))


def without_group(traces: Path) -> None:
    """Make a control group impossible on the machine."""
    traces.write_text("".join(traces.read_text(encoding="ascii").splitlines(keepends=True)[:3]), encoding="ascii")


@pytest.mark.parametrize("grouped", [True, False], ids=["with a control group", "without one"])
def test_a_daemon_without_environment_is_counted_and_ended(backend, started, grouped):
    launch, start, job_folder = started
    pid = start(DAEMON)
    if not grouped:
        without_group(job_folder() / "traces")
    assert not backend.verify_down(launch).down
    backend.down(launch)
    assert not alive(pid)
    assert backend.verify_down(launch).down


def test_a_daemon_whose_adopter_was_killed_is_found_by_its_control_group(backend, started):
    launch, start, job_folder = started
    pid = start(DAEMON)
    traces = (job_folder() / "traces").read_text(encoding="ascii").splitlines()
    if len(traces) < 4:
        pytest.skip("this machine allows no control group")
    group = Path(traces[3])
    for process in (group / "cgroup.procs").read_text(encoding="ascii").split():
        if int(process) != pid:
            os.kill(int(process), signal.SIGKILL)
    until(lambda: (group / "cgroup.procs").read_text(encoding="ascii").split() == [str(pid)])
    assert backend.verify_down(launch).checks == (f"local: 1 process(es) of {launch.run_id}",)
    backend.down(launch)
    assert not alive(pid)
    assert not group.exists(), "an empty group is removed"


def test_a_process_of_the_session_is_found_by_it_alone(backend, started):
    """Its parent is gone, there is no group, and its environment is empty."""
    launch, start, job_folder = started
    pid = start(SAME_SESSION)
    traces = job_folder() / "traces"
    without_group(traces)
    end_the_marked(launch.run_id)
    assert not backend.verify_down(launch).down
    backend.down(launch)
    assert not alive(pid)


@pytest.mark.slow
def test_processes_that_a_job_leaves_behind_end_with_it(backend, started):
    launch, start, _ = started
    pid = start(DAEMON, then="exit 0")
    until(lambda: backend.status(launch).phase.is_over)
    assert backend.status(launch).phase is LaunchPhase.SUCCEEDED
    assert not alive(pid)


def test_a_session_of_another_boot_is_not_ours(backend, started):
    """Its process id may belong to another program now."""
    launch, start, job_folder = started
    pid = start(SAME_SESSION)
    traces = job_folder() / "traces"
    traces.write_text("another boot\n" + traces.read_text(encoding="ascii").partition("\n")[2], encoding="ascii")
    end_the_marked(launch.run_id)
    backend.down(launch)
    assert alive(pid)


def test_a_process_on_an_accelerator_that_began_after_the_job_is_no_proof(backend, started, tmp_path, monkeypatch):
    """It is named and left alone: it may be the user's own."""
    launch, start, job_folder = started
    pid = start(DAEMON)
    smi = tmp_path / "bin" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(f'#!/bin/sh\n[ "$1" = -L ] || echo {pid}\n', encoding="utf-8")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}:{os.environ['PATH']}")
    traces = job_folder() / "traces"
    without_group(traces)
    end_the_marked(launch.run_id)
    backend.down(launch)
    assert alive(pid)
    evidence = backend.verify_down(launch)
    assert not evidence.down
    assert f"process {pid} of this user holds an accelerator" in evidence.checks[1]
    os.kill(pid, signal.SIGKILL)
    until(lambda: not alive(pid))
    assert backend.verify_down(launch).down
