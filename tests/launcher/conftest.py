"""A result.json as a good run on a node leaves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings
from tests.bundled import bundled_catalog
from tests.launcher.settled import _settled_at_once  # noqa: F401  a fixture


@pytest.fixture
def result() -> Callable[..., dict[str, Any]]:
    """Make a result.json against which nothing speaks, with the changes asked for."""
    return good_result


def good_result(**changes: Any) -> dict[str, Any]:
    preset = bundled_catalog().presets["gpt-305m"]
    spec = spec_of(preset, BenchSettings(devices=8), micro_batch=4, window=preset.window)
    good = {
        "schema_version": 1,
        "kind": "result",
        "method_version": 1,
        "exit_reason": "completed",
        "error": None,
        "spec": spec,
        "parameters": 304_992_256,
        "trained_parameters": 304_992_256,
        "world_size": 8,
        "nodes": 1,
        "devices_per_node": 8,
        "device_type": "cuda",
        "backend": "nccl",
        "global_batch": 32,
        "warmup_steps": 40,
        "warmup_steady": True,
        "steps": 600,
        "step_seconds": [0.1] * 600,
        "window_s": 60.0,
        "rank_step_seconds": [0.1] * 8,
        "rank_work_seconds": [0.002] * 8,
        "data_wait_s": 0.01,
        "samples": 19_200,
        "tokens": 9_830_400,
        "padding_tokens": 0,
        "phases": {"init_s": 2.0},
        "losses_first10": [11.0, 10.5],
        "loss_last": 9.0,
        "memory": {"in_use_before_gib": 0.5, "peak_reserved_gib": 100.0, "allocator_retries": 0.0, "device_gib": 139.8},
        "state_bytes": {"parameter_bytes": 1, "gradient_bytes": 2, "optimizer_bytes": 3},
        "matmul_flops_by_dtype": {"bfloat16": 1e12},
        "sdpa_backend": "flash",
        "tf32_allowed": False,
        "environment": {"accelerator_name": "NVIDIA H200", "cpu_model": "a CPU", "cpu_cores": 192},
        "started_at": "2026-11-21T09:00:00.000Z",
        "finished_at": "2026-11-21T09:03:00.000Z",
    }
    return good | changes
