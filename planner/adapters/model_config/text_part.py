"""Text part of a configuration that also has a vision or sound part, which the planner does not model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from planner.adapters.model_config.text_families import TEXT_FAMILIES

NESTED = ("text_config", "llm_config", "language_config")
BESIDE = {"vision_config": "vision", "audio_config": "sound", "speech_config": "sound"}
FAMILIES = {
    "qwen2_vl": "qwen2", "qwen2_5_vl": "qwen2", "qwen2_vl_text": "qwen2", "qwen2_5_vl_text": "qwen2",
    "qwen3_vl_text": "qwen3", "qwen3_vl_moe_text": "qwen3_moe",
}  # fmt: skip
"""Text parts with their own name that are built like another family."""
DEFAULTS: dict[str, dict[str, object]] = {
    "llama": {
        "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32,
        "vocab_size": 32000,
    },
    "mistral": {
        "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "vocab_size": 32000,
    },
    "gemma3_text": {
        "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "vocab_size": 262208,
    },
}  # fmt: skip
"""Sizes that a nested configuration may leave out, with the defaults of huggingface/transformers' classes."""


class TextPartConfig(NamedTuple):
    """Configuration of the text part, and a name of the other parts."""

    data: dict[str, Any]
    beside: str
    """Other parts in words: vision, sound, or both."""


def text_part_of(data: Mapping[str, Any]) -> TextPartConfig | None:
    """Return the text part of a combined network; None for a single network, or if the part is unknown."""
    beside = " and ".join(dict.fromkeys(word for key, word in BESIDE.items() if isinstance(data.get(key), dict)))
    nested = next((data[key] for key in NESTED if isinstance(data.get(key), dict)), None)
    text = data if nested is None else {"tie_word_embeddings": data.get("tie_word_embeddings")} | nested
    family = FAMILIES.get(str(text.get("model_type")), str(text.get("model_type")))
    if not beside or family not in TEXT_FAMILIES or TEXT_FAMILIES[family].kind == "encoder":
        return None
    stated = {key: value for key, value in text.items() if value is not None and key not in (*BESIDE, *NESTED)}
    filled = {} if nested is None else DEFAULTS.get(family, {})
    return TextPartConfig({**filled, **stated, "model_type": family}, beside)
