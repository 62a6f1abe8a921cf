"""Adapters read from a published row."""

from __future__ import annotations

import pytest

from tests.speed.evidence.measured_row import MAVERICK, config


@pytest.mark.parametrize(
    ("changes", "key", "value"),
    [
        pytest.param({"method": "QLoRA", "quantization": "bnb-nf4"}, "quantized", 1, id="4-bit adapters"),
        pytest.param({"method": "LoRA", "quantization": "bnb-int8"}, "outliers", 1, id="8-bit frozen weights"),
        pytest.param({"method": "LoRA", "quantization": "bnb-int8"}, "quantized", 0, id="8 bits are not 4"),
        pytest.param({"notes": "task: LoRA"}, "adapters", 1, id="a method that stands in the notes"),
        pytest.param({"notes": "floral"}, "adapters", 0, id="a word that contains another"),
        pytest.param(
            {"method": "LoRA", "framework": "HF Trainer"}, "separate_gathers", 1, id="PEFT gathers adapters apart"
        ),
        pytest.param({"method": "LoRA", "framework": "torchtune"}, "separate_gathers", 0, id="others with their layer"),
        pytest.param({"method": "LoRA"}, "rank", 16, id="the usual rank"),
        pytest.param({"method": "LoRA", "lora_rank": "64"}, "rank", 64, id="the rank stated"),
        pytest.param({"lora_rank": "64"}, "rank", 0, id="full training has none"),
        pytest.param({"method": "LoRA"}, "adapted", 4 * 4096 + 2 * 4096 + 2 * 1024, id="beside attention's maps"),
        pytest.param(
            {"method": "LoRA", "lora_targets": "query value"},
            "adapted",
            4096 * 2 + 4096 + 1024,
            id="beside query and value",
        ),
        pytest.param({"method": "LoRA", "lora_targets": "all"}, "adapted_maps", 7, id="beside all seven"),
        pytest.param({"method": "LoRA", "lora_targets": "all", "mlp_type": "gelu"}, "adapted_maps", 6, id="no gate"),
        pytest.param(
            MAVERICK | {"method": "LoRA", "lora_targets": "all"}, "adapted_maps", 4, id="experts have no adapters"
        ),
        pytest.param({"method": "LoRA"}, "dense", 0, id="LoRA forms no weight"),
        pytest.param({"method": "QDoRA"}, "dense", 1, id="DoRA multiplies once more"),
        pytest.param({"method": "DoRA"}, "dense_trained", 0, id="by a weight that is frozen"),
        pytest.param(
            {"method": "DoRA", "compile_kernels": "dropout 0"}, "dense", 0, id="or not, where nothing is dropped"
        ),
        pytest.param({"method": "LoRA-like (lokr)"}, "dense_trained", 1, id="LoKr by one that is not"),
        pytest.param({"method": "LoRA-like (randlora)"}, "dense", 2, id="RandLoRA by two bases"),
        pytest.param(
            {"method": "BOFT", "lora_targets": "value"},
            "rotation_flops",
            (6 * 4096**3 + 2 * 4096**2 * 1024) * 989.4 / 67,
            id="BOFT turns the value's weight in fp32",
        ),
        pytest.param(
            {"method": "OFT", "lora_targets": "value down", "lora_rank": "32"},
            "rotation_flops",
            9 * (4096 + 14336) * 32**2 * 989.4 / 67,
            id="OFT in blocks of 32",
        ),
        pytest.param({"method": "QOFT"}, "adapters", 1, id="its kinds leave the base frozen"),
        pytest.param(
            {"method": "PSOFT", "lora_targets": "value down", "lora_rank": "256"},
            "rotation_flops",
            2 * 8 / 3 * 256**3 * 989.4 / 67,
            id="PSOFT inside its rank",
        ),
        pytest.param({"method": "LoRA"}, "rotation_flops", 0, id="LoRA turns nothing"),
        pytest.param(
            {"method": "LoRA", "lora_targets": "value down"},
            "adapted_weights",
            4096 * 1024 + 14336 * 4096,
            id="weights of the maps with adapters",
        ),
        pytest.param({"method": "LoRA", "framework": "PEFT script"}, "adapted_maps", 2, id="PEFT's own targets"),
        pytest.param({"method": "prompt tuning"}, "adapters", 1, id="virtual tokens leave all frozen"),
        pytest.param({"method": "LoRA", "framework": "HF Trainer + PEFT"}, "adapted_maps", 4, id="trainers say more"),
        pytest.param({"method": "full (adapter-free)"}, "adapters", 0, id="full training is none"),
        pytest.param({"method": "LoRA adapter (r=16), prefix caching"}, "adapted_maps", 4, id="words beside LoRA"),
        pytest.param({"method": "prefix tuning"}, "adapted_maps", 0, id="and stand beside no map"),
        pytest.param({"method": "LoRA", "framework": "MaxText"}, "adapters_fused", 1, id="XLA joins them"),
        pytest.param(
            {"method": "LoRA", "compile_kernels": "CUDA graphs"}, "adapters_fused", 0, id="captured launches do not"
        ),
        pytest.param(
            {"method": "LoRA", "compile_kernels": "fused ops"}, "adapters_fused", 0, id="fused, but no adapters"
        ),
        pytest.param(
            {"method": "QLoRA", "compile_kernels": "fused ops and fused LoRA"}, "adapters_fused", 1, id="and LoRA"
        ),
        pytest.param({"method": "LoRA", "compile_kernels": "no torch.compile"}, "adapters_fused", 0, id="denied"),
        pytest.param({"method": "LoRA", "compile_kernels": "unsloth"}, "adapters_fused", 1, id="written for it"),
    ],
)
def test_a_row_says_its_adapters(changes: dict[str, str], key: str, value: float) -> None:
    assert config(**changes)[key] == pytest.approx(value)
