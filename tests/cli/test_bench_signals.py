"""`planner bench` under real signals, with two processes: nothing is left behind, and what was measured stays."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.marked_processes import MarkedProcesses, until

ROOT = Path(__file__).resolve().parents[2]
TERM, HUP, INT, KILL = signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL


class Bench:
    """A `planner bench cpu-smoke` in the background."""

    def __init__(self, home: Path, processes: MarkedProcesses, *options: str) -> None:
        self.home, self.processes = home, processes
        self._said = home / "said.txt"
        variables = {
            **{"PLANNER_HOME": str(home), "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            "TORCHINDUCTOR_CACHE_DIR": str(home / "inductor"),  # empty: it must compile
        }
        with self._said.open("w") as said:
            self.planner = subprocess.Popen(
                [sys.executable, "-m", "planner.cli.main", "bench", "cpu-smoke", "--gpus", "2", "--quick", *options],
                cwd=ROOT, env=os.environ | variables | processes.variables, stdout=said, stderr=said,
            )  # fmt: skip

    @property
    def said(self) -> str:
        return self._said.read_text(encoding="utf-8")

    @property
    def rows(self) -> list[str]:
        return [
            row for steps in self.home.glob("bench/*/start-*/*.steps.jsonl") for row in steps.read_text().split("\n")
        ]

    def is_at(self, phase: str) -> bool:
        assert self.planner.poll() is None, self.said
        if phase == "start":
            return len(self.processes.of("planner.workloads.train")) == 2
        if phase == "compile":
            return self.processes.running("cc1plus")
        return any('"measure"' in row for row in self.rows)

    def results(self, pattern: str = "start-*") -> list[dict[str, object]]:
        return [json.loads(path.read_text()) for path in self.home.glob(f"bench/*/{pattern}/result.json")]


@pytest.fixture(autouse=True)
def signals_reach_children() -> Iterator[None]:
    """Let them, where the tests themselves were started by nohup or in a shell's background."""
    before = {number: signal.getsignal(number) for number in (INT, HUP)}
    for number, handler in before.items():
        if handler is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    processes, started = MarkedProcesses(), []

    def bench(*options: str) -> Bench:
        started.append(Bench(tmp_path, processes, *options))
        return started[-1]

    yield bench
    processes.kill()
    for series in started:
        series.planner.wait(timeout=30)


CASES = [
    pytest.param(
        number,
        phase,
        id=f"{number.name[3:]} during {phase}",
        marks=[pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")] if phase == "compile" else [],
    )
    for number in (TERM, HUP, INT, KILL)
    for phase in ("start", "compile", "measure")
    if number in (TERM, KILL) or phase == {HUP: "start", INT: "measure"}[number]
]
"""TERM, HUP and INT have one handler, so that one of them meets every phase, and the others one each."""


def options_of(phase: str) -> list[str]:
    return ["--compile"] if phase == "compile" else []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "phase"), CASES)
def test_no_signal_leaves_a_process_behind(start: Callable[..., Bench], number: signal.Signals, phase: str) -> None:
    bench = start(*options_of(phase))
    until(lambda: bench.is_at(phase), what=lambda: bench.said)
    bench.planner.send_signal(number)
    bench.processes.are_gone()
    code = bench.planner.wait(timeout=1)
    if number is KILL:
        assert code == -KILL
    else:
        assert code == 128 + number
        *_, what, where = bench.said.splitlines()
        assert what == f"Error: stopped by {number.name}; every process of the benchmark has ended."
        (folder,) = bench.home.glob("bench/*")
        assert where == f"No start was complete; the steps until then are in {folder}"
    if phase != "start":
        (result,) = bench.results()
        assert result["exit_reason"] == "interrupted"
        assert (result["steps"] == 0) == (phase == "compile")
    assert not list(bench.home.glob("runs/*"))


@pytest.mark.slow
@pytest.mark.parametrize("phase", ["start", *(["compile"] if shutil.which("g++") else []), "measure"])
def test_ranks_end_when_torchrun_is_killed(start: Callable[..., Bench], phase: str) -> None:
    """Kill as the system does when memory runs out."""
    bench = start(*options_of(phase))
    until(lambda: bench.is_at(phase), what=lambda: bench.said)
    (agent,) = bench.processes.of("planner.workloads.agent")
    os.kill(agent, KILL)
    bench.processes.are_gone()
    assert bench.planner.wait(timeout=1) == 4
    assert [result["exit_reason"] for result in bench.results()] == ([] if phase == "start" else ["interrupted"])


@pytest.mark.slow
def test_starts_that_were_complete_become_a_record(start: Callable[..., Bench]) -> None:
    bench = start("--repeats", "3")
    until(lambda: "start 2 of 3" in bench.said, what=lambda: bench.said)
    bench.planner.send_signal(TERM)
    bench.processes.are_gone()
    assert bench.planner.wait(timeout=1) == 128 + TERM
    (record,) = bench.home.glob("runs/*.json")
    assert bench.said.splitlines()[-1] == f"1 of 3 starts were complete: {record}"
    (result,) = bench.results("start-1")
    (rate,) = json.loads(record.read_text())["repeats"]
    assert rate == pytest.approx(float(str(result["samples"])) / float(str(result["window_s"])))


@pytest.mark.slow
def test_a_first_run_fits_on_a_screen_and_says_what_to_do(start: Callable[..., Bench]) -> None:
    bench = start()
    assert bench.planner.wait(timeout=120) == 0
    lines = bench.said.splitlines()
    assert len(lines) <= 25, bench.said
    (record,) = bench.home.glob("runs/*.json")
    result, verdict, *then = lines[-4:]
    assert re.fullmatch(r"Result: [\d,.]+ samples/s \(measured\), [\d,]+ tokens/s", result)
    assert verdict.startswith("Verdict: doubtful because the window is too short: ")
    assert then == [
        "Next: the same command without --quick, for a window that others can be compared with",
        f"Next: planner runs show {record.stem}  (all reasons, phases, memory)",
    ]
