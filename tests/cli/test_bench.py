"""`planner bench` on this machine, for real: torchrun, two processes, a record, and an answer that rests on it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from planner.cli.main import run


@pytest.mark.slow
def test_measure_then_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["memory", "gpt-305m", "--on", "H100-SXM", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["answer_id"]
    assert run(["bench", "cpu-smoke", "--gpus", "2", "--quick", "--answer", answer, "--json"]) == 0
    said = capsys.readouterr()
    record = json.loads(said.out)
    assert record["answer_id"] == answer
    assert record["workload"] == "cpu-smoke"
    assert record["parameters"] == 672_384
    assert record["hardware"]["accelerators_per_node"] == 2
    assert len(record["losses_first10"]) == 10
    assert record["throughput"]["value"] > 0
    assert record["short_window"] is True
    assert "measure step" in said.err
    assert "Verdict:" in said.err
    assert len(list((Path(os.environ["PLANNER_HOME"]) / "runs").glob("*.json"))) == 1

    plan = tmp_path / "plan.yaml"
    assert run(["init", str(plan), "--measured", "latest"]) == 0
    assert record["id"] in plan.read_text()
    capsys.readouterr()
    assert run(["estimate", str(plan), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["options"][0]
    assert first["runs"] == [record["id"]]
    assert first["throughput"]["basis"] == "modelled"  # another network than the one measured
    assert first["accelerators"] == 2


@pytest.mark.slow
def test_the_same_workload_on_the_same_machine_is_measured(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["bench", "cpu-smoke", "--gpus", "1", "--quick", "--repeats", "2", "--micro-batch", "2", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert len(record["repeats"]) == 2
    assert record["throughput"]["low"] == min(record["repeats"])
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"""
schema_version: 1
name: the same again
workload: {{measured: {record["id"]}}}
work: {{epochs: 1, samples_per_epoch: 3600000}}
options: [{{run: {record["id"]}, power_kw: 0.1}}]
"""
    )
    assert run(["estimate", str(plan), "--json"]) == 0
    (option,) = json.loads(capsys.readouterr().out)["options"]
    assert option["training_hours"]["value"] == pytest.approx(1000 / record["throughput"]["value"])
    assert option["training_hours"]["basis"] == "measured"
    assert option["energy_kwh"]["value"] == pytest.approx(0.1 * option["time"]["wall_hours"]["value"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["bench", "gpt-9000"], "no workload 'gpt-9000'", id="unknown workload"),
        pytest.param(["bench", "cpu-smoke", "--nodes", "2"], "this machine alone", id="two nodes"),
        pytest.param(["bench", "cpu-smoke", "--gpus", "0"], "--gpus is 0", id="no device"),
        pytest.param(["bench", "cpu-smoke", "--micro-batch", "many"], "neither a number nor auto", id="micro-batch"),
        pytest.param(["bench", "cpu-smoke", "--global-batch", "0"], "--global-batch is 0", id="no global batch"),
        pytest.param(["bench", "cpu-smoke", "--global-batch", "6"], "6 is not a multiple of micro-batch", id="batch"),
        pytest.param(["bench", "cpu-smoke", "--mode", "best"], "best", id="mode"),
        pytest.param(
            ["bench", "cpu-smoke", "--mode", "tuned", "--micro-batch", "4"], "names one", id="tuned and a micro-batch"
        ),
        pytest.param(["bench", "cpu-smoke", "--repeats", "0"], "--repeats is 0", id="no repeats"),
        pytest.param(["bench", "cpu-smoke", "--precision", "fp7"], "fp7", id="precision"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err
