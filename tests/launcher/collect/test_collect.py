"""Files of a node become a record: joined over restarts, with the problems found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from planner.adapters.catalog import accelerator_aliases
from planner.errors import InputError, NodeError
from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings, LoraSettings
from planner.launcher.collect.record import record_of
from planner.model.evidence.run import Probe
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.workload import Checkpointing, Precision
from planner.workloads.contract.spec_reader import from_json, to_json
from tests.bundled import bundled_catalog

ALIASES = accelerator_aliases()

MakeResult = Callable[..., dict[str, Any]]


def test_samples_over_seconds(result: MakeResult) -> None:
    record = record_of([result(samples=1200, window_s=60.0)], aliases=ALIASES)
    assert record.throughput.value == 20.0
    assert record.hardware.accelerator == "H200-SXM"
    assert record.hardware.accelerators == 8
    assert record.verdict == ()
    assert not record.short_window


def test_three_starts_give_the_median_and_the_whole_range(result: MakeResult) -> None:
    starts = [result(samples=samples, window_s=10.0) for samples in (100, 130, 110)]
    record = record_of(starts, aliases=ALIASES)
    assert (record.throughput.low, record.throughput.value, record.throughput.high) == (10.0, 11.0, 13.0)
    assert record.repeats == (10.0, 13.0, 11.0)
    assert record.samples == 340


def test_the_note_on_a_cut_network_comes_with_its_result(result: MakeResult) -> None:
    """Also where the result was carried over by hand: the node echoes the spec."""
    cut = bundled_catalog().presets["llama3-8b"].cut(layers=4)
    record = record_of([result(spec=spec_of(cut, BenchSettings(devices=8)))], aliases=ALIASES)
    assert "A cut of llama3-8b to 4 of its 32 layers" in str(record.note)


@pytest.mark.parametrize(
    ("keys", "mode", "data"),
    [
        pytest.param({"mode": "tuned", "data": {"path": "/x", "dtype": "uint16"}}, "tuned", "shards", id="both said"),
        pytest.param({}, "matched", "synthetic", id="a result from before there was a choice"),
    ],
)
def test_mode_and_data_are_what_the_spec_said(result: MakeResult, keys: dict[str, Any], mode: str, data: str) -> None:
    spec = {key: value for key, value in result()["spec"].items() if key not in ("mode", "data")}
    record = record_of([result(spec=spec | keys)], aliases=ALIASES)
    assert (record.mode, record.data) == (mode, data)


def test_two_measurements_never_share_an_id(result: MakeResult) -> None:
    ids = {record_of([result(samples=samples)], aliases=ALIASES).id for samples in range(100, 120)}
    assert len(ids) == 20


def test_the_same_machine_has_the_same_name_and_no_host_name(result: MakeResult) -> None:
    first, other = (record_of([result(samples=samples)], aliases=ALIASES) for samples in (100, 200))
    assert first.hardware.node == other.hardware.node
    assert first.hardware.node is not None
    assert first.hardware.node.startswith("local/8x-nvidia-h200-a-cpu-")


def test_several_starts_each_name_their_own_problem_and_are_held_against_each_other(result: MakeResult) -> None:
    starts = [result(window_s=window_s) for window_s in (60.0, 60.0, 66.0)]
    starts[1]["warmup_steady"] = False
    verdict = record_of(starts, aliases=ALIASES).verdict
    assert verdict == (
        "start 2: the warm-up never became steady, so the speed may still be changing",
        "the starts differ by 5.4% (coefficient of variation; up to 3% is steady)",
    )


def test_the_record_has_the_proof_of_strategy_and_precision(result: MakeResult) -> None:
    probes = (Probe(micro_batch=4, samples_per_s=100.0), Probe(micro_batch=8, samples_per_s=None))
    record = record_of([result()], aliases=ALIASES, probes=probes)
    assert record.state_bytes == {"parameter_bytes": 1, "gradient_bytes": 2, "optimizer_bytes": 3}
    assert record.matmul_flops_by_dtype == {"bfloat16": 1e12}
    assert record.probes == probes
    assert (record.checkpointing, record.compiled, record.loss_chunks, record.method) == ("none", False, 1, "full")


def test_which_adapters_were_trained_is_in_the_record(result: MakeResult) -> None:
    row = result()
    assert record_of([row], aliases=ALIASES).adapters is None
    row["spec"] |= {"method": "lora", "lora": {"rank": 8, "alpha": 16.0, "targets": ["query", "value"]}}
    assert record_of([row], aliases=ALIASES).adapters == Adapters(rank=8, targets=("query", "value"))
    row["spec"]["lora"]["frozen"] = "16bit"
    adapters = record_of([row], aliases=ALIASES).adapters
    assert adapters is not None
    assert adapters.frozen is FrozenFormat.SIXTEEN_BIT


def test_a_result_of_before_these_keys_is_still_read(result: MakeResult) -> None:
    old = result()
    for key in (
        "trained_parameters",
        "rank_step_seconds",
        "rank_work_seconds",
        "data_wait_s",
        "state_bytes",
        "matmul_flops_by_dtype",
    ):
        del old[key]
    for key in ("checkpointing", "compile", "loss_chunks", "method", "lora"):
        del old["spec"][key]
    record = record_of([old], aliases=ALIASES)
    assert record.verdict == ()
    assert record.checkpointing == "none"


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
def test_a_result_that_is_no_measurement_is_refused(
    result: MakeResult, changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        record_of([result(**changes)], aliases=ALIASES)


def test_an_unknown_accelerator_keeps_its_own_name(result: MakeResult) -> None:
    unknown = result(environment={"accelerator_name": "ACME Turbo 9000", "cpu_model": "a CPU", "cpu_cores": 8})
    assert record_of([unknown], aliases=ALIASES).hardware.accelerator == "acme-turbo-9000"


@pytest.mark.parametrize("name", ["cpu-smoke", "gpt-305m", "qwen3-0.6b", "llama3-8b"])
@pytest.mark.parametrize("quick", [True, False], ids=["quick", "full"])
def test_every_spec_that_the_planner_makes_is_read_by_the_node(name: str, quick: bool) -> None:
    preset = bundled_catalog().presets[name]
    settings = BenchSettings(devices=2, precision=Precision.FP32)
    document = spec_of(preset, settings, micro_batch=2, window=preset.quick_window if quick else preset.window)
    spec = from_json(document)
    assert to_json(spec).items() >= document.items()


def test_the_options_of_a_benchmark_reach_the_node() -> None:
    preset = bundled_catalog().presets["qwen3-0.6b"]
    lora = LoraSettings(rank=8, alpha=16.0, targets=("query", "gate"))
    settings = BenchSettings(devices=1, checkpointing=Checkpointing.SELECTIVE, compile=True, loss_chunks=8, lora=lora)
    document = spec_of(preset, settings, micro_batch=1, window=preset.window)
    spec = from_json(document)
    assert to_json(spec).items() >= document.items()
    assert (spec.checkpointing, spec.compile, spec.loss_chunks, spec.method) == ("selective", True, 8, "lora")
    assert spec.lora is not None
    assert (spec.lora.rank, spec.lora.targets) == (8, ("query", "gate"))


@pytest.mark.parametrize(
    ("precision", "frozen"), [("bf16", "16bit"), ("fp16", "16bit"), ("fp32", None), ("tf32", None)]
)
def test_the_benchmark_keeps_frozen_weights_in_the_type_of_the_products(precision: str, frozen: str | None) -> None:
    preset = bundled_catalog().presets["qwen3-0.6b"]
    settings = BenchSettings(devices=1, precision=Precision(precision), lora=LoraSettings(rank=8, targets=("query",)))
    assert spec_of(preset, settings, micro_batch=1)["lora"]["frozen"] == frozen


def test_energy_is_that_of_the_accelerators_and_never_the_machine(result: MakeResult) -> None:
    telemetry: dict[str, object] = {"unknown_because": None, "energy_j": 336_000.0, "seconds": 60.0, "devices": []}
    record = record_of([result(telemetry=telemetry)], aliases=ALIASES)
    assert record.power is None
    assert record.accelerator_power is not None
    assert record.accelerator_power.value == pytest.approx(5.6)
    assert (record.accelerator_power.low, record.accelerator_power.high) == pytest.approx((5.04, 6.16))
    assert "accelerator(s) alone" in record.accelerator_power.source
    assert record.telemetry == (telemetry,)


def test_energy_that_one_start_does_not_know_is_unknown(result: MakeResult) -> None:
    known: dict[str, object] = {"unknown_because": None, "energy_j": 336_000.0, "seconds": 60.0, "devices": []}
    starts = [result(telemetry=known), result(telemetry=known | {"energy_j": None})]
    assert record_of(starts, aliases=ALIASES).accelerator_power is None


def test_topology_and_calibration_are_in_the_record(result: MakeResult) -> None:
    topology = [{"gpus": None, "gpus_unknown_because": "nvidia-smi is not on this machine"}]
    calibration = {"matmul_tflop_per_s": 700.0, "rank_matmul_tflop_per_s": [700.0]}
    record = record_of([result(topology=topology, calibration=calibration)] * 2, aliases=ALIASES)
    assert record.topology == tuple(topology)
    assert record.calibration == (calibration, calibration)
