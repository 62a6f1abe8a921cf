"""A busy device: the benchmark refuses to start there, and says why; if allowed, its verdict mentions it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.collect.verdict import problems_of
from planner.model.evidence.node_shapes import NodeResult
from planner.model.network.workload import BusyDevice
from tests.bundled import bundled_catalog
from tests.launcher.collect.h100 import h100_document

SPOILT = """
import planner.workloads.measure.device_load as device_load

def problem(in_use_gib, busy):
    return really(17.5, 0.4)

really, device_load.problem = device_load.problem, problem
"""
"""Code that makes the device busy for every Python process of the run."""
SENTENCE = "17.5 GiB of its memory are in use and kernels run on it 40% of the time, by other processes"


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the devices of this machine busy."""
    (tmp_path / "sitecustomize.py").write_text(SPOILT)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
def test_bench_refuses_to_start_and_measures_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "cpu-smoke", "--gpus", "2", "--quick"]) == 2
    said = capsys.readouterr().err
    assert "the benchmark did not start: " in said
    assert f"the device is busy before the run begins: {SENTENCE}" in said
    assert "--busy-device allow" in said
    assert "step" not in said.split("start 1 of 1")[1]


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
def test_bench_measures_beside_others_where_it_is_allowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "cpu-smoke", "--gpus", "1", "--quick", "--busy-device", "allow", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["throughput"]["value"] > 0


def test_a_wrong_choice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "cpu-smoke", "--busy-device", "maybe"]) == 2
    assert "maybe" in capsys.readouterr().err


@pytest.mark.parametrize("choice", list(BusyDevice))
def test_the_node_is_told(choice: BusyDevice) -> None:
    preset = bundled_catalog().presets["cpu-smoke"]
    assert spec_of(preset, BenchSettings(devices=1, busy_device=choice))["busy_device"] == choice.value


def test_the_verdict_of_a_run_beside_others_says_so() -> None:
    found = problems_of(NodeResult.model_validate(h100_document("gpt-305m-beside-others", busy_before_share=0.4)))
    assert [problem for problem in found if "17.5 GiB of a device were in use before the run began" in problem]
    assert [problem for problem in found if "kernels ran 40% of the time" in problem]
