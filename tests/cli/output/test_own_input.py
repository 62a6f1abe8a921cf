"""No command writes over a file that it reads, by whatever name it is given: exit 2, and the file is as it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from planner.adapters.files import inputs_noted, note_input, write_text
from planner.errors import InputError
from tests.cli.conftest import Planner

SAID = "this command reads that file, and would write over it; nothing was written"


@pytest.fixture
def plan(tmp_path: Path, example: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a plan as JSON beside nothing else, so that it may be the file of a report."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(yaml.safe_load(example("own_8xh200").read_text()), default=str))
    return path


def same(path: Path) -> Path:
    return path


def symlink(path: Path) -> Path:
    link = path.with_name("link.json")
    link.symlink_to(path)
    return link


def hard_link(path: Path) -> Path:
    link = path.with_name("hard.json")
    os.link(path, link)
    return link


def by_a_linked_folder(path: Path) -> Path:
    folder = path.with_name("elsewhere")
    folder.symlink_to(path.parent, target_is_directory=True)
    return folder / path.name


def relative(path: Path) -> Path:
    return Path(path.name)


@pytest.mark.parametrize("name", [same, symlink, hard_link, by_a_linked_folder, relative])
def test_a_report_over_its_own_plan_is_refused(planner: Planner, plan: Path, name: Callable[[Path], Path]):
    before = plan.read_bytes()
    answer = planner("report", plan, "--out", name(plan))
    assert (answer.code, SAID in answer.err) == (2, True), answer.err
    assert plan.read_bytes() == before


def frozen(planner: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    assert planner("estimate", plan, "--freeze").code == 0
    lock = plan.with_name("plan.lock.json")
    return ("report", plan, "--locked", "--out", lock), lock


def a_chart(_: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    link = plan.with_name("chart.svg")
    link.symlink_to(plan)
    return ("own-or-rent", plan, "--chart", link), plan


def a_lock_that_is_the_plan(_: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    os.link(plan, plan.with_name("plan.lock.json"))
    return ("estimate", plan, "--freeze"), plan


def a_plan_of_found_machines(_: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    return ("find", plan, "--write", plan), plan


def stored(planner: Planner, plan: Path, example: Path) -> Path:
    """Store a run of the person's own, in the workspace."""
    home = plan.parent / "planner-data"
    assert planner("runs", "add", example, "--home", home).code == 0
    (record,) = (home / "runs").glob("*.json")
    return record


def exported_runs(planner: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    record = stored(planner, plan, a_run(plan))
    return ("runs", "export", "--out", record, "--home", plan.parent / "planner-data"), record


def a_new_plan(planner: Planner, plan: Path) -> tuple[tuple[str | Path, ...], Path]:
    record = stored(planner, plan, a_run(plan))
    return ("init", record, "--force", "--measured", "latest", "--home", plan.parent / "planner-data"), record


def a_run(plan: Path) -> Path:
    bundled = sorted((Path(__file__).parents[3] / "catalogs" / "runs").glob("*.json"))[0]
    data = json.loads(bundled.read_text()) | {"id": "my-own-run"}
    path = plan.with_name("run.json")
    path.write_text(json.dumps(data))
    return path


COMMANDS = [frozen, a_chart, a_lock_that_is_the_plan, a_plan_of_found_machines, exported_runs, a_new_plan]


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_writes_over_what_it_reads(
    planner: Planner, plan: Path, command: Callable[[Planner, Path], tuple[tuple[str | Path, ...], Path]]
):
    words, read = command(planner, plan)
    before = read.read_bytes()
    answer = planner(*words)
    assert answer.code == 2, (answer.out, answer.err)
    assert SAID in answer.err or "exists already" in answer.err  # as find, which replaces no file at all
    assert read.read_bytes() == before


@pytest.mark.slow
def test_another_file_is_replaced_as_before(planner: Planner, plan: Path):
    out = plan.with_name("report.json")
    for _ in range(2):
        assert planner("report", plan, "--out", out).code == 0
    assert json.loads(out.read_text())["schema_version"] == 1


def test_a_store_may_rewrite_its_own_file_and_a_program_any(tmp_path: Path):
    path = tmp_path / "x"
    path.write_text("old")
    with inputs_noted():
        note_input(path)
        with pytest.raises(InputError, match="would write over it"):
            write_text(path, "new")
        write_text(path, "of the store", of_store=True)
    write_text(path, "of a program")
    assert path.read_text() == "of a program"
