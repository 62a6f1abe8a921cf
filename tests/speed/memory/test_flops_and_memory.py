"""Counts compared with published figures: model cards, the ZeRO paper, published activation sizes."""

from __future__ import annotations

import pytest

from planner.model.catalog import Catalog
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.model.plan.plan import FlopsConvention
from planner.network.flops import flops_per_token, matmul_parameters, parameters
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.memory import device_memory
from planner.speed.memory.states import state_bytes_per_parameter


@pytest.mark.parametrize(
    ("name", "seq_len", "full_gflop", "causal_gflop"),
    [
        pytest.param("gpt-305m", 512, 1.6174, 1.5671, id="gpt-305m at 512"),
        pytest.param("qwen3-0.6b", 4096, 6.3945, 4.9852, id="Qwen3-0.6B at 4,096"),
        pytest.param("llama3-8b", 8192, 57.913, 51.470, id="Llama 3 8B at 8,192"),
        pytest.param("llama3-8b", 4096, 51.470, 48.249, id="Llama 3 8B at 4,096"),
    ],
)
def test_flops_per_token(catalog: Catalog, name: str, seq_len: int, full_gflop: float, causal_gflop: float) -> None:
    decoder = catalog.presets[name].architecture
    full = flops_per_token(decoder, seq_len=seq_len, convention=FlopsConvention.FULL_ATTENTION)
    causal = flops_per_token(decoder, seq_len=seq_len, convention=FlopsConvention.CAUSAL)
    assert full / 1e9 == pytest.approx(full_gflop, rel=1e-4)
    assert causal / 1e9 == pytest.approx(causal_gflop, rel=1e-4)


def test_six_n_counts_every_parameter_once(catalog: Catalog) -> None:
    decoder = catalog.presets["llama3-8b"].architecture
    assert flops_per_token(decoder, seq_len=4096, convention=FlopsConvention.SIX_N) == 6 * 8_030_261_248


def test_tying_the_head_saves_one_matrix_and_no_flops(catalog: Catalog) -> None:
    tied = catalog.presets["qwen3-0.6b"].architecture
    untied = tied.model_copy(update={"tied_head": False})
    assert parameters(untied) - parameters(tied) == 151_936 * 1_024
    assert matmul_parameters(untied) == matmul_parameters(tied)


@pytest.mark.parametrize(
    ("strategy", "devices", "expected_gb"),
    [
        pytest.param(Strategy.DDP, 64, 120.0, id="baseline"),
        pytest.param(Strategy.ZERO1, 64, 31.4, id="ZeRO-1"),
        pytest.param(Strategy.ZERO2, 64, 16.6, id="ZeRO-2"),
        pytest.param(Strategy.ZERO3, 64, 1.9, id="ZeRO-3"),
        pytest.param(Strategy.FSDP2, 64, 1.9, id="FSDP2 shards like ZeRO-3"),
        pytest.param(Strategy.ZERO2, 4, 41.25, id="7.5B on four cards"),
    ],
)
def test_states_match_the_zero_paper(strategy: Strategy, devices: int, expected_gb: float) -> None:
    """Rajbhandari et al. 2020, figure 1: a model of 7.5B on 64 GPUs."""
    assert state_bytes_per_parameter(strategy, devices=devices).after_backward * 7.5 == pytest.approx(
        expected_gb, abs=0.06
    )


def test_the_support_case_does_not_fit_forty_gib(catalog: Catalog) -> None:
    """Qwen3-0.6B, batch 4 x 4,096, ZeRO-2 on 32, needs 36.8 GiB of activations and at least 9.3 of fp32 logits.

    States are 1.11 GiB of 16-bit weights, and 0.21 of the optimizer's 12 bytes divided by 32.
    """
    need = device_memory(
        TrainingSetup(
            workload="asked",
            network=catalog.presets["qwen3-0.6b"].architecture,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=Checkpointing.NONE,
            strategy=Strategy.ZERO2,
            micro_batch=4,
        ),
        devices=32,
    )
    assert need.activations_gib == pytest.approx(36.8, rel=0.03)
    assert need.states_gib == pytest.approx(1.32, rel=0.01)
    assert need.total_gib > 40


def test_published_peak_of_llama_on_one_h100_node(catalog: Catalog) -> None:
    """A published run (torchtitan, 8B, batch 1 x 8,192, 8x H100, full checkpointing) fits its card."""
    need = device_memory(
        TrainingSetup(
            workload="asked",
            network=catalog.presets["llama3-8b"].architecture,
            seq_len=8192,
            precision=Precision.BF16,
            checkpointing=Checkpointing.FULL,
            strategy=Strategy.FSDP2,
            micro_batch=1,
        ),
        devices=8,
    )
    assert need.total_gib < 80
