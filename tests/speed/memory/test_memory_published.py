"""Memory compared with published peaks; networks outside the catalog are described here with their source."""

from __future__ import annotations

from typing import Any

import pytest

from planner.model.catalog import Catalog
from planner.model.network.adapters import Adapters, FrozenFormat
from planner.model.network.architecture import Decoder
from planner.model.network.trainer_memory import USUAL_TRAINER, Kernels, Loss, TrainerMemory
from planner.model.network.workload import Checkpointing, Precision, Strategy
from planner.network.activations import layer_activation_bytes, layer_bytes, selective_layer_bytes
from planner.network.families.known_families import family_of
from planner.network.flops import parameters
from planner.scenario.training_setup import TrainingSetup
from planner.speed.memory.buffers import buffer_bytes
from planner.speed.memory.device_fit import largest_micro_batch, usable_gib
from planner.speed.memory.device_memory import CONTEXT_GIB, DeviceMemory
from planner.speed.memory.memory import device_memory
from planner.speed.memory.planned_settings import PossibleNeed, chance_within, factor_for

GIB = 2**30


def fsdp2(
    decoder: Decoder, *, devices: int, trainer: TrainerMemory = USUAL_TRAINER, accumulates: bool = False, **how: Any
) -> DeviceMemory:
    setup = TrainingSetup(workload="any", network=decoder, precision=Precision.BF16, strategy=Strategy.FSDP2, **how)
    return device_memory(setup, devices=devices, trainer=trainer, accumulates=accumulates)


# Memory that torch's allocator reserved on the fullest device. In 2024 only the blocks were compiled and the loss was
# eager; from April 2025 the loss is compiled too.
# torchtitan, benchmarks/llama3_h100_202412_torchtitan.md, tables 1 to 3 (H100 of 96 GB);
# benchmarks/llama3_8b_h200_2025-06_torchtitan.md; pull request 996 of 2025-03-20.
@pytest.mark.parametrize(
    ("devices", "micro_batch", "seq_len", "checkpointing", "loss", "published_gib"),
    [
        pytest.param(8, 2, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 77.0, id="8 H100, blocks compiled"),
        pytest.param(8, 2, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 82.4, id="8 H100, eager"),
        pytest.param(128, 2, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 62.0, id="128 H100, blocks compiled"),
        pytest.param(128, 2, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 67.0, id="128 H100, eager"),
        pytest.param(8, 1, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 47.65, id="8 H100, batch 1"),
        pytest.param(8, 1, 8192, Checkpointing.SELECTIVE, Loss.EAGER, 49.58, id="8 H100, batch 1, eager, PR 996"),
        pytest.param(8, 1, 32768, Checkpointing.FULL, Loss.EAGER, 83.9, id="8 H100, 32k tokens, full, float8"),
        pytest.param(32, 2, 8192, Checkpointing.SELECTIVE, Loss.COMPILED, 47.96, id="32 H200, loss compiled, float8"),
        pytest.param(64, 2, 8192, Checkpointing.SELECTIVE, Loss.COMPILED, 46.97, id="64 H200, loss compiled, float8"),
    ],
)
def test_llama_within_ten_percent_of_torchtitan(
    catalog: Catalog,
    devices: int,
    micro_batch: int,
    seq_len: int,
    checkpointing: Checkpointing,
    loss: Loss,
    published_gib: float,
) -> None:
    need = fsdp2(
        catalog.presets["llama3-8b"].architecture,
        micro_batch=micro_batch,
        seq_len=seq_len,
        devices=devices,
        checkpointing=checkpointing,
        trainer=TrainerMemory(loss=loss, kernels=Kernels.FUSED),
    )
    reserved_gib = need.total_gib - CONTEXT_GIB
    assert reserved_gib == pytest.approx(published_gib, rel=0.10)
    assert reserved_gib * factor_for(0.05) < published_gib < reserved_gib * factor_for(0.95)


def mpt(*, layers: int, hidden: int, heads: int, published_parameters: int) -> Decoder:
    """Return MPT at 2,048 tokens; its published number of parameters implies biases and a position table."""
    decoder = Decoder(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        ffn_hidden=4 * hidden,
        mlp="gelu",
        norm="layernorm",
        bias=True,
        positions="learned",
        max_positions=2048,
        vocab=50368,
        tied_head=True,
    )
    assert parameters(decoder) == published_parameters
    return decoder


