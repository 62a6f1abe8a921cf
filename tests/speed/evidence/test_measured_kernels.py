"""Number formats, kernels and recomputation read from a published row."""

from __future__ import annotations

import pytest

from tests.speed.evidence.measured_row import MAVERICK, config

RACK = {"gpu": "GB200-NVL72", "framework": "Megatron-Bridge 26.02"}


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param({}, "peak", 989.4e12, id="dense bf16 peak by alias"),
        pytest.param({"precision": "fp8"}, "peak", 1979e12, id="fp8 peak"),
        pytest.param({"precision": "fp8"}, "peak16", 989.4e12, id="attention stays at 16 bit"),
        pytest.param({"precision": "nvfp4", "gpu": "GB200-NVL72"}, "peak", 10_000e12, id="dense fp4 of Blackwell"),
        pytest.param({"gpu": "V100-SXM2-16GB", "precision": "fp32"}, "peak", 15.7e12, id="fp32 on ordinary cores"),
        pytest.param({"gpu": "V100-SXM2-16GB", "precision": "bf16"}, "peak", 15.7e12, id="bf16 on a V100"),
        pytest.param({"gpu": "MI100", "precision": "bf16"}, "peak", 92.3e12, id="bf16 at half the rate"),
        pytest.param({"gpu": "MI100", "precision": "fp16"}, "peak", 184.6e12, id="fp16 there"),
        pytest.param({"gpu": "MI100", "precision": "bf16 (fp16 grads)"}, "peak", 92.3e12, id="bf16 before other words"),
        pytest.param({"gpu": "MI100", "precision": "BFloat16"}, "peak", 92.3e12, id="bf16 by another name"),
        pytest.param({"gpu": "MI100", "precision": "fp16/bf16"}, "peak", 184.6e12, id="either of them"),
        pytest.param({"gpu": "V100-SXM2-16GB", "precision": "bf16"}, "number_bytes", 2, id="emulated, of two bytes"),
        pytest.param({"gpu": "V100-SXM2-16GB", "precision": "bf16"}, "vector_rate", 1, id="emulated on ordinary cores"),
        pytest.param({"gpu": "GTX-1080Ti", "tokens_per_s_per_gpu": "50"}, "vector_rate", 1, id="no tensor cores"),
        pytest.param(
            {"gpu": "Intel Gaudi 2", "framework": "DeepSpeed", "source_date": "2023"}, "flash", 0.5, id="own compilers"
        ),
        pytest.param({"gpu": "MI100", "precision": "amp"}, "peak", 184.6e12, id="mixed precision, unnamed"),
        pytest.param({"framework": "Megatron-DeepSpeed", "source_date": "2024-09"}, "flash", 0, id="an old stack"),
        pytest.param(
            {"framework": "Megatron-DeepSpeed", "source_date": "2024-09", "gpu": "Gaudi2"},
            "flash",
            1,
            id="its compiler fuses",
        ),
        pytest.param(
            {"framework": "DeepSpeed", "source_date": "2024-09"}, "flash", 1, id="PyTorch's kernels under DeepSpeed"
        ),
        pytest.param({"compile_kernels": "TE + DeepEP"}, "native", 1, id="TransformerEngine by its initials"),
        pytest.param({"source_date": "2021-05"}, "flash", 0, id="no fused attention before it was there"),
        pytest.param({"source_date": "2023"}, "flash", 0.5, id="fused attention in the year when it spread"),
        pytest.param({"source_date": "2025-01"}, "flash", 1, id="fused attention since then"),
        pytest.param({"flash_attention": "xformers"}, "early", 1, id="a kernel of the first kind"),
        pytest.param({"flash_attention": "sdpa", "source_date": "2023-06"}, "early", 1, id="PyTorch 2.0 had the first"),
        pytest.param({"flash_attention": "FA2", "source_date": "2023-08"}, "early", 0, id="named, it is the second"),
        pytest.param({"framework": "nanochat"}, "compiled", 1, id="a trainer that always compiles"),
        pytest.param({"framework": "nanochat", "compile_kernels": "none"}, "compiled", 0, id="unless it is said"),
        pytest.param({"framework": "Megatron-LM"}, "compiled", 0, id="Megatron did not always"),
        pytest.param({"framework": "torchtitan"}, "compiled", 0, id="nor did torchtitan"),
        pytest.param({"compile_kernels": "unsloth"}, "fused", 1, id="unsloth's kernels"),
        pytest.param(
            MAVERICK | {"framework": "axolotl", "source_date": "2025"}, "sequential_experts", 1, id="experts one by one"
        ),
        pytest.param(
            MAVERICK | {"framework": "axolotl", "source_date": "2026"},
            "sequential_experts",
            0,
            id="until transformers 5",
        ),
        pytest.param(
            MAVERICK | {"framework": "HF Trainer", "source_date": "2025", "compile_kernels": "scattermoe"},
            "sequential_experts",
            0,
            id="or with kernels that group them",
        ),
        pytest.param(
            MAVERICK | {"framework": "Megatron-LM", "source_date": "2025"},
            "sequential_experts",
            0,
            id="Megatron groups",
        ),
        pytest.param(
            {"framework": "HF Trainer", "source_date": "2025"}, "sequential_experts", 0, id="no experts, no loop"
        ),
        pytest.param({"precision": "bf16-amp"}, "autocast", 1, id="weights of 32 bits"),
        pytest.param({"precision": "fp16 autocast"}, "autocast", 1, id="in full"),
        pytest.param({}, "autocast", 0, id="weights of 16 bits"),
        pytest.param({"framework": "llm.c", "compile_kernels": "own kernels, -r 0"}, "compiled", 1, id="plain CUDA"),
        pytest.param(MAVERICK | {"compile_kernels": "TE + DeepEP"}, "dispatched", 1, id="tokens sent by DeepEP"),
        pytest.param(MAVERICK | {"compile_kernels": "TE, no DeepEP"}, "dispatched", 0, id="which may be denied"),
        pytest.param(MAVERICK | {"parallelism": "EP16, dispatcher DeepEP"}, "dispatched", 1, id="or stand elsewhere"),
        pytest.param(MAVERICK | RACK, "dispatched", 1, id="a rack's recipes have HybridEP"),
        pytest.param(MAVERICK | RACK | {"compile_kernels": "all-gather"}, "dispatched", 0, id="unless another is"),
        pytest.param(MAVERICK | RACK | {"compile_kernels": "TE without Hybrid-EP"}, "dispatched", 0, id="or denied"),
        pytest.param(MAVERICK | RACK | {"gpu": "H100"}, "dispatched", 0, id="those of other machines may not"),
        pytest.param({"micro_batch": "64"}, "recompute", 1, id="activations that cannot fit were computed again"),
        pytest.param({"micro_batch": "64", "activation_checkpointing": "none"}, "recompute", 0, id="unless it is said"),
        pytest.param({"framework": "torchtitan"}, "recompute", 0.3, id="torchtitan computes some again by itself"),
        pytest.param(
            {"framework": "torchtitan", "activation_checkpointing": "none"}, "recompute", 0, id="unless told not to"
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "64"}, "recompute", 1, id="and all where parts do not suffice"
        ),
        pytest.param({"seq_len": "4096"}, "recompute", 0, id="with room for any trainer nothing was computed again"),
        pytest.param(
            {"activation_checkpointing": "full (21 of 80 layers)"}, "recompute", 21 / 80, id="some layers again"
        ),
        pytest.param({"compile_kernels": "torch.compile"}, "compiled", 1, id="compiled"),
        pytest.param({"compile_kernels": "fused ops"}, "compiled", 0, id="fused by hand"),
    ],
)
def test_a_row_says_its_kernels(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        pytest.param({}, (40.7 / 69.8 - 0.4) / 0.6, id="a chance where the leanest layers fit and usual ones may not"),
        pytest.param({"micro_batch": "4", "framework": "Megatron-LM"}, 1 - 69.8 / 146, id="Megatron: enough layers"),
        pytest.param(
            {"pp": "4", "dp": "2", "grad_accum": "8", "micro_batch": "4", "zero": "0", "framework": "Megatron-LM"},
            1 - (85.9 - 16 * 2.01) / 146,
            id="a pipeline's first stage holds as many micro-batches as stages",
        ),
    ],
)
def test_unsaid_recomputation_follows_from_what_fits(changes: dict[str, str], share: float) -> None:
    """Llama 3 8B by hand: 80 GiB less 16 bytes x 8.03e9 / 8 leave 69.8 GB. For 8,192 tokens, layers keep at least
    32 x 2 x (4 x 4,096 + 2 x 5,120 + 3 x 14,336) bytes each, 36.5 GB, and logits 4 x 128,256, 4.2 GB."""
    assert config(**changes)["recompute"] == pytest.approx(share, abs=0.01)
