"""How a published row becomes a configuration, and which rows are refused with which reason."""

from __future__ import annotations

import pytest

from planner.speed.physics.observation import Observation, Refusal
from tests.speed.evidence.measured_row import MAVERICK, config, seen

SMALL = {
    "vocab": "", "n_layers": "2", "hidden": "512", "n_heads": "8", "n_kv_heads": "8", "ffn_hidden": "2048",
    "mlp_type": "gelu",
}  # fmt: skip
"""2 layers of 4 x 512^2 + 2 x 512 x 2,048 are 6,291,456 parameters; of 8 million and a twentieth 2,108,544 are left."""


RACK = {"gpu": "GB200-NVL72", "framework": "Megatron-Bridge 26.02"}


def test_parameters_say_what_experts_a_layer_has_on_average() -> None:
    """(400.7e9 - 48 layers of attention of 62.9e6 - a table of 1.034e9) / (48 x 125.8e6) = 65.7; (17.2e9 - attention -
    two tables) / (48 x 125.8e6) = 2.0, of which half an expert is chosen: one in every second layer."""
    found = config(**MAVERICK)
    assert found["experts"] == pytest.approx(65.7, abs=0.1)
    assert found["active_experts"] == pytest.approx(2.0, abs=0.05)
    assert found["routed_experts"] == pytest.approx(65.7 / 128, abs=0.01)


def test_a_count_that_leaves_out_the_first_table_says_the_experts_stated() -> None:
    """gpt-oss-120b: (5.13e9 - 36 layers of attention of 18.7e6 - a table) / (36 x 24.9e6): near the 4 stated."""
    row = MAVERICK | {
        "n_layers": "36", "hidden": "2880", "n_heads": "64", "n_kv_heads": "8", "ffn_hidden": "2880", "vocab": "201088",
        "mlp_type": "swiglu moe(128 experts, top4)", "params_total": "116800000000", "params_active": "5130000000",
    }  # fmt: skip
    assert config(**row)["active_experts"] == pytest.approx(4.0, abs=0.3)


