"""What a node wrote becomes a record: joined over restarts, with what speaks against it."""

from __future__ import annotations

from typing import Any

import pytest

from launcher.bench import Settings, spec_of
from launcher.collect import record_of
from planner.adapters.catalog import accelerator_aliases, load_catalog
from planner.errors import InputError, NodeError
from planner.model.workload import Precision
from workloads.spec import from_json, to_json

ALIASES = accelerator_aliases()


def result(**changes: Any) -> dict[str, Any]:
    preset = load_catalog().presets["gpt-305m"]
    spec = spec_of(preset, Settings(devices=8), micro_batch=4, window=preset.window)
    good = {
        "schema_version": 1,
        "kind": "result",
        "method_version": 1,
        "exit_reason": "completed",
        "error": None,
        "spec": spec,
        "parameters": 304_992_256,
        "world_size": 8,
        "nodes": 1,
        "devices_per_node": 8,
        "device_type": "cuda",
        "backend": "nccl",
        "global_batch": 32,
        "warmup_steps": 40,
        "warmup_steady": True,
        "steps": 4,
        "step_seconds": [0.1, 0.1, 0.1, 0.1],
        "window_s": 0.4,
        "samples": 128,
        "tokens": 65_536,
        "padding_tokens": 0,
        "phases": {"init_s": 2.0},
        "losses_first10": [11.0, 10.5],
        "loss_last": 9.0,
        "memory": {"peak_allocated_gib": 12.0},
        "sdpa_backend": "flash",
        "tf32_allowed": False,
        "environment": {"accelerator_name": "NVIDIA H200", "cpu_model": "a CPU", "cpu_cores": 192},
        "started_at": "2026-11-21T09:00:00.000Z",
        "finished_at": "2026-11-21T09:03:00.000Z",
    }
    return good | changes


def test_samples_over_seconds() -> None:
    record = record_of([result(samples=320, window_s=16.0)], aliases=ALIASES)
    assert record.throughput.value == 20.0
    assert record.hardware.accelerator == "H200-SXM"
    assert record.hardware.accelerators == 8
    assert record.verdict == ()
    assert not record.short_window


def test_three_starts_give_the_median_and_the_whole_range() -> None:
    starts = [result(samples=samples, window_s=10.0) for samples in (100, 130, 110)]
    record = record_of(starts, aliases=ALIASES)
    assert (record.throughput.low, record.throughput.value, record.throughput.high) == (10.0, 11.0, 13.0)
    assert record.repeats == (10.0, 13.0, 11.0)
    assert record.samples == 340


def test_two_measurements_never_share_an_id() -> None:
    ids = {record_of([result(samples=samples)], aliases=ALIASES).id for samples in range(100, 120)}
    assert len(ids) == 20


def test_the_same_machine_has_the_same_name_and_no_host_name() -> None:
    one, other = (record_of([result(samples=samples)], aliases=ALIASES) for samples in (100, 200))
    assert one.hardware.node == other.hardware.node
    assert one.hardware.node is not None
    assert one.hardware.node.startswith("local/8x-nvidia-h200-a-cpu-")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"warmup_steady": False, "exit_reason": "not_steady"}, "never became steady", id="not steady"),
        pytest.param({"step_seconds": [0.1, 0.1, 0.2, 0.1]}, "scatter", id="scattered steps"),
        pytest.param({"losses_first10": [11.0, None]}, "not finite", id="loss not finite"),
    ],
)
def test_what_speaks_against_a_run_is_said(changes: dict[str, Any], expected: str) -> None:
    (problem,) = record_of([result(**changes)], aliases=ALIASES).verdict
    assert expected in problem


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        pytest.param(
            {"exit_reason": "out_of_memory", "error": "tried to allocate 2 GiB"}, NodeError, "2 GiB", id="oom"
        ),
        pytest.param({"samples": 0}, NodeError, "measured nothing", id="nothing measured"),
        pytest.param({"world_size": "eight"}, InputError, "world_size", id="a wrong field"),
        pytest.param({"surprise": 1}, InputError, "surprise", id="an unknown field"),
    ],
)
def test_what_is_no_measurement_is_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        record_of([result(**changes)], aliases=ALIASES)


def test_an_accelerator_that_nobody_knows_keeps_its_own_name() -> None:
    unknown = result(environment={"accelerator_name": "ACME Turbo 9000", "cpu_model": "a CPU", "cpu_cores": 8})
    assert record_of([unknown], aliases=ALIASES).hardware.accelerator == "acme-turbo-9000"


@pytest.mark.parametrize("name", ["cpu-smoke", "gpt-305m", "qwen3-0.6b", "llama3-8b"])
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_every_spec_that_the_planner_makes_is_read_by_the_node(name: str, quick: bool) -> None:
    preset = load_catalog().presets[name]
    settings = Settings(devices=2, precision=Precision.FP32)
    document = spec_of(preset, settings, micro_batch=2, window=preset.quick_window if quick else preset.window)
    spec = from_json(document)
    assert to_json(spec) == document
