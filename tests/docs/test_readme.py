"""The README's commands print what it shows, and its Python runs; `--update-golden` rewrites the outputs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOON

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CONSOLE = re.compile(r"```console\n\$ (?P<command>[^\n]+)\n(?P<output>.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
COMMANDS = [match["command"] for match in CONSOLE.finditer(README.read_text(encoding="utf-8"))]
ON_THE_DAY_OF_TESTS = f"""#!{sys.executable}
import datetime
from planner import clock
from planner.cli.main import main
clock.now = lambda: datetime.datetime.fromisoformat("{NOON.isoformat()}")
main()
"""


def test_the_readme_has_three_commands():
    assert len(COMMANDS) == 3


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_what_the_readme_shows(command: str, tmp_path: Path, request: pytest.FixtureRequest):
    printed = _run(command, tmp_path)
    readme = README.read_text(encoding="utf-8")
    block = next(match for match in CONSOLE.finditer(readme) if match["command"] == command)
    if request.config.getoption("--update-golden"):
        start, end = block.span("output")
        README.write_text(f"{readme[:start]}{printed}{readme[end:]}", encoding="utf-8")
        return
    assert printed == block["output"]


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    (code,) = PYTHON.findall(README.read_text(encoding="utf-8"))
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert capsys.readouterr().out.startswith("Take ")
    assert len(names["prices"]) > 10


def _run(command: str, folder: Path) -> str:
    """Run a shell line with `planner` of this checkout, on the day of tests; trailing blanks of lines do not count."""
    script = folder / "bin" / "planner"
    script.parent.mkdir()
    script.write_text(ON_THE_DAY_OF_TESTS, encoding="utf-8")
    script.chmod(0o755)
    environment = os.environ | {"PATH": f"{script.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())
