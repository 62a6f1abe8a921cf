"""Logs written for a test, and those that trainers really wrote (`logs/`, described in README.md)."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.adapters.trainer_logs.log_formats import read_logs
from planner.adapters.trainer_logs.log_source import open_source
from planner.adapters.trainer_logs.steady_steps import Steady, steady
from planner.adapters.trainer_logs.trainer_log import TrainerLog

HERE = Path(__file__).parent


@pytest.fixture
def logs() -> Path:
    return HERE / "logs"


@pytest.fixture
def read() -> Callable[[Path], TrainerLog]:
    """Read the one training that a path tells of."""

    def call(path: Path) -> TrainerLog:
        (log,) = read_logs(open_source(path))
        return log

    return call


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write files into a folder; return it, or the file where there is one."""

    def call(**files: str) -> Path:
        paths = [tmp_path / name.replace("__", ".") for name in files]
        for path, text in zip(paths, files.values(), strict=True):
            path.write_bytes(text.encode())
        return paths[0] if len(paths) == 1 else tmp_path

    return call


def timed_steps(name: str) -> dict[int, float]:
    """Return the seconds of each step as the process that wrote the log timed them."""
    with (HERE / "timed_steps" / f"{name}.csv").open(encoding="utf-8") as file:
        return {int(row["step"]): float(row["seconds"]) for row in csv.DictReader(file)}


@pytest.fixture
def timed() -> Callable[[str], float]:
    """Return the mean seconds of a step, without evaluation and checkpoints."""

    def call(name: str) -> float:
        seconds = timed_steps(name).values()
        return sum(seconds) / len(seconds)

    return call


def part(log: TrainerLog) -> Steady:
    """Return the steady part of a log that times its steps."""
    found = steady(log.spans)
    assert found is not None
    return found
