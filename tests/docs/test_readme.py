"""The README's commands print what it shows on a terminal of 100 columns, and its Python runs."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOON, Golden, with_one_answer_id

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
BLOCKS = [(match["command"], match["output"]) for match in CONSOLE.finditer(README.read_text(encoding="utf-8"))]
LEFT_OUT = "...\n"
"""Stands in the README for lines that it leaves out."""
ON_THE_DAY_OF_TESTS = f"""#!{sys.executable}
import datetime
from planner import clock
from planner.cli.main import main
clock.now = lambda: datetime.datetime.fromisoformat("{NOON.isoformat()}")
main()
"""


def test_the_readme_shows_an_answer():
    assert [command.split()[1] for command, _ in BLOCKS] == ["compare"]


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command.split()[1] for command, _ in BLOCKS])
def test_a_command_prints_what_the_readme_shows(command: str, shown: str, tmp_path: Path, golden: Golden):
    screen = with_one_answer_id(_on_a_terminal(command, tmp_path))
    if golden.update and LEFT_OUT not in shown:
        text, block = README.read_text(encoding="utf-8"), f"$ {command}\n"
        README.write_text(text.replace(block + shown, block + screen), encoding="utf-8")
        shown = screen
    printed = " ".join(screen.split())
    parts = [" ".join(part.split()) for part in shown.split(LEFT_OUT) if part.strip()]
    assert parts
    place = 0
    for part in parts:
        assert part in printed[place:], f"{command} prints:\n{printed}"
        place = printed.index(part, place) + len(part)


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    (code,) = PYTHON.findall(README.read_text(encoding="utf-8"))
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert capsys.readouterr().out.startswith("Keep ")
    assert len(names["prices"]) > 10


def _on_a_terminal(command: str, folder: Path) -> str:
    """Return what a shell line with `planner` of this checkout shows on a terminal, on the day of tests."""
    script = folder / "bin" / "planner"
    script.parent.mkdir()
    script.write_text(ON_THE_DAY_OF_TESTS, encoding="utf-8")
    script.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{script.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(["bash", "-c", command], cwd=ROOT, env=environment, stdout=theirs, stderr=theirs) as shell:
        os.close(theirs)
        with contextlib.suppress(OSError):  # Linux ends a terminal without a writer with EIO
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert shell.returncode == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")
