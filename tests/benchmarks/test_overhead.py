"""`benchmarks/overhead.py` runs, and its last line is one document with the figures that it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from tests.bundled import bundled_catalog

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_overhead_of_a_tiny_run_is_one_document(tmp_path: Path) -> None:
    preset = bundled_catalog().presets["cpu-smoke"]
    spec = tmp_path / "spec.json"
    spec.write_text(json.dumps(spec_of(preset, BenchSettings(devices=1), micro_batch=1, window=preset.quick_window)))
    done = subprocess.run(
        [sys.executable, "benchmarks/overhead.py", str(spec), "--repeats", "1", "--steps", "2"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout.splitlines()[-1])
    assert (document["schema_version"], document["kind"], document["workload"]) == (1, "overhead", "cpu-smoke")
    assert set(document["median_step_ms"]) == {"plain", "bare", "benchmark"}
    steps = document["median_step_ms"]
    assert min(steps.values()) > 0
    assert abs(document["benchmark_over_plain_of_medians"] - steps["benchmark"] / steps["plain"]) < 0.01
