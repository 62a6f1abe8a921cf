"""Questions on a real terminal: what is asked, how often, and that an answer comes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

LOGS = Path(__file__).parents[2] / "adapters" / "trainer_logs" / "logs"


def answered(arguments: Sequence[str | Path], answers: Sequence[str]) -> tuple[int, str, list[str]]:
    """Run the command on a pseudo-terminal and type an answer at each question; code, screen, questions."""
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "planner.cli.main", *map(str, arguments)]
    process = subprocess.Popen(command, stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    screen, seen, left, asked = "", 0, list(answers), []
    while True:
        try:
            piece = os.read(master, 65_536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        screen += piece.decode("utf-8", "replace")
        if screen[seen:].rstrip().endswith(":") and left:
            asked.append(screen[seen:].strip())
            os.write(master, f"{left.pop(0)}\n".encode())
            seen = len(screen)
    code = process.wait()
    os.close(master)
    return code, screen, asked


def test_facts_of_a_log_are_asked_one_after_another():
    answers = ["llama3-8b", "RTX-3090", "2", "700", "16"]
    code, screen, asked = answered(["runs", "import", LOGS / "lightning"], answers)
    assert code == 0, screen
    assert [flag for question in asked for flag in question.split() if flag.startswith("(--")] == [
        "(--workload,", "(--accelerator,", "(--gpus,", "(--seq-len,", "(--global-batch,",
    ]  # fmt: skip
    assert "Imported llama3-8b-rtx-3090-x2-log-" in screen


@pytest.mark.slow
def test_a_question_is_answered_after_five_of_its_own(tmp_path):
    out = tmp_path / "ask.yaml"
    answers = ["2xRTX-3090", "300", "", "llama3-8b", "50000x700"]
    code, screen, asked = answered(["ask", "--method", "lora", "--write", out], answers)
    assert code == 0, screen
    assert len(asked) == 5
    assert asked[3].endswith("What is trained? (llama3-8b):")
    plan = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert (plan["options"][0]["own"], plan["options"][0]["count"]) == ("RTX-3090", 2)
    assert plan["campaign"]["budget_usd"] == 300.0