# mosaicml/llm-foundry, scripts/train/benchmarking/README.md of 2024-04-22: rows m00111, m00119, m00181, m00192 of the
# collected public measurements. FSDP full shard on 8 devices, bf16, no checkpointing, flash attention.
# Its default loss is flash-attn's fused cross-entropy.
MPT_1B = {"layers": 24, "hidden": 2048, "heads": 16, "published_parameters": 1_315_950_592}
MPT_760M = {"layers": 24, "hidden": 1536, "heads": 12, "published_parameters": 760_470_528}


@pytest.mark.parametrize(
    ("network", "accelerator", "micro_batch"),
    [
        pytest.param(MPT_1B, "A100-80GB-SXM", 14, id="1.3B, 14 on A100-80"),
        pytest.param(MPT_1B, "A100-40GB-SXM", 8, id="1.3B, 8 on A100-40"),
        pytest.param(MPT_760M, "A100-80GB-SXM", 24, id="760M, 24 on A100-80"),
        pytest.param(MPT_760M, "A100-40GB-SXM", 12, id="760M, 12 on A100-40"),
    ],
)
def test_the_micro_batches_of_llm_foundry_fit(
    catalog: Catalog, network: dict[str, int], accelerator: str, micro_batch: int
) -> None:
    decoder = mpt(**network)
    hbm_gib = catalog.accelerators[accelerator].hbm_gib
    assert hbm_gib is not None

    def need(batch: int) -> float:
        return fsdp2(
            decoder,
            micro_batch=batch,
            seq_len=2048,
            devices=8,
            checkpointing=Checkpointing.NONE,
            trainer=TrainerMemory(loss=Loss.COMPILED),
        ).total_gib

    assert chance_within([PossibleNeed(1.0, need(micro_batch))], hbm_gib) > 0.8
    assert micro_batch <= largest_micro_batch(lambda batch: need(batch) <= usable_gib(hbm_gib)) < 2 * micro_batch
    assert chance_within([PossibleNeed(1.0, need(2 * micro_batch))], hbm_gib) < 0.2


def test_selective_keeps_every_second_product_of_llama(catalog: Catalog) -> None:
    """Bytes per hidden unit: input 2, query 2, value 0.5, attention 2, gate 7, down 2, log-sum-exp 128 / 4,096."""
    decoder = catalog.presets["llama3-8b"].architecture
    kept = selective_layer_bytes(family_of(decoder).layers[-1], precision=Precision.BF16)
    assert kept / decoder.hidden == 2 + 2 + 0.5 + 2 + 7 + 2 + 4 * 32 / 4096


def test_keeping_every_product_gives_the_published_25_bytes(catalog: Catalog) -> None:
    decoder = catalog.presets["llama3-8b"].architecture
    the_other_products = 0.5 + 2 + 7  # key, attention's output, up
    kept = (
        selective_layer_bytes(family_of(decoder).layers[-1], precision=Precision.BF16) / decoder.hidden
        + the_other_products
    )
    assert kept == pytest.approx(25, rel=0.01)


def test_selective_keeps_four_tensors_of_a_gpt_block(catalog: Catalog) -> None:
    """Bytes per hidden unit: input 2, query 2, value 2, attention 2, up 8, log-sum-exp 4 x 16 heads / 1,024."""
    decoder = catalog.presets["gpt-305m"].architecture
    kept = selective_layer_bytes(family_of(decoder).layers[-1], precision=Precision.BF16)
    assert kept / decoder.hidden == 2 + 2 + 2 + 2 + 8 + 4 * 16 / 1024