def test_a_count_far_from_the_experts_stated_is_not_believed() -> None:
    found = config(**MAVERICK | {"params_total": "4007000000", "params_active": ""})
    assert (found["experts"], found["active_experts"]) == (128, 1)


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param({}, "layers", 32, id="counts that a table program wrote with a point"),
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
        pytest.param({}, "zero", 3, id="zero 3 is full sharding"),
        pytest.param({"zero": "", "parallelism": "DDP8"}, "zero", 0, id="nothing sharded"),
        pytest.param({"zero": "FSDP full_shard"}, "zero", 3, id="FSDP in words"),
        pytest.param({"zero": "3", "framework": "HF Trainer"}, "deepspeed", 1, id="ZeRO of a trainer that calls it"),
        pytest.param({"zero": "1", "framework": "Megatron-DeepSpeed"}, "deepspeed", 1, id="DeepSpeed under Megatron"),
        pytest.param({"zero": "1", "framework": "Megatron-LM"}, "deepspeed", 0, id="a distributed optimizer"),
        pytest.param(
            {"zero": "3", "framework": "PyTorch / DeepSpeed", "parallelism": "FSDP8"}, "deepspeed", 0, id="FSDP beside"
        ),
        pytest.param({"zero": "0", "framework": "DeepSpeed", "parallelism": "DDP8"}, "deepspeed", 0, id="no ZeRO"),
        pytest.param(
            {"zero": "2", "parallelism": "TP8 DP64 (FSDP)"}, "zero", 2, id="a stage that is stated goes before"
        ),
        pytest.param(
            {"packing": "padded to max", "avg_tokens_per_sample": ""},
            "seq_len",
            8192,
            id="samples padded to one length",
        ),
        pytest.param({"packing": "padded to 512"}, "variable_length", 0, id="and so of one length"),
        pytest.param(
            {"packing": "16,384 tokens per GPU and micro-batch", "micro_batch": ""},
            "micro_batch",
            2,
            id="a micro-batch in tokens",
        ),
        pytest.param(
            {"packing": "4x2048 tokens per device", "micro_batch": "", "seq_len": ""},
            "micro_batch",
            4,
            id="samples times their length",
        ),
        pytest.param(
            {"packing": "8192 tokens per GPU", "micro_batch": "", "cp": "4"}, "micro_batch", 4, id="of a shared sample"
        ),
        pytest.param(
            {"packing": "packed, 65,536 tokens per GPU per step", "micro_batch": "", "global_batch": "8"},
            "micro_batch",
            1,
            id="a step's tokens are no micro-batch",
        ),
        pytest.param({"packing": "packed, tokens per GPU vary", "micro_batch": "1"}, "micro_batch", 1, id="no number"),
        pytest.param(
            {"packing": "2048 tokens per device", "micro_batch": "", "seq_len": ""},
            "seq_len",
            2048,
            id="one sample of all of them, where no length is said",
        ),
        pytest.param(
            {"packing": "padded to batch max"}, "variable_length", 1, id="padded to the longest of each batch"
        ),
        pytest.param(
            {"micro_batch": "", "global_batch": "", "pp": "4", "zero": "1"},
            "micro_batches",
            16,
            id="a pipeline of unknown batch is kept full",
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "pp": "4"},
            "micro_batches",
            8,
            id="a pipeline's local batch",
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "pp": "4"}, "micro_batch", 1, id="in samples of one"
        ),
        pytest.param(
            {"framework": "torchtitan", "micro_batch": "8", "grad_accum": "2", "pp": "4"},
            "micro_batches",
            16,
            id="accumulated twice",
        ),
        pytest.param(
            {"micro_batch": "8", "global_batch": "16", "pp": "4"}, "micro_batches", 8, id="all that a replica takes"
        ),
        pytest.param(
            {"micro_batch": "4", "grad_accum": "2", "pp": "4"}, "micro_batch", 4, id="micro-batches that are counted"
        ),
        pytest.param({"framework": "torchtitan", "micro_batch": "8"}, "micro_batch", 8, id="no pipeline"),
        pytest.param({"parallelism": "HSDP", "num_gpus": "64"}, "shards", 8, id="hybrid sharding stays in the node"),
        pytest.param({"mlp_type": "swiglu-moe(128,top8)", "ffn_hidden": "768"}, "active_experts", 8, id="experts"),
        pytest.param({"num_gpus": "64", "parallelism": "DP4/TP2/PP8/EP4/VP5"}, "ep", 4, id="experts' split in words"),
        pytest.param(
            {"num_gpus": "64", "parallelism": "dp4 tp=2 pp 8 vpp5"}, "chunks", 5, id="virtual stages in words"
        ),
        pytest.param({"num_gpus": "64", "parallelism": "TP/PP/EP = 2/4/8"}, "ep", 8, id="names first, numbers after"),
        pytest.param({"num_gpus": "64", "parallelism": "TP/PP/EP = 2/4/8"}, "tp", 2, id="the first of them"),
        pytest.param({"num_gpus": "64", "parallelism": "tp_size: 4"}, "tp", 4, id="a size with a colon"),
        pytest.param({"num_gpus": "512", "parallelism": "FSDP128 x DP4"}, "shards", 128, id="sharded over a part"),
        pytest.param({"parallelism": "FSDP"}, "shards", 8, id="sharded over all"),
        pytest.param({"parallelism": "tp0"}, "tp", 1, id="a split into nothing is none"),
        pytest.param({"offload": "activations of 5 layers to CPU"}, "optimizer_offload", 0, id="layers' activations"),
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
        pytest.param(
            {"framework": "NeMo 25.04", "zero": "", "source_date": "2025-04"}, "zero", 1, id="Megatron shards"
        ),
        pytest.param(
            {"micro_batch": "", "global_batch": "64", "grad_accum": "2"},
            "micro_batch",
            4,
            id="micro-batch from the global one",
        ),
        pytest.param(
            {"micro_batch": "", "global_batch": "1024", "tp": "1", "pp": "8", "zero": "1"},
            "micro_batches",
            1024,
            id="a pipeline without a micro-batch takes samples one by one",
        ),
        pytest.param({"offload": "CPU"}, "optimizer_offload", 1, id="offload in one word"),
        pytest.param({"offload": "no CPU offload"}, "optimizer_offload", 0, id="no offload"),
        pytest.param({"offload": "activations CPU"}, "optimizer_offload", 0, id="activations are no optimizer states"),
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
            {"packing": "padded to a multiple of 64"}, "variable_length", 1, id="multiples are of many lengths"
        ),
        pytest.param(
            {"packing": "padded to 512", "seq_len": "512", "avg_tokens_per_sample": "200"},
            "seq_len",
            512,
            id="padding costs what tokens cost",
        ),
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
        pytest.param({"vocab": ""}, "vocab", 32_000, id="a usual vocabulary"),
        pytest.param(
            SMALL | {"params_total": "8000000"},
            "vocab",
            2_108_544 // 512 // 8 * 8,
            id="no larger than the parameters leave room for",
        ),
        pytest.param(SMALL | {"params_total": "8000000"}, "unaligned", 0, id="and aligned"),
        pytest.param(SMALL | {"params_total": "6291456"}, "vocab", 32_000, id="unless they leave the table out"),
        pytest.param({"vocab": "50257"}, "unaligned", 1, id="GPT-2's own vocabulary"),
        pytest.param({"vocab": "50304"}, "unaligned", 0, id="GPT-2's vocabulary, padded"),
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
        pytest.param({"packing": "unpacked", "seq_len": "4096"}, "seq_len", 256, id="instructions are short"),
        pytest.param({"packing": "padded to batch max", "seq_len": "384"}, "seq_len", 384, id="truncated at 384"),
        pytest.param({"compile_kernels": "torch.compile"}, "compiled", 1, id="compiled"),
        pytest.param({"compile_kernels": "fused ops"}, "compiled", 0, id="fused by hand"),
        pytest.param({"n_heads": ""}, "heads", 32, id="heads of 128 where nothing is said"),
    ],
)
def test_a_row_says(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)


