"""Network read from a published row, with values inferred for omitted fields."""

from __future__ import annotations

import pytest

from tests.speed.evidence.measured_row import MAVERICK, config

SMALL = {
    "vocab": "", "n_layers": "2", "hidden": "512", "n_heads": "8", "n_kv_heads": "8", "ffn_hidden": "2048",
    "mlp_type": "gelu",
}  # fmt: skip
"""Two layers of 4 x 512^2 + 2 x 512 x 2,048 have 6,291,456 parameters, which leaves 2,108,544 of 8 million + 5 %."""


def test_parameters_say_what_experts_a_layer_has_on_average() -> None:
    """(400.7e9 - 48 layers of attention of 62.9e6 - a table of 1.034e9) / (48 x 125.8e6) = 65.7, and (17.2e9 -
    attention - two tables) / (48 x 125.8e6) = 2.0, including half a routed expert: one in every second layer."""
    found = config(**MAVERICK)
    assert found["experts"] == pytest.approx(65.7, abs=0.1)
    assert found["active_experts"] == pytest.approx(2.0, abs=0.05)
    assert found["routed_experts"] == pytest.approx(65.7 / 128, abs=0.01)


def test_a_count_that_leaves_out_the_first_table_says_the_experts_stated() -> None:
    """gpt-oss-120b: (5.13e9 - 36 layers of attention of 18.7e6 - a table) / (36 x 24.9e6) is close to the stated 4."""
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
        pytest.param({"mlp_type": "swiglu-moe(128,top8)", "ffn_hidden": "768"}, "active_experts", 8, id="experts"),
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
        pytest.param({"n_heads": ""}, "heads", 32, id="heads of 128 where nothing is said"),
    ],
)
def test_a_row_says_its_network(changes: dict[str, str], key: str, value: float) -> None:
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


@pytest.mark.parametrize("key", ["model", "source", "id"])
def test_no_name_enters_the_physics(key: str) -> None:
    assert config(**{key: "another"}) == config()


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
