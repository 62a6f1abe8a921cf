"""The memory model compared with the measured peaks of one H100 80GB with torch 2.11 (h100_peaks.csv).

`first_step_gib` and `steady_gib` are `torch.cuda.max_memory_allocated` of the first, eager step and of a later one,
measured with expandable segments. `recorded_*` are from earlier results of the same settings without them, whose peak
is that of the whole run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.adapters.csv_rows import read_rows
from planner.model.base import Count, Frozen, Text
from planner.model.network.architecture import Architecture
from planner.model.network.trainer_memory import benchmark_trainer
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.activations import layer_activation_bytes
from planner.network.families.known_families import family_of
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.constants import FITTED
from planner.speed.memory.device_fit import fits_device
from planner.speed.memory.device_memory import DeviceMemory
from planner.speed.memory.memory import device_memory, head_gradient_bytes
from planner.speed.memory.planned_settings import PossibleNeed, chance_within
from planner.use_cases.expectations import has_fused_norms
from tests.bundled import bundled_catalog

MIB, GIB = 2**20, 2**30


class MemoryRow(Frozen):
    name: Text
    workload: Text
    micro_batch: Count
    strategy: Strategy
    precision: Precision
    checkpointing: Checkpointing
    compiled: bool
    loss_chunks: Count
    accumulation: Count
    first_step_gib: float
    steady_gib: float
    reserved_expandable_gib: float
    recorded_reserved_gib: float | None = None
    recorded_in_use_before_gib: float | None = None


ROWS = read_rows(MemoryRow, Path(__file__).with_name("h100_peaks.csv"))
LAYERS_OF_THE_CUT = 4


def network(name: str) -> tuple[Architecture, int | None]:
    preset = bundled_catalog().presets[name]
    return (
        preset.cut(layers=LAYERS_OF_THE_CUT).architecture if name == "llama3-8b" else preset.architecture
    ), preset.seq_len


def estimate(row: MemoryRow, *, compiled: bool) -> DeviceMemory:
    architecture, seq_len = network(row.workload)
    return device_memory(
        TrainingSetup(
            workload="asked",
            network=architecture,
            seq_len=seq_len,
            precision=row.precision,
            checkpointing=row.checkpointing,
            strategy=row.strategy,
            micro_batch=row.micro_batch,
        ),
        devices=1,
        trainer=benchmark_trainer(compiled=compiled, loss_chunks=row.loss_chunks),
        accumulates=row.accumulation > 1,
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_tensors_of_a_step_are_within_a_tenth(row: MemoryRow) -> None:
    assert estimate(row, compiled=row.compiled).tensors_gib == pytest.approx(row.steady_gib, rel=0.1, abs=0.5)


@pytest.mark.parametrize(
    "row",
    [
        # The recorded peak of the compiled Qwen3 run is that of its first step, which was eager.
        row
        for row in ROWS
        if row.recorded_reserved_gib and (row.workload, row.compiled) != ("qwen3-0.6b", True)
    ],
    ids=lambda row: row.name,
)
def test_the_needed_memory_is_within_a_tenth_of_the_recorded_runs(row: MemoryRow) -> None:
    assert row.recorded_reserved_gib is not None
    assert row.recorded_in_use_before_gib is not None
    took_gib = row.recorded_reserved_gib + row.recorded_in_use_before_gib
    assert estimate(row, compiled=row.compiled).total_gib == pytest.approx(took_gib, rel=0.1, abs=0.5)


def test_the_compiled_run_s_record_is_that_of_its_eager_first_step() -> None:
    row = next(row for row in ROWS if row.name == "qwen-compile-b8")
    moments_gib = 8 * 596_049_920 / GIB  # they do not exist yet in the first step
    assert estimate(row, compiled=False).tensors_gib - moments_gib == pytest.approx(row.first_step_gib, rel=0.02)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_with_expandable_segments_little_more_is_needed_than_is_reserved(row: MemoryRow) -> None:
    context_gib = 1.31  # at the end of each run, with NCCL and cuBLAS
    took_gib = row.reserved_expandable_gib + context_gib
    assert estimate(row, compiled=row.compiled).total_gib == pytest.approx(took_gib, rel=0.15, abs=0.5)


def test_the_headline_run_needs_the_memory_in_its_record() -> None:
    memory = bundled_catalog().runs["h100-sxm-qwen3-0.6b-compiled-b8"].memory
    row = next(row for row in ROWS if row.name == "qwen-compile-b8")
    took_gib = memory["peak_reserved_gib"] + memory["context_gib"]
    assert estimate(row, compiled=True).total_gib == pytest.approx(took_gib, rel=0.1)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_trainings_that_ran_are_not_refused(row: MemoryRow) -> None:
    h100_gib = 80.0
    chance = chance_within([PossibleNeed(1.0, estimate(row, compiled=row.compiled).total_gib)], h100_gib)
    assert fits_device(chance) != "no"


@pytest.mark.parametrize(
    ("workload", "tensors_mib", "tokens"),
    [
        # Sizes of the tensors that one layer left alive, as torch's memory snapshot listed them.
        pytest.param(
            "qwen3-0.6b",
            # residual x 2, casts for query, key, value, gate, up, query, key, rotated query, repeated key and value,
            # attention's output and its copy, gate, up, silu, product
            2 * 64 + 5 * 32 + 64 + 32 + 64 + 2 * 64 + 2 * 64 + 4 * 96,
            16_384,
            id="Qwen3-0.6B, eager",
        ),
        pytest.param("gpt-305m", 2 * 64 + 4 * 32 + 3 * 32 + 32 + 2 * 128, 16_384, id="GPT-305M, eager"),
    ],
)
def test_a_layer_saves_the_tensors_of_the_snapshot(workload: str, tensors_mib: int, tokens: int) -> None:
    architecture, _ = network(workload)
    layer = family_of(architecture).layers[-1]
    counted = layer_activation_bytes(
        layer,
        precision=Precision.BF16,
        autocast=True,
        trainer=benchmark_trainer(compiled=False),
    )
    log_sum_exp = 4 * architecture.heads
    assert counted - log_sum_exp == tensors_mib * MIB / tokens


def test_eager_logits_are_three_fp32_copies() -> None:
    three_copies_mib = 3 * 9_496  # of 16,384 tokens x 151,936 entries, in the snapshot of Qwen3-0.6B
    per_logit = FITTED.logits(benchmark_trainer(compiled=False), number_bytes=2)
    assert per_logit * 16_384 * 151_936 == pytest.approx(three_copies_mib * MIB)


def test_the_pieces_of_a_loss_add_up_the_heads_gradient_in_fp32() -> None:
    architecture, _ = network("llama3-8b")
    alive_mib = 2 * 2_004 + 1_002  # fp32 sum, new fp32 gradient, the same in bf16
    training = TrainingSetup(
        workload="llama3-8b", network=architecture, strategy=Strategy.DDP, precision=Precision.BF16
    )
    counted = head_gradient_bytes(training, benchmark_trainer(compiled=True, loss_chunks=8))
    assert counted == pytest.approx(alive_mib * MIB, rel=1e-3)


def test_accumulation_keeps_a_second_set_of_gradients() -> None:
    single = next(row for row in ROWS if row.name == "qwen-compile-b8")
    four = next(row for row in ROWS if row.accumulation == 4)
    measured = four.steady_gib - single.steady_gib
    assert estimate(four, compiled=True).tensors_gib - estimate(single, compiled=True).tensors_gib == pytest.approx(
        measured, rel=0.02
    )


@pytest.mark.parametrize(
    ("version", "fused"),
    [("2.11.0+cu130", True), ("2.9.1", True), ("2.8.0+cu128", False), ("2.4.1", False), ("", True)],
)
def test_torch_2_9_brought_the_fused_norm(version: str, fused: bool) -> None:
    assert has_fused_norms(version) is fused