@pytest.mark.parametrize(
    ("network", "parameters", "size"),
    [
        pytest.param("28 1024 16 8 3072 151936", 596_049_920, 128, id="Qwen3-0.6B, heads twice as wide"),
        pytest.param("64 5120 64 8 25600 151936", 32_762_123_264, 128, id="Qwen3-32B, 1.6 times as wide"),
        pytest.param("28 3072 16 16 24576 256000", 8_537_680_896, 256, id="Gemma 7B"),
        pytest.param("26 3200 32 32 8640 32000", 3_426_473_600, 100, id="OpenLLaMA 3B, no size that kernels like"),
        pytest.param("32 4096 32 8 14336 128256", 8_030_261_248, 128, id="Llama 3 8B, as wide as the network"),
        pytest.param("32 4096 32 8 14336 128256", 9_600_000_000, 128, id="no other heads for a vision tower"),
        pytest.param("28 1024 16 8 3072 151936", 440_401_920, 64, id="nor where narrow ones make it up"),
    ],
)
def test_heads_are_as_wide_as_the_parameters_say(network: str, parameters: int, size: int) -> None:
    """Sizes and counts of the networks' own published configurations."""
    names = ("n_layers", "hidden", "n_heads", "n_kv_heads", "ffn_hidden", "vocab")
    said = dict(zip(names, network.split(), strict=True)) | {"params_total": str(parameters)}
    found = config(**said)
    assert found["q_dim"] == found["heads"] * size
    assert found["kv_dim"] == float(said["n_kv_heads"]) * size


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        pytest.param({}, (40.7 / 69.8 - 0.4) / 0.6, id="a chance where the leanest layers fit and usual ones may not"),
        pytest.param({"micro_batch": "4", "framework": "Megatron-LM"}, 1 - 69.8 / 146, id="Megatron: so many layers"),
        pytest.param(
            {"pp": "4", "dp": "2", "grad_accum": "8", "micro_batch": "4", "zero": "0", "framework": "Megatron-LM"},
            1 - (85.9 - 16 * 2.01) / 146,
            id="a pipeline's first stage holds as many micro-batches as stages",
        ),
    ],
)
def test_unsaid_recomputation_follows_from_what_fits(changes: dict[str, str], share: float) -> None:
    """Llama 3 8B, by hand: 80 GiB less 16 bytes x 8.03e9 / 8 leave 69.8 GB; of 8,192 tokens the leanest layers keep
    32 x 2 x (4 x 4,096 + 2 x 5,120 + 3 x 14,336) bytes each, 36.5 GB, and logits 4 x 128,256, 4.2 GB."""
    assert config(**changes)["recompute"] == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"gpu": "H900"}, "accelerator not known", id="nobody's accelerator"),
        pytest.param({"n_layers": ""}, "architecture not known", id="no layers"),
        pytest.param({"metric": "time_to_train"}, "time to train, not speed", id="another quantity"),
        pytest.param({"seq_len": "10000000"}, "out of range: sample length", id="ten million tokens"),
        pytest.param(
            {"packing": "10,000,000 tokens per GPU", "seq_len": ""}, "out of range: sample length", id="in words"
        ),
        pytest.param({"gpu": "V100-SXM2-16GB", "precision": "fp4"}, "V100-SXM2-16GB has no fp4", id="fp4 on a V100"),
        pytest.param({"pp": "8", "n_layers": "6"}, "out of range: more stages", id="more stages than layers"),
        pytest.param({"tp": "16"}, "out of range: splits exceed the accelerators", id="splits exceed the machines"),
        pytest.param({"tokens_per_s_per_gpu": ""}, "no throughput in tokens", id="no figure"),
        pytest.param(
            {"tokens_per_s_per_gpu": "", "throughput_total": "9", "unit": "images/s"},
            "no throughput in tokens",
            id="a figure of something else",
        ),
        pytest.param({"tokens_per_s_per_gpu": "40000"}, "faster than the accelerator's peak", id="impossible"),
    ],
)
def test_a_row_is_refused(changes: dict[str, str], reason: str) -> None:
    found = seen(**changes)
    assert isinstance(found, Refusal)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("changes", "tokens", "unit"),
    [
        pytest.param({}, 300, 1, id="tokens/s of one accelerator as they stand"),
        pytest.param({"unit": "samples/s", "throughput_total": "2"}, 2 * 8192 / 8, 8 / 8192, id="samples/s of eight"),
        pytest.param({"unit": "s", "throughput_total": "2"}, 2 * 8192 / 8, 8 / 8192, id="samples over a run time"),
        pytest.param({"unit": "tokens/s", "throughput_total": "1600"}, 200, 8, id="tokens/s of eight"),
        pytest.param({"unit": "tokens/s/gpu", "throughput_total": "200"}, 200, 1, id="tokens/s of each"),
        pytest.param({"unit": "s/step", "global_batch": "8", "throughput_total": "4"}, 2048, 1, id="seconds of a step"),
    ],
)
def test_what_was_measured_and_in_which_unit_it_is_scored(changes: dict[str, str], tokens: float, unit: float) -> None:
    found = seen(**({"tokens_per_s_per_gpu": ""} | changes if changes else {}))
    assert isinstance(found, Observation), found
    assert found.tokens_per_s_per_gpu == pytest.approx(tokens)
    assert found.unit_per_token == pytest.approx(unit)


