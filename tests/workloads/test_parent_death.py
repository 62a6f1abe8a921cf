"""A child ends with its parent, by the kernel and by looking; with real processes and a real KILL."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner import workloads
from tests.marked_processes import MarkedProcesses, until

CHILD = """
import signal, sys
from planner.workloads.ranks import stop
{change}
stop.follow_parent()
print("follows", flush=True)
signal.pause()
"""
PARENT = """
import os, subprocess, sys
from planner.workloads.ranks.stop import environment_of_child
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]], env={environment}, stdout=subprocess.PIPE, text=True)
print(child.stdout.readline(), end="", flush=True)
child.wait()
"""
LOOKS = "stop._kernel_sends_sigterm = lambda: False"
FOLLOWED = "environment_of_child(os.environ)"


@pytest.fixture
def processes() -> Iterator[MarkedProcesses]:
    marked = MarkedProcesses()
    yield marked
    marked.kill()


def parent_of(processes: MarkedProcesses, *, change: str = "", environment: str = FOLLOWED) -> subprocess.Popen[str]:
    """Start a parent and its child; return once the child says that it follows, or may outlive, its parent."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(environment=environment), CHILD.format(change=change)],
        env=os.environ | processes.variables | {"PYTHONPATH": str(Path(workloads.__file__).parents[1])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "follows\n"
    return parent


@pytest.mark.parametrize("change", [pytest.param("", id="told by the kernel"), pytest.param(LOOKS, id="by looking")])
def test_a_child_ends_when_its_parent_is_killed(processes: MarkedProcesses, change: str) -> None:
    with parent_of(processes, change=change) as parent:
        assert len(processes.commands()) == 2
        parent.kill()
    processes.are_gone()


def test_a_child_that_a_person_started_outlives_its_shell(processes: MarkedProcesses) -> None:
    with parent_of(processes, environment="os.environ") as parent:
        parent.kill()
    until(lambda: parent.pid not in processes.commands())
    (child,) = processes.commands()
    os.kill(child, signal.SIGTERM)  # it is there to take it: the kernel tells at the parent's end, not later
    processes.are_gone()


@pytest.mark.parametrize("change", [pytest.param("", id="told by the kernel"), pytest.param(LOOKS, id="by looking")])
def test_a_parent_that_died_before_it_could_be_followed_ends_the_child_at_once(change: str) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    done = subprocess.run(
        [sys.executable, "-c", CHILD.format(change=change)],
        env=os.environ | {"WORKLOADS_PARENT": str(gone.pid), "PYTHONPATH": str(Path(workloads.__file__).parents[1])},
        timeout=30,
        check=False,
        capture_output=True,
    )
    assert done.returncode == -15


def test_the_variable_is_about_one_child_alone() -> None:
    """A grandchild, such as a compiler, must not look for its grandparent."""
    show = "import os; from workloads.ranks.stop import *; follow_parent(); print(PARENT_VARIABLE in os.environ)"
    done = subprocess.run(
        [sys.executable, "-c", show],
        env=os.environ | {"WORKLOADS_PARENT": str(os.getpid()), "PYTHONPATH": str(Path(workloads.__file__).parents[1])},
        timeout=30, check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "False\n"
