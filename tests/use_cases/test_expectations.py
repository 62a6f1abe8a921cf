"""Expected values of a run, with figures from specifications and published papers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from planner.launcher.bench.bench import spec_of
from planner.launcher.bench.bench_settings import BenchSettings, LoraSettings
from planner.launcher.collect.expectations import Expected, memory_facts, mfu_by_name, used_gib
from planner.launcher.collect.record import record_of
from planner.model.evidence.node_shapes import NodeResult
from planner.model.network.workload import BenchWorkload, Checkpointing, Precision
from planner.use_cases.expectations import expect_from, first_loss, most_micro_batch, start_micro_batch
from planner.workloads.contract.spec_reader import from_json
from planner.workloads.inputs.tokens import SyntheticTokens
from planner.workloads.models.registry import build_on_meta
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
MakeResult = Callable[..., NodeResult]


@pytest.fixture
def result_of() -> MakeResult:
    """Make a minimal result of a preset on one device with some given fields."""

    def make(name: str, settings: BenchSettings | None = None, **changes: Any) -> NodeResult:
        preset = CATALOG.presets[name]
        spec = spec_of(preset, settings or BenchSettings(devices=1))
        facts = {
            **{"schema_version": 1, "kind": "result", "method_version": 1, "exit_reason": "completed", "error": None},
            **{"spec": spec, "parameters": None, "world_size": 1, "nodes": 1, "devices_per_node": 1},
            **{"device_type": "cuda", "backend": "nccl", "warmup_steps": 10, "warmup_steady": True, "steps": 60},
            **{"step_seconds": [1.0] * 60, "window_s": 60.0, "samples": 240, "tokens": 0, "padding_tokens": 0},
            **{"phases": {}, "losses_first10": [], "loss_last": None, "memory": {}, "sdpa_backend": None},
            **{"tf32_allowed": False, "environment": {}, "started_at": "2026-11-21T09:00:00.000Z"},
            **{"finished_at": "2026-11-21T09:03:00.000Z"},
            "global_batch": spec["micro_batch"] * spec["grad_accumulation"],
        }
        return NodeResult.model_validate(facts | changes)

    return make


def test_half_of_an_h200_is_77k_tokens_a_second_of_qwen3(result_of: MakeResult) -> None:
    """Qwen3-0.6B at 4,096 tokens takes 6.3945 GFLOP a token, 4.9852 causal; an H200 does 989 TFLOP/s of bf16."""
    samples = round(77_300 * 60 / 4096)
    calibration = {"matmul_tflop_per_s": 700.0, "rank_matmul_tflop_per_s": [700.0]}
    result = result_of("qwen3-0.6b", samples=samples, calibration=calibration)
    mfu = mfu_by_name(result, expect_from(CATALOG)(result, "H200-SXM"))
    assert mfu["full_attention_of_nominal_peak"] == pytest.approx(0.50, abs=0.002)
    assert mfu["causal_of_nominal_peak"] == pytest.approx(0.50 * 4.9852 / 6.3945, abs=0.002)
    assert mfu["full_attention_of_measured_peak"] == pytest.approx(0.50 * 989 / 700, abs=0.004)


def test_where_the_device_or_the_network_is_not_known_nothing_is_held_against_the_run(result_of: MakeResult) -> None:
    expected = expect_from(CATALOG)(result_of("qwen3-0.6b"), "no-such-device")
    assert expected.peak_tflop_per_s is None
    assert mfu_by_name(result_of("qwen3-0.6b"), expected) == {}
    assert memory_facts(result_of("qwen3-0.6b"), Expected()) == {}


@pytest.mark.parametrize(
    ("name", "settings", "least"),
    [
        pytest.param("qwen3-0.6b", BenchSettings(devices=1), 0.27, id="eager"),
        pytest.param("qwen3-0.6b", BenchSettings(devices=1, compile=True), 0.41, id="compiled"),
        pytest.param("gpt-305m", BenchSettings(devices=1, compile=True), 0.17, id="compiled: no floor of its own"),
        pytest.param("cpu-smoke", BenchSettings(devices=1), None, id="no floor stated"),
        pytest.param("qwen3-0.6b", BenchSettings(devices=1, precision=Precision.FP32), None, id="another format"),
        pytest.param(
            "qwen3-0.6b", BenchSettings(devices=1, lora=LoraSettings(rank=8, targets=("query",))), None, id="adapters"
        ),
        pytest.param(
            "qwen3-0.6b",
            BenchSettings(devices=1, checkpointing=Checkpointing.FULL),
            None,
            id="work twice",
        ),
    ],
)
def test_the_floor_of_mfu(result_of: MakeResult, name: str, settings: BenchSettings, least: float | None) -> None:
    assert expect_from(CATALOG)(result_of(name, settings), "H200-SXM").least_mfu == least


def test_memory_is_expected_of_gpus_alone(result_of: MakeResult) -> None:
    """gpt-305m under DDP: 16 bytes x 304,992,256 weights are 4.5 GiB, before activations and the context."""
    on_gpu, on_cpu = (result_of("gpt-305m", device_type=kind) for kind in ("cuda", "cpu"))
    gib = expect_from(CATALOG)(on_gpu, "H200-SXM").device_memory_gib
    assert gib is not None
    assert 5.5 < gib < 15
    assert expect_from(CATALOG)(on_cpu, "CPU").device_memory_gib is None


def plain_losses(global_batch: int, steps: int) -> list[float]:
    """Train cpu-smoke in a loop of its own: no strategy, no process group, torch's AdamW."""
    spec = from_json(spec_of(CATALOG.presets["cpu-smoke"], BenchSettings(devices=1), micro_batch=global_batch))
    model = build_on_meta(spec).to_empty(device="cpu")
    model.init_weights(spec.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    data = SyntheticTokens(spec, rank=0, world_size=1, device=torch.device("cpu"))
    losses = []
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = 3e-4 * min(1.0, (step + 1) / 10)  # warm-up; width 128 takes the whole rate
        loss = model(*data.micro_batches(step)[0])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("global_batch", [4, *(pytest.param(batch, marks=pytest.mark.slow) for batch in (8, 32))])
def test_the_reference_curve_is_that_of_a_plain_loop(result_of: MakeResult, global_batch: int) -> None:
    expected = expect_from(CATALOG)(result_of("cpu-smoke", device_type="cpu", global_batch=global_batch), "CPU")
    assert len(expected.first_losses) == 10
    assert plain_losses(global_batch, steps=4) == pytest.approx(expected.first_losses[:4], rel=expected.loss_tolerance)


def test_another_seed_or_batch_has_the_first_loss_of_the_formula_alone(result_of: MakeResult) -> None:
    """ln 1024 + 128 x 0.02^2 / 2 = 6.9315 + 0.0256."""
    expected = expect_from(CATALOG)(result_of("cpu-smoke", global_batch=12), "CPU")
    assert expected.first_losses == pytest.approx((6.9571,), abs=1e-4)
    assert plain_losses(12, steps=1) == pytest.approx([6.9571], rel=0.003)
    tied = expect_from(CATALOG)(result_of("qwen3-0.6b"), "H200-SXM")
    assert tied.first_losses == ()


def test_a_larger_vocabulary_starts_higher() -> None:
    decoder = CATALOG.presets["gpt-305m"].architecture
    doubled = decoder.model_copy(update={"vocab": 2 * decoder.vocab})
    assert first_loss(doubled) - first_loss(decoder) == pytest.approx(math.log(2))


def test_a_record_holds_utilization_and_estimate(result_of: MakeResult) -> None:
    memory = {"peak_reserved_gib": 40.0, "in_use_before_gib": 0.5, "device_gib": 140.0}
    environment = {"accelerator_name": "NVIDIA H200"}
    result = result_of("gpt-305m", memory=memory, environment=environment).model_dump(mode="json")
    record = record_of([result], aliases={"NVIDIA H200": "H200-SXM"}, expect=expect_from(CATALOG))
    estimate = record.memory["estimate_gib"]
    assert estimate is not None
    assert record.memory["used_of_estimate"] == pytest.approx(40.5 / estimate)
    assert set(record.mfu) == {"full_attention_of_nominal_peak", "causal_of_nominal_peak"}
    assert [problem for problem in record.verdict if "times the" in problem]


@pytest.mark.parametrize(
    ("memory", "used"),
    [
        pytest.param({"in_use_before_gib": 0.51}, 62.51, id="an older result"),
        pytest.param({"in_use_before_gib": 0.51, "context_gib": 1.3}, 63.3, id="with NCCL, cuBLAS and kernels"),
        pytest.param({"in_use_before_gib": 0.51, "context_gib": 0.0}, 62.0, id="none, as measured"),
    ],
)
def test_memory_in_use_is_what_is_reserved_and_the_context_at_the_end(
    result_of: MakeResult, memory: dict[str, float], used: float
) -> None:
    result = result_of("gpt-305m", memory={"peak_reserved_gib": 62.0, **memory})
    assert used_gib(result) == pytest.approx(used)


@pytest.mark.parametrize(
    ("accelerator", "starts"), [pytest.param("H200-SXM", True, id="H200"), pytest.param(None, False, id="a CPU")]
)
def test_a_search_begins_at_what_should_fit(accelerator: str | None, starts: bool) -> None:
    preset: BenchWorkload = CATALOG.presets["gpt-305m"]
    start = start_micro_batch(preset, accelerator, CATALOG, BenchSettings(devices=1, precision=Precision.BF16))
    assert (start is not None) == starts
    assert start is None or start > 32  # 100 GiB and more are left for samples of under 1 GiB each
    most = most_micro_batch(preset, accelerator, CATALOG, BenchSettings(devices=1, precision=Precision.BF16))
    assert (most is None) if start is None else (start < most < 1.2 * start)  # the weights' 5 GiB leave 10 % and more
