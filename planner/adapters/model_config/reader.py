"""Reads a Hugging Face config.json as an architecture. Names the parts that the planner has no formula for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from planner.adapters.model_config.fields import FIX, ConfigFields
from planner.adapters.model_config.text_families import TEXT_FAMILIES, text_document
from planner.adapters.model_config.text_vectors import TEXT_VECTORS, USUAL, with_vectors
from planner.errors import InputError
from planner.model.network.architecture import Architecture
from planner.model.network.image_architecture import MOST_STAGES
from planner.model.network.names import MISSING, fix_of

IMAGE_SIZE = 224
"""Image size of a ResNet, whose configuration leaves it to the image processor (He et al. 2015)."""
CLASSES = 1000
"""The number of labels in ImageNet, for a configuration that names neither labels nor its class."""
UNSAVED_CLASSES = 2
"""The number of labels of a classifier that names none: transformers does not save its default."""
EXPANSION = 4


def vit_document(fields: ConfigFields) -> dict[str, Any]:
    """Return a vision transformer: `ViTConfig` of huggingface/transformers."""
    if fields.number_of("num_channels", default=3) != 3:
        raise ValueError("num_channels: the planner counts images of three colours")
    return {
        "kind": "vit",
        "layers": fields.count("num_hidden_layers"),
        "hidden": fields.count("hidden_size"),
        "heads": fields.count("num_attention_heads"),
        "ffn_hidden": fields.count("intermediate_size"),
        "patch_size": fields.count("patch_size"),
        "image_size": fields.count("image_size"),
        "classes": _classes(fields),
    }


def resnet_document(fields: ConfigFields) -> dict[str, Any]:
    """Return a ResNet of bottleneck blocks that stride in the 3x3 convolution: `ResNetConfig`."""
    if fields.word("layer_type", default="bottleneck") != "bottleneck":
        raise ValueError("layer_type: the planner plans resnets of bottleneck blocks (50 layers and more)")
    if fields.flag("downsample_in_bottleneck", default=False):
        raise ValueError("downsample_in_bottleneck: the planner's resnets stride in the 3x3 convolution")
    width, widths = fields.count("embedding_size"), fields.numbers("hidden_sizes")
    depths = fields.numbers("depths")
    if not 1 <= len(depths) <= MOST_STAGES:
        raise ValueError(f"depths: must name 1 to {MOST_STAGES} stages (found {len(depths):,})")
    if list(widths) != [width * EXPANSION * 2**stage for stage in range(len(depths))]:
        raise ValueError("hidden_sizes: every stage of the planner's resnets doubles 4 x embedding_size")
    return {
        "kind": "resnet",
        "blocks": depths,
        "width": width,
        "image_size": fields.count("image_size", default=IMAGE_SIZE),
        "classes": _classes(fields),
    }


def _classes(fields: ConfigFields) -> int:
    is_classifier = any(name.endswith("ForImageClassification") for name in fields.words("architectures"))
    default = UNSAVED_CLASSES if is_classifier else CLASSES
    return fields.entries("id2label") or fields.count("num_labels", default=default)


IMAGE_FAMILIES: dict[str, Callable[[ConfigFields], dict[str, Any]]] = {"vit": vit_document, "resnet": resnet_document}
"""Readers by `model_type`."""


MARKS = ("model_type", "architectures")
"""Keys that a config.json has and no file of ours."""
ATTENTION = ("full_attention", "sliding_attention", "chunked_attention", "attention")
"""Kinds of layers that are counted. Attention windows count as whole samples."""
OTHER_PARTS = ("vision_config", "audio_config", "speech_config")
"""Networks besides the text part. They are not counted."""
TASK = re.compile(r"(For[A-Z]\w*|LMHeadModel|Model|PreTrainedModel)$")
_ARCHITECTURE: TypeAdapter[Architecture] = TypeAdapter(Architecture)


def is_model_config(data: Mapping[str, Any]) -> bool:
    """Return whether a mapping is a Hugging Face configuration."""
    return any(mark in data for mark in MARKS) and "architecture" not in data and "run" not in data


def one_spelling(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a configuration in the spelling of transformers 4, also if transformers 5 saved it.

    `rope_parameters` contains `rope_theta`, once per kind of layer if there are several. A text-only network may be
    nested in `text_config`. DBRX nests its sizes.
    """
    text = data.get("text_config")
    classes = data.get("architectures")
    is_text = isinstance(classes, list) and all(str(name).endswith("ForCausalLM") for name in classes) and bool(classes)
    if isinstance(text, dict) and is_text and not any(isinstance(data.get(part), dict) for part in OTHER_PARTS):
        outer = {key: value for key, value in data.items() if key != "text_config"}
        data = outer | text if "model_type" in text else text | outer
    rope = data.get("rope_parameters")
    if isinstance(rope, dict) and "rope_theta" not in data:
        nested = rope.get("full_attention")
        theta = (nested if isinstance(nested, dict) else rope).get("rope_theta")
        data = {**data, "rope_theta": theta}
    if data.get("model_type") == "dbrx":
        data = _flattened_dbrx(data)
    return data


