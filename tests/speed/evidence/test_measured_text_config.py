"""Published rows of text: their configurations, and refusals with their reasons."""

from __future__ import annotations

import pytest

from planner.speed.physics.observation import Observation, Refusal
from tests.speed.evidence.measured_row import config, seen


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
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
        pytest.param({"parallelism": "HSDP", "num_gpus": "64"}, "shards", 8, id="hybrid sharding stays in the node"),
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
        pytest.param(
            {"framework": "NeMo 25.04", "zero": "", "source_date": "2025-04"}, "zero", 1, id="Megatron shards"
        ),
        pytest.param({"offload": "CPU"}, "optimizer_offload", 1, id="offload in one word"),
        pytest.param({"offload": "no CPU offload"}, "optimizer_offload", 0, id="no offload"),
        pytest.param({"offload": "activations CPU"}, "optimizer_offload", 0, id="activations are no optimizer states"),
    ],
)
def test_a_row_says_how_it_was_divided(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"gpu": "H900"}, "accelerator not known", id="unknown accelerator"),
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
