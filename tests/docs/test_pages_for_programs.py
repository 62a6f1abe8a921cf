"""The pages for Python and CI: their code runs, and the exit codes are those of the commands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from planner.cli.command_tree import EXIT_CODES
from planner.cli.main import run

ROOT = Path(__file__).parents[2]
PYTHON, CI = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("python.md", "ci.md"))
COMMANDS = [
    shlex.split(line.partition("#")[0].partition(">")[0])
    for block in re.findall(r"```sh\n(.*?)```", CI, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("planner ")
]


@pytest.mark.slow
def test_the_code_for_python_runs() -> None:
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PYTHON, re.DOTALL):
        exec(compile(block, "python.md", "exec"), names)
    assert names["answer"].to_frame().shape[1] == 12


def test_the_exit_codes_are_those_of_the_help() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", CI, re.MULTILINE)}
    assert told == {int(code) for code in re.findall(r"(?<![\d+] )\b(\d+)(?= [a-z])", EXIT_CODES.partition("(")[0])}


@pytest.mark.parametrize("command", COMMANDS, ids=[" ".join(command[:3]) for command in COMMANDS])
def test_a_command_for_ci_runs(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "local_pc.yaml", "plan.yaml")
    assert run(["estimate", "plan.yaml", "--freeze", "--json"]) == 0
    Path("plans").mkdir()
    for copy in ("old.lock.json", "plans/plan.lock.json"):
        shutil.copy("plan.lock.json", copy)
    prices = Path("planner-data", "prices", "ours.csv")
    prices.parent.mkdir(parents=True)
    bundled = (ROOT / "catalogs" / "prices" / "lambda.csv").read_text(encoding="utf-8").splitlines()
    prices.write_text("\n".join(bundled[:2]) + "\n", encoding="utf-8")
    assert run(command[1:]) in (0, 3)
