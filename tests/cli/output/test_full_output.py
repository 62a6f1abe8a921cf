"""An output that cannot take more: one error, the code that the documentation names, no traceback."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLANNER = (sys.executable, "-m", "planner.cli.main")
PLAN = "examples/local_pc.yaml"
FULL = "Error: stdout: No space left on device.\nCheck the path, its permissions and the free space.\n"


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `planner` stands for the command."""
    line = f'planner() {{ {" ".join(PLANNER)} "$@"; }}; {script}'
    return subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, check=False, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param("--version", id="version"),
        pytest.param("estimate --help", id="help"),
        pytest.param(f"estimate {PLAN}", id="less than a buffer"),
        pytest.param(f"compare {PLAN} --json", id="more than a buffer"),
        pytest.param(f"estimate {PLAN} --format table", id="screen"),
        pytest.param("runs list --format table", id="drawn table"),
    ],
)
def test_a_full_output_is_one_error(arguments):
    done = shell(f"planner {arguments} > /dev/full")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", FULL)


def test_an_error_on_a_full_disk_keeps_its_code():
    done = shell("planner estimate none.yaml --json > /dev/full")
    assert done.returncode == 2
    assert done.stderr.startswith("Error: none.yaml")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", ["2> /dev/full", "2>&-", "2> >(exit)"], ids=["full", "closed", "no reader"])
def test_messages_that_reach_nobody_stop_nothing(closed):
    done = shell(f"planner prices show --provider lambda --format csv {closed} | wc -l; echo ${{PIPESTATUS[0]}}")
    lines, code = done.stdout.split()
    assert int(lines) > 1
    assert code == "0"


def test_a_closed_output_is_no_fault():
    done = shell(f"planner estimate {PLAN} >&-")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [f"compare {PLAN} --json", "--help", "runs list --format table"])
def test_a_pipe_that_is_cut_off_ends_quietly(arguments):
    done = shell(f"planner {arguments} | head -c 1; echo; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout.split()[-1], done.stderr) == ("0", "")


LASTING = """
import sys
from planner.cli.main import run
import planner.cli.main as main
from planner.cli.streams import lasting_output
def tree():
    def command(**_):
        with lasting_output():
            print("x" * 100_000)
            {end}
    return command
main.command_tree = tree
sys.exit(run([]))
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [
        pytest.param("return 0", 2, id="a command that went well"),
        pytest.param("import typer; raise SystemExit(4)", 4, id="a command with a code of its own"),
    ],
)
def test_a_command_under_which_machines_run_goes_on_and_says_it_at_the_end(end, code):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LASTING.format(end=end)], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    assert done.returncode == code
    assert ("stdout: No space left on device." in done.stderr) == (code == 2)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("runs", "export"), id="runs export"),
        pytest.param(("report", PLAN), id="report"),
        pytest.param(("init",), id="init"),
    ],
)
def test_a_device_as_the_file_to_write_stays_a_device(planner, arguments, tmp_path, monkeypatch):
    """Nothing is renamed while this runs: a fault here would replace the machine's device."""

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a device would be replaced")

    monkeypatch.setenv("XDG_STATE_HOME", os.devnull)  # no answer is kept, which would rename a file too
    monkeypatch.setattr(os, "replace", refused)
    monkeypatch.setattr(os, "rename", refused)
    link = tmp_path / "full.md"
    link.symlink_to("/dev/full")
    option = ("--force",) if arguments[0] == "init" else ()
    answer = planner(*arguments, *(() if arguments[0] == "init" else ("--out",)), link, *option)
    assert answer.code == 2
    assert f"Error: {link}: cannot be written: No space left on device." in answer.err
    assert link.is_symlink()
    assert stat.S_ISCHR(link.stat().st_mode)
