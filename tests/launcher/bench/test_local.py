import importlib.util
import json
import os
from pathlib import Path

import pytest

from planner.errors import InputError, MissingExtraError, NodeError
from planner.launcher.bench import local
from planner.launcher.bench.local import node_environment, run_local
from tests.launcher.launches import ENDLESS_SPEC, TINY_SPEC


@pytest.mark.slow
def test_a_run_here_returns_the_result_and_reports_its_steps(tmp_path):
    rows: list[dict[str, object]] = []
    result = run_local(TINY_SPEC, devices_per_node=2, work_dir=tmp_path / "run", on_progress=rows.append)
    assert result["exit_reason"] in ("completed", "not_steady")
    assert result["phases"]["launch_s"] > 0
    on_disk = json.loads((tmp_path / "run" / "result.json").read_text())
    assert "launch_s" not in on_disk["phases"]
    assert on_disk["environment"] == result["environment"]
    assert sum(row["phase"] == "measure" for row in rows) == result["steps"]


@pytest.mark.slow
def test_a_run_that_measures_nothing_is_a_node_error_with_the_reason(tmp_path):
    with pytest.raises(NodeError, match=r"spec\.json: seq_len: 'long' is not a whole number") as failed:
        run_local({**TINY_SPEC, "seq_len": "long"}, devices_per_node=1, work_dir=tmp_path)
    assert "torchrun.log" in failed.value.fix


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_measured_and_leaves_no_process(tmp_path):
    rows: list[dict[str, object]] = []

    def stop_when_measuring(row):
        rows.append(row)
        if row["phase"] == "measure":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_local(ENDLESS_SPEC, devices_per_node=2, work_dir=tmp_path, on_progress=stop_when_measuring)
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["exit_reason"] == "interrupted"
    assert result["steps"] > 0
    assert not processes_in(tmp_path)


@pytest.mark.slow
def test_a_run_out_of_time_before_it_starts_says_so(tmp_path):
    with pytest.raises(NodeError, match=r"stopped after 0\.2 s and left no result"):
        run_local(ENDLESS_SPEC, devices_per_node=1, work_dir=tmp_path, timeout_s=0.2)
    assert not processes_in(tmp_path)


def test_a_folder_that_holds_a_run_is_refused(tmp_path):
    (tmp_path / "result.json").write_text("{}")
    with pytest.raises(InputError, match="already holds a run"):
        run_local(TINY_SPEC, devices_per_node=1, work_dir=tmp_path)
    assert (tmp_path / "result.json").read_text() == "{}"


def test_more_devices_than_the_machine_has_names_both_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "cuda_devices", lambda: 4)
    with pytest.raises(InputError, match="wants 8 devices and this machine has 4"):
        run_local(TINY_SPEC, devices_per_node=8, work_dir=tmp_path)


def test_without_torch_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"training-planner\[bench\]"):
        run_local(TINY_SPEC, devices_per_node=1, work_dir=tmp_path)


def test_cores_are_shared_among_ranks_unless_told_otherwise(monkeypatch):
    monkeypatch.setattr(local, "available_cores", lambda: 8)
    assert node_environment({}, devices_per_node=2)["OMP_NUM_THREADS"] == "4"
    assert node_environment({}, devices_per_node=16)["OMP_NUM_THREADS"] == "1"
    assert node_environment({"OMP_NUM_THREADS": "3"}, devices_per_node=2)["OMP_NUM_THREADS"] == "3"


def test_the_folder_of_workloads_comes_first_on_the_path():
    first, *rest = node_environment({"PYTHONPATH": "mine"}, devices_per_node=1)["PYTHONPATH"].split(os.pathsep)
    assert (Path(first) / "workloads" / "train.py").exists()
    assert rest == ["mine"]


def processes_in(folder):
    """Processes that work in the folder, from /proc."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").samefile(folder):
                found.append(process.name)
        except OSError:
            continue
    return found
