"""Commands under which machines run end with their own code, whether or not their output is read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import os, signal, sys
from planner.cli.streams import lasting_output, say
with lasting_output():
    sys.stdin.readline()  # now no one reads
    {act}
    for _ in range(20000):
        print("x" * 50)
        say("y" * 50)
    sys.exit(4)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "act",
    [
        pytest.param("pass", id="closed pipes"),
        pytest.param("os.kill(os.getpid(), signal.SIGHUP)", id="hang-up"),
    ],
)
def test_the_exit_code_survives_a_closed_output(act: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(act=act)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    for pipe in (child.stdout, child.stderr):
        assert pipe is not None
        pipe.close()
    assert child.stdin is not None
    child.stdin.write(b"go\n")
    child.stdin.close()
    assert child.wait(timeout=30) == 4


def test_a_reading_command_may_be_cut_off() -> None:
    shown = f"{sys.executable} -m planner.cli.main prices show --format tsv | head -n1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", shown],
        capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
