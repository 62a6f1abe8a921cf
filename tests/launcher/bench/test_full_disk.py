"""A full disk: the run goes on, its record comes in the last line of its output, and a message says so."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from planner.launcher.collect.record import record_of
from planner.model.network.workload import Window
from tests.bundled import bundled_catalog

BLINK = Window(min_warmup_steps=1, min_warmup_s=0.0, max_warmup_s=0.5, min_steps=100, min_s=0.1, max_s=5.0)


LIMITED = """
import json, os, resource, sys
from pathlib import Path
from planner.launcher.bench.local import run_local
resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
sys.dont_write_bytecode = True  # Python would keep the first 2 KiB of it
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
json.dump(run_local(json.load(sys.stdin), devices_per_node=2, work_dir=Path(sys.argv[1])), sys.stdout)
"""
"""Writes of this process and its children fail beyond 2 KiB of a file, as on a full disk, for any user."""


@pytest.mark.slow
def test_the_record_survives_a_full_disk(tmp_path: Path) -> None:
    preset = bundled_catalog().presets["cpu-smoke"]
    spec = spec_of(preset, BenchSettings(devices=2, micro_batch=1), window=BLINK)
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "run")]
    done = subprocess.run(command, input=json.dumps(spec), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert not (tmp_path / "run" / "result.json").exists()
    assert result["disk_problem"] == "File too large"
    assert result["steps"] > 20  # whose lines of over 100 bytes take more than the 2 KiB
    assert json.loads((tmp_path / "run" / "result.json.steps.jsonl").read_text().splitlines()[0])["step"] == 1
    record = record_of([result], aliases={})
    assert record.throughput.value > 0
    assert [problem for problem in record.verdict if "could not be written (File too large)" in problem]