@pytest.mark.parametrize("key", ["model", "source", "id"])
def test_no_name_enters_the_physics(key: str) -> None:
    assert config(**{key: "another"}) == config()


@pytest.mark.parametrize(
    ("framework", "family"),
    [
        pytest.param("NeMo-Megatron (Neuron)", "neuron", id="compiled for Trainium"),
        pytest.param("llm-foundry (Composer, FSDP)", "composer", id="a trainer over FSDP"),
        pytest.param("MaxText (FSDP)", "jax", id="a trainer in JAX"),
        pytest.param("PyTorch FSDP", "pytorch fsdp", id="FSDP alone"),
        pytest.param("InternLM (InternEvo)", "internevo", id="one name"),
        pytest.param("NeMo 25.04", "megatron", id="Megatron's own trainer"),
        pytest.param("NeMo AutoModel (PyTorch FSDP2)", "automodel", id="another of the same house"),
    ],
)
def test_a_framework_s_family_is_its_trainer(framework: str, family: str) -> None:
    found = seen(framework=framework)
    assert isinstance(found, Observation)
    assert found.labels.framework == family


@pytest.mark.parametrize(
    ("unit", "total", "more"),
    [
        pytest.param("tokens/s", "2400", {}, id="tokens of all eight accelerators"),
        pytest.param("tokens/s/gpu", "300", {}, id="tokens of one"),
        pytest.param("samples/s", "0.29296875", {}, id="samples of 8,192 tokens"),
        pytest.param("s/step", "27.306666", {"global_batch": "8"}, id="seconds of a step of eight samples"),
    ],
)
def test_tokens_a_second_of_one_accelerator_follow_from_the_unit(unit: str, total: str, more: dict[str, str]) -> None:
    """300 x 8 accelerators = 2,400 tokens/s; / 8,192 = 0.29296875 samples/s; 8 x 8,192 / 2,400 = 27.3067 s."""
    found = seen(tokens_per_s_per_gpu="", throughput_total=total, unit=unit, **more)
    assert isinstance(found, Observation), found
    assert found.tokens_per_s_per_gpu == pytest.approx(300.0, rel=1e-6)


@pytest.mark.parametrize(
    ("changes", "causal", "head_share"),
    [
        ({"model_family": "dense-decoder"}, 1.0, 1.0),
        ({"model_family": "encoder", "method": "pretrain"}, 0.0, 0.15),
        ({"model_family": "dense-encoder", "method": "pretrain"}, 0.0, 0.15),
        ({"model_family": "dense-encoder", "method": "full", "model": "RoBERTa-large"}, 0.0, 0.0),
        ({"model_family": "encoder", "model": "BERT-large (SQuAD v1.1)"}, 0.0, 0.0),
    ],
)
def test_encoders_read_both_ways_and_compute_few_logits(changes, causal, head_share):
    found = config(**changes)
    assert (found["causal"], found["head_share"]) == (causal, head_share)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"model_family": "encoder-decoder"}, "no decoder and no encoder alone: encoder-decoder"),
        ({"model": "FLAN-T5-XL"}, "no decoder and no encoder alone: flan-t5"),
        ({"model": "mamba-2.8b"}, "no decoder and no encoder alone: mamba"),
        ({"model": "RWKV-4 7B"}, "no decoder and no encoder alone: rwkv"),
        ({"model": "whisper-large-v3"}, "no decoder and no encoder alone: whisper"),
        ({"method": "GRPO"}, "more than one pass of one network in a step: grpo"),
    ],
)
def test_what_the_physics_does_not_have_is_refused_by_name(changes, why):
    assert seen(**changes) == Refusal("a", why)
