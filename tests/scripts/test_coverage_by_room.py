"""Floor of the core's coverage: lines and branches add up by room, and a room below the floor fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import coverage_by_room
from scripts.coverage_by_room import CORE, counts_by_room, percent, total


def file(lines: tuple[int, int], branches: tuple[int, int] = (0, 0)) -> dict[str, dict[str, int]]:
    (covered_lines, num_statements), (covered_branches, num_branches) = lines, branches
    return {
        "summary": {
            "covered_lines": covered_lines,
            "num_statements": num_statements,
            "covered_branches": covered_branches,
            "num_branches": num_branches,
        }
    }


def test_lines_and_branches_of_a_room_s_files_add_up() -> None:
    report = {
        "files": {
            "planner/cost/cloud/bill.py": file((60, 60), (30, 30)),
            "planner/cost/currency.py": file((5, 8), (0, 2)),
            "planner/errors.py": file((1, 2)),
            "launcher/plan/launch.py": file((4, 8)),
        }
    }
    rooms = counts_by_room(report)
    assert rooms == {"planner/cost": (95, 100), "planner": (1, 2), "launcher": (4, 8)}
    assert percent(rooms["planner/cost"]) == 95.0
    assert total(rooms) == (100, 110)


@pytest.mark.parametrize(
    ("covered", "code", "said"),
    [
        pytest.param(950, 0, "", id="at the floor"),
        pytest.param(949, 1, "below 95 % or not measured: planner/cost", id="below it"),
    ],
)
def test_a_room_below_the_floor_fails(
    covered: int,
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = {f"planner/{room}/a.py": file((1000, 1000)) for room in CORE}
    report = tmp_path / "coverage.json"
    report.write_text(json.dumps({"files": files | {"planner/cost/a.py": file((covered, 1000))}}), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["coverage_by_room.py", str(report)])
    assert coverage_by_room.main() == code
    assert capsys.readouterr().err.strip() == said


def test_a_room_that_was_not_measured_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "coverage.json"
    files = {f"planner/{room}/a.py": file((1, 1)) for room in CORE - {"speed"}}
    report.write_text(json.dumps({"files": files}), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["coverage_by_room.py", str(report)])
    assert coverage_by_room.main() == 1
    assert capsys.readouterr().err.endswith("speed\n")
