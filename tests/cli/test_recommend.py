"""`planner recommend`: the recommendation of `compare`, how firm it is, and what would change it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from planner.adapters.workspace import examples_dir
from planner.present.screen import MOST_LINES

NEAR = {
    "schema_version": 1,
    "name": "near",
    "workload": {"ref": "llama3-8b"},
    "work": {"tokens": 3e9},
    "campaign": {"runs": 4},
    "options": [
        {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "usd_per_hour": 36.0},
        {"offer": "aws/p4de.24xlarge", "region": "us-east-1", "usd_per_hour": 15.0},
    ],
}


@pytest.fixture
def near(tmp_path):
    def write(**changes) -> Path:
        path = tmp_path / "near.yaml"
        path.write_text(yaml.safe_dump(NEAR | changes), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("name", ["gpu_guide_llama3_8b", "qlora_llama3_8b"])
def test_it_recommends_what_compare_does(planner, example, name):
    compared, answer = (planner(command, example(name), "--json").document for command in ("compare", "recommend"))
    for key in ("recommended", "nearest", "headline", "sentence", "confidence", "runs", "deadline", "budget_usd"):
        assert answer[key] == compared[key]
    chosen = answer["recommended"] or answer["nearest"]
    assert [placement["option"] for placement in answer["placements"]] == [chosen]
    assert [alternative["option"] for alternative in answer["alternatives"]] == [
        option["id"] for option in compared["options"] if option["id"] != answer["recommended"]
    ]


def test_one_screen(planner, golden, monkeypatch):
    monkeypatch.chdir(examples_dir().parent)
    monkeypatch.setenv("COLUMNS", "100")
    answer = planner("recommend", "examples/gpu_guide_llama3_8b.yaml", "--format", "table")
    assert answer.code == 0
    golden.check("screens/recommend.txt", answer.out)


@pytest.mark.parametrize("columns", [100, 80, 60])
def test_it_fits_the_screen(planner, near, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = planner("recommend", near(), "--format", "table").out.splitlines()
    path = max(len(word) for line in lines for word in line.split())
    assert [line for line in lines if len(line) > max(columns, path + 4)] == []
    assert len(lines) <= MOST_LINES + 10 * (columns < 100)


def test_the_command_of_a_measurement_is_one_that_launch_reads(planner, near):
    document = planner("recommend", near(), "--json").document
    measured = next(measurement for measurement in document["measurements"] if measurement["command"] is not None)
    assert measured["worth_usd"] > measured["usd"]
    words = shlex.split(measured["command"])
    assert words[:2] == ["planner", "launch"]
    launched = planner(*words[1:], "--dry-run", "--json")
    assert launched.code == 0, launched.err
    assert launched.document["launches"][0]["bill"]["worst_case_usd"] > measured["usd"]
    assert measured["sentence"].startswith("Measure ")


def test_nothing_fits_is_exit_code_3_with_the_run_that_would_settle_it(planner, near):
    answer = planner("recommend", near(campaign={"runs": 4, "budget_usd": 1200.0}), "--json")
    assert answer.code == 3
    document = answer.document
    assert document["recommended"] is None
    assert document["nearest"] is not None
    assert document["measurements"][0]["option"] == document["nearest"]
    assert "settles whether" in document["measurements"][0]["sentence"]


def test_a_plan_that_is_none_is_one_error(planner, tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("schema_version: 1\nname: x\n", encoding="utf-8")
    answer = planner("recommend", path)
    assert answer.code == 2
    assert answer.out == ""


def test_rows_for_a_pipe(planner, near):
    lines = planner("recommend", near(), "--format", "tsv").out.splitlines()
    assert lines[0].split("\t")[:3] == ["what", "input", "option"]
    assert {line.split("\t")[0] for line in lines[1:]} == {"recommendation", "measurement", "turning point"}


def test_the_screen_has_one_figure_for_each_thing(planner, near):
    """The chance is that of the headline's row, and no amount at most is rounded below what it is."""
    campaign = {"runs": 4, "deadline": "2027-01-31", "budget_usd": 9000.0, "confidence": 0.9}
    path = near(campaign=campaign)
    answer = planner("recommend", path, "--json").document
    compared = planner("compare", path, "--json")
    row = next(
        option for option in compared.document["options"] if option["id"] in (answer["recommended"], answer["nearest"])
    )
    assert answer["chance_both"] == row["chance_both"]
    printed = planner("recommend", path, "--format", "table").out
    assert f"It keeps the limits with {100 * row['chance_both']:.0f} %." in printed
    assert "Simulated" not in printed
    for alternative in answer["alternatives"]:
        assert printed_at_most(printed, alternative["display_name"]) >= alternative["usd_confident"]


def test_what_waiting_is_worth_is_said(planner, near):
    """It puts the dearer and faster machine first, so the screen must name it."""
    options = [NEAR["options"][0] | {"usd_per_hour": 90.0}, NEAR["options"][1]]
    path = near(campaign={"runs": 4, "waiting_usd_per_hour": 500.0}, options=options)
    compared, answer = (planner(command, path, "--json").document for command in ("compare", "recommend"))
    (waits,) = (note for note in compared["notes"] if note.startswith("waiting at 500 USD an hour"))
    assert [note for note in answer["notes"] if note.startswith("waiting")] == [waits]


def test_a_mix_that_is_not_sure_enough_is_the_plan_that_is_shown(planner, tmp_path):
    """The headline names the mix, so its runs and its chance stand below it."""
    plan = {
        "schema_version": 1, "name": "unsure", "workload": {"ref": "llama3-8b"}, "work": {"tokens": 2e9},
        "training": {"precision": "bf16"},
        "campaign": {"start": "2026-12-01", "runs": 12, "budget_usd": 5700, "deadline": "2026-12-07"},
        "options": [
            {"offer": "aws/p5.48xlarge", "region": "us-east-1", "price": "capacity_block"}, {"site": "own-8xh200"},
        ],
    }  # fmt: skip
    path = tmp_path / "unsure.yaml"
    path.write_text(yaml.safe_dump(plan), encoding="utf-8")
    answer, planned = (planner(command, path, "--json").document for command in ("recommend", "campaign"))
    assert answer["headline"][0].startswith("Best chance: mixing 2 options keeps the limits with a chance of ")
    near = planned["nearest_feasible"]
    assert [placement["runs"] for placement in answer["placements"]] == [
        placement["runs"] for placement in near["placements"]
    ]
    assert answer["chance_both"] == pytest.approx(near["chance_both"])


def printed_at_most(printed: str, name: str) -> float:
    line = next(line for line in printed.splitlines() if line.startswith(name))
    return float(line.removeprefix(name).split()[0].replace(",", ""))
