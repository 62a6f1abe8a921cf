"""Output of a benchmark while it runs: little in a pipe, one line on a terminal."""

from __future__ import annotations

import sys

import pytest

from planner.cli.launching.bench_command import BenchProgress
from planner.cli.visible_output import Drawn


def steps(phase: str, count: int) -> list[dict[str, object]]:
    return [{"phase": phase, "step": step, "seconds": 0.5, "tokens": 4096} for step in range(1, count + 1)]


def test_in_a_pipe_each_phase_of_each_start_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    progress = BenchProgress()
    for start in (1, 2):
        progress.say(f"start {start}")
        for step in [*steps("warmup", 500), *steps("measure", 500)]:
            progress.step(step)
    progress.close()
    phases = ["  warmup step 1: 0.500 s, 8,192 tokens/s", "  measure step 1: 0.500 s, 8,192 tokens/s"]
    assert capsys.readouterr().err.splitlines() == ["start 1", *phases, "start 2", *phases]


def test_on_a_terminal_one_line_is_rewritten_and_then_gone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("planner.cli.launching.bench_command.REDRAW_EVERY_S", 0.0)
    progress = BenchProgress()
    for step in steps("measure", 3):
        progress.step(step)
    progress.say("done")
    progress.close()
    drawn = capsys.readouterr().err
    assert drawn.count("\n") == 1
    assert [part[:16] for part in drawn.split("\r\x1b[2K")] == [
        "",
        *(f"  measure step {n}" for n in (1, 2, 3)),
        "done\n",
    ]


def test_a_step_is_drawn_through_the_door_for_what_we_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its control characters would be shown as text."""
    written: list[str] = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "write", written.append)
    BenchProgress().step(steps("measure", 1)[0])
    assert [type(text) for text in written] == [Drawn]
