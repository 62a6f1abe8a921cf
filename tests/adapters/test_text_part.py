"""The text part of several networks in one: it has the parameters of the network that it is, and others are refused."""

from __future__ import annotations

from typing import Any

import pytest

from planner.adapters.model_config.reader import architecture_of, text_part_of
from planner.errors import InputError
from planner.network.flops import parameters

VISION = {"vision_config": {"hidden_size": 1280, "depth": 32}}
QWEN_7B = {
    "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
    "num_key_value_heads": 4, "vocab_size": 152064, "max_position_embeddings": 128000, "tie_word_embeddings": False,
}  # fmt: skip
CASES: dict[str, tuple[dict[str, Any], str, int]] = {
    "Qwen2.5-VL 7B as published, sizes at the top": (
        {"model_type": "qwen2_5_vl", **QWEN_7B, **VISION}, "vision", 7_615_616_512,  # as Qwen2.5 7B
    ),
    "Qwen2.5-VL 7B as transformers 5 saves it": (
        {"model_type": "qwen2_5_vl", "text_config": QWEN_7B | {"model_type": "qwen2_5_vl_text"}, **VISION},
        "vision", 7_615_616_512,
    ),
    "LLaVA 1.5 7B, whose text part leaves out what LLaMA's class fills in": (
        {"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}, **VISION,
         "tie_word_embeddings": False},
        "vision", 6_738_415_616 + 2 * 64 * 4096,  # Llama 2 7B, and 64 rows more in embedding and head
    ),
    "Gemma 3 4B, which leaves out heads and vocabulary": (
        {"model_type": "gemma3", **VISION, "text_config": {
            "model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}},
        "vision", 3_880_099_328 + 64 * 2560,  # keras-hub's count, of 262,144 rows of the embedding
    ),
    "InternVL's own repositories name it llm_config": (
        {"model_type": "internvl_chat", "llm_config": QWEN_7B | {"model_type": "qwen2"}, **VISION},
        "vision", 7_615_616_512,
    ),
    "sound beside text": (
        {"model_type": "newthing", "text_config": QWEN_7B | {"model_type": "qwen2"}, "audio_config": {}},
        "sound", 7_615_616_512,
    ),
}  # fmt: skip
"""The last is the published count of the network of text."""


@pytest.mark.parametrize("case", CASES)
def test_a_text_part_has_the_parameters_of_its_network(case: str) -> None:
    config, left_out, count = CASES[case]
    part = text_part_of(config)
    assert part is not None
    assert part.left_out == left_out
    assert parameters(architecture_of(part.data, where="c")) == count


@pytest.mark.parametrize(
    "text",
    [
        pytest.param({"model_type": "mllama_text_model"}, id="cross-attention to the images"),
        pytest.param({"model_type": "clip_text_model"}, id="an encoder of captions"),
        pytest.param({"model_type": "qwen3_5_text"}, id="a family without a formula"),
        pytest.param({}, id="no family"),
    ],
)
def test_a_part_of_another_kind_is_refused(text: dict[str, Any]) -> None:
    config = {"model_type": "newthing", "text_config": text, **VISION}
    assert text_part_of(config) is None
    with pytest.raises(InputError, match="several networks in one"):
        architecture_of(config, where="c")


def test_a_network_of_text_alone_has_no_parts() -> None:
    assert text_part_of({"model_type": "qwen2", **QWEN_7B}) is None
    assert text_part_of({"architectures": ["Qwen2ForCausalLM"], "text_config": QWEN_7B}) is None
