"""A disk that takes no more: what stood there stays, and the error says why."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from planner.adapters.workspace import catalogs_dir
from tests.cli.conftest import CliAnswer
from tests.cli.refusals import one_error

LIMITED = """
import resource, sys
from planner.cli.main import run
resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
sys.dont_write_bytecode = True  # Python would keep the first 10 bytes of it
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def full() -> Callable[..., CliAnswer]:
    """Call `planner ARGUMENTS` in a child process in which no file may grow over 10 bytes."""

    def call(*arguments: str | Path) -> CliAnswer:
        command = [sys.executable, "-c", LIMITED, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return CliAnswer(done.returncode, done.stdout, done.stderr)

    return call


@pytest.mark.parametrize(
    ("command", "name"),
    [
        pytest.param("report PLAN --out out.md", "out.md", id="report"),
        pytest.param("init out.yaml --force", "out.yaml", id="init"),
        pytest.param("estimate PLAN --freeze", "own_8xh200-1.lock.json", id="lock"),
        pytest.param("own-or-rent PLAN --chart out.svg", "out.svg", id="chart"),
        pytest.param("runs export --format json --out out.json", "out.json", id="export"),
    ],
)
def test_the_old_file_stays(full: Any, changed: Any, tmp_path: Path, monkeypatch: Any, command: str, name: str) -> None:
    plan = changed("own_8xh200", only=[0, 1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(b"old")
    before = sorted(tmp_path.iterdir())
    one_error(full(*command.replace("PLAN", plan.name).split()), name, "File too large", "Free some space")
    assert (tmp_path / name).read_bytes() == b"old"
    assert sorted(tmp_path.iterdir()) == before


def test_nothing_of_a_new_plan_is_written(full: Any, tmp_path: Path) -> None:
    found = full("find", "gpt-305m", "--gpus", "8", "--provider", "lambda", "--write", tmp_path / "new.yaml")
    one_error(found, "new.yaml", "File too large")
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_a_table_is_added(full: Any, tmp_path: Path) -> None:
    one_error(full("evidence", "add", catalogs_dir() / "evidence" / "torchtitan.csv"), "nothing was added", "large")
    assert list((tmp_path / "planner-home" / "evidence").iterdir()) == []


def test_a_table_that_no_command_would_find_is_refused(planner: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes((catalogs_dir() / "evidence" / "torchtitan.csv").read_bytes())
    one_error(planner("evidence", "add", path), "only files that end in .csv")
