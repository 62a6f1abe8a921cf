"""run.sh on a node under real signals: what it started ends with it, and the ranks write what they have."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.marked_processes import MarkedProcesses, until
from tests.workloads.conftest import BareNode

pytestmark = pytest.mark.slow

ENDLESS = {"min_steps": 10**6, "min_s": 600.0, "max_s": 600.0}
TERM, HUP, KILL = signal.SIGTERM, signal.SIGHUP, signal.SIGKILL


class SignalledNode:
    """run.sh in the background, as a launch starts it, with two processes on this machine."""

    def __init__(self, place: Path, spec: dict[str, object], processes: MarkedProcesses, **more: str) -> None:
        (place / "python").write_text(f"{sys.executable}\n")
        self.results, self.processes = place / "results", processes
        launched = {
            **{"SKYPILOT_NODE_RANK": "0", "SKYPILOT_NUM_NODES": "1", "SKYPILOT_NUM_GPUS_PER_NODE": "0"},
            **{"PLANNER_RUN_ID": "r1", "PLANNER_SPEC": json.dumps(spec), "PLANNER_DEVICES": "2"},
            **{"PLANNER_NODE_DIR": str(place), "PLANNER_RESULTS_DIR": str(self.results), "PLANNER_STARTS": "2"},
        }
        self.bash = subprocess.Popen(
            ["bash", str(place / "workloads" / "run.sh")],
            env=os.environ | launched | more | processes.variables,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    @property
    def measures(self) -> bool:
        steps = self.results / "r1" / "start-1" / "result.json.steps.jsonl"
        return steps.exists() and '"measure"' in steps.read_text()


@pytest.fixture
def processes() -> Iterator[MarkedProcesses]:
    marked = MarkedProcesses()
    yield marked
    marked.kill()


@pytest.mark.parametrize(
    ("number", "to"),
    [
        pytest.param(TERM, "run.sh", id="TERM to run.sh alone"),
        pytest.param(HUP, "run.sh", id="HUP to run.sh alone"),
        pytest.param(TERM, "group", id="TERM to the group, as timeout sends it"),
        pytest.param(KILL, "run.sh", id="run.sh killed"),
        pytest.param(KILL, "workloads.node", id="its node killed"),
    ],
)
def test_a_signal_ends_what_run_sh_started(
    bare_node: Callable[[], BareNode],
    spec_document: Callable[..., dict[str, object]],
    processes: MarkedProcesses,
    number: signal.Signals,
    to: str,
) -> None:
    node = SignalledNode(bare_node().folder, spec_document(micro_batch=2, window=ENDLESS), processes)
    until(lambda: node.measures)
    if to == "group":
        os.killpg(node.bash.pid, number)
    elif to == "run.sh":
        node.bash.send_signal(number)
    else:
        (child,) = processes.of(to)
        os.kill(child, number)
        until(lambda: len(processes.of("workloads.train")) < 2)
        node.bash.terminate()  # or it goes on with the second start
    processes.are_gone()
    node.bash.wait(timeout=1)
    result = json.loads((node.results / "r1" / "start-1" / "result.json").read_text())
    assert result["exit_reason"] == "interrupted"
    assert result["steps"] > 0
    if to != "workloads.node":
        assert not (node.results / "r1" / "start-2").exists()


def test_a_search_for_the_micro_batch_ends_with_run_sh(
    bare_node: Callable[[], BareNode], spec_document: Callable[..., dict[str, object]], processes: MarkedProcesses
) -> None:
    node = SignalledNode(bare_node().folder, spec_document(), processes, PLANNER_PROBES="search --start 1")
    until(lambda: len(processes.of("workloads.train")) == 2)
    assert len(processes.of("workloads.micro_batch_main")) == 1
    node.bash.kill()
    processes.are_gone()
    assert node.bash.wait(timeout=1) == -KILL