@pytest.mark.parametrize(
    ("name", "precision", "bytes_per_hidden"),
    [
        pytest.param("gpt-305m", Precision.BF16, 32, id="GPT block in bf16"),
        pytest.param("gpt-305m", Precision.FP32, 64, id="GPT block in fp32"),
        pytest.param("llama3-8b", Precision.BF16, 56, id="Llama 3 8B"),
        pytest.param("qwen3-0.6b", Precision.BF16, 84, id="Qwen3-0.6B in bf16"),
        pytest.param("qwen3-0.6b", Precision.FP32, 128, id="Qwen3-0.6B in fp32"),
    ],
)
def test_a_layer_within_two_percent_of_the_published_bytes(
    catalog: Catalog, name: str, precision: Precision, bytes_per_hidden: float
) -> None:
    decoder = catalog.presets[name].architecture
    got = layer_activation_bytes(family_of(decoder).layers[-1], precision=precision) / decoder.hidden
    assert got == pytest.approx(bytes_per_hidden, rel=0.02)
    kinds = layer_bytes(decoder, precision=precision, checkpointing=Checkpointing.NONE)
    whole = sum(kind.layers * kind.bytes_per_token for kind in kinds)
    assert whole / decoder.layers / decoder.hidden == pytest.approx(bytes_per_hidden, rel=0.05)


@pytest.mark.parametrize(
    ("strategy", "precision", "expected_gib"),
    [
        # 2 x 218,112,000 in two layers, 2 x 525,336,576 outside, 4,096 in the last norm; 2 bytes each
        pytest.param(Strategy.FSDP2, Precision.BF16, 2 * 1_486_901_248 / GIB, id="two layers, embedding and head"),
        pytest.param(Strategy.ZERO2, Precision.BF16, 2 * 5e8 / GIB, id="one bucket of gradients"),
        pytest.param(Strategy.DDP, Precision.BF16, 2 * 7_504_658_432 / GIB, id="16-bit copies of matrices and head"),
        pytest.param(Strategy.DDP, Precision.FP32, 0.0, id="nothing in fp32"),
    ],
)
def test_buffers(catalog: Catalog, strategy: Strategy, precision: Precision, expected_gib: float) -> None:
    decoder = catalog.presets["llama3-8b"].architecture
    training = TrainingSetup(workload="llama3-8b", network=decoder, strategy=strategy, precision=precision)
    assert buffer_bytes(training) / GIB == pytest.approx(expected_gib, rel=1e-6)


# Peak of torch's allocator in GiB for Mistral 7B with adapters of rank 16 on the attention's maps, full checkpointing,
# 4,096 tokens, eager kernels. Source: IBM fms-acceleration, plugins/accelerated-peft and framework benchmarks,
# September 2024 (their speeds are in catalogs/evidence/fms_acceleration.csv).
@pytest.mark.parametrize(
    ("frozen", "devices", "micro_batch", "published_gib"),
    [
        pytest.param(FrozenFormat.SIXTEEN_BIT, 1, 4, 24.87, id="LoRA, batch 4"),
        pytest.param(FrozenFormat.SIXTEEN_BIT, 1, 8, 36.08, id="LoRA, batch 8"),
        pytest.param(FrozenFormat.SIXTEEN_BIT, 2, 4, 20.45, id="LoRA, sharded over two"),
        pytest.param(FrozenFormat.NF4, 1, 4, 19.25, id="QLoRA, batch 4"),
        pytest.param(FrozenFormat.NF4, 1, 8, 34.46, id="QLoRA, batch 8"),
        pytest.param(FrozenFormat.NF4, 2, 4, 14.87, id="QLoRA, sharded over two"),
    ],
)
def test_adapters_of_mistral_within_fifteen_percent(
    frozen: FrozenFormat, devices: int, micro_batch: int, published_gib: float
) -> None:
    mistral = Decoder(
        layers=32, hidden=4096, heads=32, kv_heads=8, head_dim=128, ffn_hidden=14336, mlp="swiglu", norm="rmsnorm",
        positions="rope", max_positions=32768, vocab=32000, tied_head=False,
    )  # fmt: skip
    need = device_memory(
        TrainingSetup(
            workload="asked",
            network=mistral,
            seq_len=4096,
            precision=Precision.BF16,
            checkpointing=Checkpointing.FULL,
            strategy=Strategy.DDP if devices == 1 else Strategy.FSDP2,
            adapters=Adapters(rank=16, frozen=frozen),
            micro_batch=micro_batch,
        ),
        devices=devices,
    )
    assert need.tensors_gib == pytest.approx(published_gib, rel=0.15)
