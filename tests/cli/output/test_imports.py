"""A command imports what it needs: nothing heavy, and not what other commands need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Set
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEAVY = (
    "torch",
    "sky",
    "boto3",
    "botocore",
    "gpuhunt",
    "streamlit",
    "pandas",
    "scipy",
    "altair",
    "rich",
    "deepspeed",
    "filelock",
    "httpx",
    "jinja2",
)


@cache
def modules_after(*arguments: str) -> frozenset[str]:
    """Return the names of all modules that a fresh process has imported when the command is done."""
    code = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))\n"
        "from planner.cli.main import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ)
    return frozenset(json.loads(done.stderr.splitlines()[-1]))


def packages(modules: Set[str]) -> set[str]:
    """Return the top-level names."""
    return {name.partition(".")[0] for name in modules}


def ours(modules: Set[str]) -> set[str]:
    """Return the modules of this project, without the packages around them."""
    return {name for name in modules if name.startswith(("planner.", "launcher.", "workloads."))} - {"planner.cli"}


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["estimate", "examples/dgx_station_v100.yaml", "--json"], id="estimate --json"),
        pytest.param(["estimate", "examples/gpu_guide_llama3_8b.yaml"], id="estimate in a pipe"),
        pytest.param(["campaign", "examples/rtx3090_cluster.yaml", "--json"], id="campaign --json"),
        pytest.param(["compare", "examples/p5e_vs_a100.yaml", "--json"], id="compare --json"),
        pytest.param(["own-or-rent", "examples/own_8xh200.yaml", "--json"], id="own-or-rent --json"),
        pytest.param(["runs", "list", "--json"], id="runs list --json"),
        pytest.param(["prices", "show", "--json"], id="prices show --json"),
        pytest.param(["doctor", "--json"], id="doctor --json"),
        pytest.param(["schema", "plan"], id="schema"),
        pytest.param(["launch", "gpt-305m", "--on", "aws/p4d.24xlarge", "--dry-run", "--json"], id="launch --dry-run"),
        pytest.param(["task", "gpt-305m", "--on", "aws/p4d.24xlarge"], id="task"),
        pytest.param(["launches", "list", "--json"], id="launches list"),
        pytest.param(["--help"], id="help"),
    ],
)
def test_nothing_heavy_is_imported(arguments):
    imported = packages(modules_after(*arguments))
    assert "planner" in imported
    assert imported.isdisjoint(HEAVY)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_the_list_of_commands_needs_no_command(arguments):
    imported = modules_after(*arguments)
    assert ours(imported) <= {
        "planner.cli.main",
        "planner.cli.command_tree",
        "planner.cli.help_layout",
        "planner.cli.streams",
        "planner.cli.visible_output",
        "planner.text",
        "planner.text.visible_text",
        "planner.use_cases",
        "planner.use_cases.version",
        "planner.errors",
    }
    assert packages(imported).isdisjoint({"pydantic", "yaml", "rich"})


@pytest.mark.parametrize(
    ("arguments", "own", "others"),
    [
        pytest.param(
            ["estimate", "examples/dgx_station_v100.yaml", "--json"],
            "planner.cli.plan_commands",
            ("launcher", "workloads", "planner.ui", "planner.speed.calibration", "planner.use_cases.prices"),
            id="estimate",
        ),
        pytest.param(
            ["prices", "history", "aws/p5.48xlarge", "--json"],
            "planner.cli.price_commands",
            ("launcher", "workloads", "planner.ui", "planner.decide", "planner.speed.calibration"),
            id="prices",
        ),
        pytest.param(
            ["doctor", "--json"], "planner.cli.setup_commands", ("launcher", "planner.speed.calibration"), id="doctor"
        ),
        pytest.param(
            ["task", "gpt-305m", "--on", "aws/p4d.24xlarge"],
            "planner.cli.launching.task_command",
            ("planner.ui", "planner.speed.calibration", "planner.launcher.drive"),
            id="task",
        ),
    ],
)
def test_a_command_imports_no_other_command_nor_what_it_needs(arguments, own, others):
    imported = ours(modules_after(*arguments))
    assert {name for name in imported if name.endswith(("_command", "_commands"))} == {own}
    assert {name for name in imported if name.startswith(others)} == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["compare", "examples/p5e_vs_a100.yaml", "--json"], id="compare"),
        pytest.param(["estimate", "examples/local_pc.yaml", "--json"], id="estimate"),
        pytest.param(["recommend", "examples/p5e_vs_a100.yaml", "--json"], id="recommend"),
        pytest.param(["find", "llama3-8b", "--json"], id="find"),
        pytest.param(["memory", "llama3-8b", "--on", "H100-SXM", "--json"], id="memory"),
        pytest.param(["check-run", "seed-000-dgx-station-v100", "--json"], id="check-run"),
    ],
)
def test_an_answer_imports_neither_fitting_nor_claims(arguments):
    imported = ours(modules_after(*arguments))
    assert {
        name for name in imported if name.startswith(("planner.speed.calibration", "planner.audit.claims"))
    } == set()


def test_the_interpreter_s_own_log_agrees():
    command = [
        sys.executable,
        "-X",
        "importtime",
        "-m",
        "planner.cli.main",
        "estimate",
        "examples/dgx_station_v100.yaml",
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ)
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
    assert "pydantic" in imported
    assert imported.isdisjoint({*HEAVY, "numpy"})


def test_the_core_answers_where_no_extra_is_installed():
    """A finder in front of all others hides every package of the extras."""
    code = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] in {HEAVY!r}:\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "from planner.cli.main import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "estimate", "examples/local_pc.yaml", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=os.environ)
    assert json.loads(done.stdout)["kind"] == "estimate"