def _flattened_dbrx(data: Mapping[str, Any]) -> Mapping[str, Any]:
    attention, mlp = data.get("attn_config"), data.get("ffn_config")
    if not isinstance(attention, dict) or not isinstance(mlp, dict):
        return data
    own = {
        "num_key_value_heads": attention.get("kv_n_heads"), "rope_theta": attention.get("rope_theta"),
        "intermediate_size": mlp.get("ffn_hidden_size"), "num_local_experts": mlp.get("moe_num_experts"),
        "num_experts_per_tok": mlp.get("moe_top_k"), "max_position_embeddings": data.get("max_seq_len"),
    }  # fmt: skip
    return {**data, **own}


def architecture_of(data: Mapping[str, Any], *, where: str) -> Architecture:
    """Return the network of a configuration. InputError names what is wrong, or which part has no formula."""
    data = one_spelling(data)
    fields = ConfigFields(data, where=where)
    model_type = _model_type(fields)
    _check_parts(fields, data, model_type)
    try:
        if model_type in IMAGE_FAMILIES:
            document = IMAGE_FAMILIES[model_type](fields)
        else:
            document = text_document(fields, TEXT_FAMILIES[model_type])
        network = _ARCHITECTURE.validate_python(document)
        vectors = TEXT_VECTORS.get(model_type, USUAL)
        return with_vectors(network, fields, vectors) if network.sample == "tokens" else network
    except ValidationError as error:
        raise InputError(f"{where}: {error.errors()[0]['msg'].removeprefix('Value error, ')}.", fix=FIX) from error
    except ValueError as error:
        raise InputError(f"{where}: {error}.", fix=fix_of(model_type, has_text=False)) from error


def _model_type(fields: ConfigFields) -> str:
    """Return the family: `model_type`, otherwise the beginning of the class name."""
    named = fields.word("model_type")
    if named:
        return named
    classes = fields.words("architectures")
    if not classes:
        raise InputError(f"{fields.where}: model_type: is missing.", fix=FIX)
    bare = TASK.sub("", classes[0]).casefold()
    known = [*TEXT_FAMILIES, *IMAGE_FAMILIES, *MISSING]
    return next((name for name in known if name.replace("_", "").replace("-", "").casefold() == bare), classes[0])


def _check_parts(fields: ConfigFields, data: Mapping[str, Any], model_type: str) -> None:
    """Refuse a family, or a part of a known one, that the planner has no formula for."""
    has_text = isinstance(data.get("text_config"), dict)
    missing = MISSING.get(model_type)
    if missing is None and (has_text or isinstance(data.get("vision_config"), dict)):
        missing = "several networks in one (vision or sound beside text)"
    if missing is None and model_type not in TEXT_FAMILIES and model_type not in IMAGE_FAMILIES:
        known = ", ".join(sorted([*TEXT_FAMILIES, *IMAGE_FAMILIES]))
        raise InputError(
            f"{fields.where}: model_type '{model_type[:60]}': the planner does not know this family. Known: {known}.",
            fix=fix_of(model_type, has_text=has_text),
        )
    if missing is None:
        missing = _missing_part(fields)
    if missing is not None:
        raise InputError(
            f"{fields.where}: model_type '{model_type[:60]}': the planner has no formula for {missing}.",
            fix=fix_of(model_type, has_text=has_text),
        )


def _is_large_baichuan(fields: ConfigFields) -> bool:
    """Return whether it is Baichuan's 13B, which has ALiBi without a key for it. Smaller ones state their positions."""
    return fields.word("model_type") == "baichuan" and not fields.has("max_position_embeddings")


def _missing_part(fields: ConfigFields) -> str | None:
    """Return the part of a known family's configuration that is not counted; None if all parts are."""
    if fields.has("kv_lora_rank"):
        return "latent attention (MLA: kv_lora_rank)"
    if fields.flag("add_cross_attention", default=False):
        return "cross-attention (add_cross_attention)"
    if not fields.flag("layer_norm_elementwise_affine", default=True):
        return "norms without parameters (layer_norm_elementwise_affine)"
    if fields.flag("alibi", default=False) or _is_large_baichuan(fields):
        return "ALiBi positions (alibi)"
    if fields.has("word_embed_proj_dim") and fields.count("word_embed_proj_dim") != fields.count("hidden_size"):
        return "embeddings of another width than the layers (word_embed_proj_dim)"
    others = sorted(set(fields.words("layer_types")) - set(ATTENTION))
    return f"layers of the kind {others[0][:40]} (layer_types)" if others else None


NESTED = ("text_config", "llm_config", "language_config")
LEFT_OUT_PARTS = {"vision_config": "vision", "audio_config": "sound", "speech_config": "sound"}
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
    left_out: str
    """Other parts in words: vision, sound, or both."""


def text_part_of(data: Mapping[str, Any]) -> TextPartConfig | None:
    """Return the text part of a combined network; None for a single network, or if the part is unknown."""
    left_out = " and ".join(
        dict.fromkeys(word for key, word in LEFT_OUT_PARTS.items() if isinstance(data.get(key), dict))
    )
    nested = next((data[key] for key in NESTED if isinstance(data.get(key), dict)), None)
    text = data if nested is None else {"tie_word_embeddings": data.get("tie_word_embeddings")} | nested
    family = FAMILIES.get(str(text.get("model_type")), str(text.get("model_type")))
    if not left_out or family not in TEXT_FAMILIES or TEXT_FAMILIES[family].kind == "encoder":
        return None
    stated = {key: value for key, value in text.items() if value is not None and key not in (*LEFT_OUT_PARTS, *NESTED)}
    filled = {} if nested is None else DEFAULTS.get(family, {})
    return TextPartConfig({**filled, **stated, "model_type": family}, left_out)
