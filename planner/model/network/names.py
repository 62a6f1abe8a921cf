"""Names of networks: which spellings mean one name, which are similar, and which families have no formula here."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

LEFT_OUT = frozenset({"instruct", "it", "chat", "hf", "pt"})
"""Words that describe further training of a network, not the network."""
REHOSTS = frozenset({"unsloth", "nousresearch"})
"""Organizations that host others' networks again, under the same names."""
_PACKED = re.compile(
    r"(-unsloth)?-(bnb-4bit|bf16|fp16|fp8|awq|gguf|gptq|int4|int8|4bit|8bit|gptq-int4|gptq-int8)$", re.IGNORECASE
)
"""Suffixes with which a re-hosted network names the format of its weights."""
NOT_A_WORD = frozenset({"meta", "hf"})
"""Words that other copies of a network's name leave out."""
OTHER_NETWORKS = frozenset({"vl", "vision", "omni", "audio", "draft", "eagle", "eagle3", "medusa", "speculator", "moe",
                            "adapter", "encoder", "projector"})  # fmt: skip
"""Words that make another network of a base: further parts, or a small network made from it."""
_WORD = re.compile(r"\d+(?:\.\d+)?[bm](?![a-z0-9])|a\d+b|[a-z]+|\d+(?:\.\d+)*")
_SIZE = re.compile(r"\d+(?:\.\d+)?[bm]|a\d+b")
LEAST_SIMILARITY = 0.6
"""Similarity of two keys from which a network is suggested (difflib's ratio)."""


def name_key(name: str) -> str:
    """Return what all spellings of a name share: "meta-llama/Llama-3.1-8B-Instruct" is "llama318b".

    Lower-case letters and digits of the part after the last slash, without `LEFT_OUT`.
    """
    words = re.split(r"[^a-z0-9]+", name.rsplit("/", 1)[-1].casefold())
    kept = [word for word in words if word not in LEFT_OUT]
    return "".join(kept)


def original_name(name: str) -> str:
    """Return the name of a network without the organization that hosts it again and its packing."""
    owner, _, own = name.rpartition("/")
    return _PACKED.sub("", own) if owner.casefold() in REHOSTS else _PACKED.sub("", name)


def base_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known network that a name says was trained further: one of its sizes and with all its words.

    "teknium/OpenHermes-2.5-Mistral-7B" is "mistral-7b", "beomi/Llama-3-Open-Ko-8B" is "llama-3-8b". The words of the
    family must be adjacent. Returns None if a word says that it is another network.
    """
    words, sizes = _words(name)
    if OTHER_NETWORKS & set(words) or not sizes:
        return None
    found = []
    for each in known:
        family, own = _words(each)
        places = range(len(words) - len(family) + 1)
        if own == sizes and family and any(words[at : at + len(family)] == family for at in places):
            found.append((len(family), each))
    return max(found, default=(0, None))[1]


def _words(name: str) -> tuple[list[str], list[str]]:
    """Return the words of the part after the last slash, family and version apart (`llama3`: llama, 3), and sizes."""
    parts = _WORD.findall(name.rsplit("/", 1)[-1].casefold().replace("_", "-"))
    kept = [part for part in parts if part not in LEFT_OUT | NOT_A_WORD]
    return [part for part in kept if not _SIZE.fullmatch(part)], [part for part in kept if _SIZE.fullmatch(part)]


def preset_words(name: str) -> list[str]:
    """Return the names under which a trainer's word for a network may be known: itself, or the last part of a path."""
    plain = name.rstrip("/\\")
    is_path = bool(re.match(r"[/.~]|[A-Za-z]:", plain))
    return [name, *([re.split(r"[/\\]", plain)[-1]] if is_path else [])]


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that begin with or resemble the name, the nearest first."""
    by_key, key = {name_key(each): each for each in known}, name_key(name)
    longer = [each for each in by_key if key and each.startswith(key)]
    near = longer or difflib.get_close_matches(key, by_key, n=3, cutoff=LEAST_SIMILARITY)
    return [by_key[each] for each in near[:3]]


_STATE_SPACE = "state-space layers"
_HYBRID = "layers that are neither attention nor MLP (state-space, linear attention, convolution)"
_LATENT = "latent attention (MLA)"
_CROSS = "an encoder and a decoder joined by cross-attention"
_ALIBI = "ALiBi positions"
_IMAGES = "this family of image networks (plans take resnet with bottleneck blocks, and vit)"
_PARTS = "several networks in one (vision or sound beside text)"

MISSING: dict[str, str] = {
    **dict.fromkeys(("mamba", "mamba2", "falcon_mamba", "codestral_mamba", "rwkv", "rwkv7", "xlstm"), _STATE_SPACE),
    **dict.fromkeys(
        ("jamba", "zamba", "zamba2", "bamba", "granitemoehybrid", "falcon_h1", "nemotron_h", "qwen3_next", "lfm2",
         "lfm2_moe", "recurrent_gemma", "minimax", "kimi_linear", "qwen3_5_text", "qwen3_5_moe_text"),
        _HYBRID,
    ),
    **dict.fromkeys(
        ("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "minicpm3", "glm_moe_dsa", "glm4_moe_lite",
         "longcat_flash"),
        _LATENT,
    ),
    **dict.fromkeys(
        ("t5", "mt5", "umt5", "longt5", "t5gemma", "bart", "mbart", "pegasus", "marian", "led", "m2m_100", "whisper",
         "speech_to_text", "encoder-decoder"),
        _CROSS,
    ),
    **dict.fromkeys(("bloom", "mpt"), _ALIBI),
    **dict.fromkeys(("deberta", "deberta-v2"), "disentangled attention (position matrices of its own)"),
    **dict.fromkeys(("albert",), "layers that share their weights"),
    **dict.fromkeys(("gemma3n", "gemma3n_text"), "embeddings per layer and layers that are skipped"),
    **dict.fromkeys(("longformer", "big_bird", "reformer", "gpt_neo"), "attention over a part of the tokens alone"),
    **dict.fromkeys(
        ("convnext", "convnextv2", "swin", "swinv2", "efficientnet", "mobilenet_v1", "mobilenet_v2", "mobilevit",
         "regnet", "deit", "beit", "dinov2", "dinov3_vit", "timm_wrapper", "segformer", "hiera", "poolformer"),
        _IMAGES,
    ),
    **dict.fromkeys(
        ("clip", "siglip", "siglip2", "llava", "llava_next", "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe",
         "qwen3_5", "qwen3_5_moe", "qwen2_5_omni", "gemma3", "gemma4", "llama4", "mllama", "mistral3", "pixtral",
         "idefics", "idefics2", "idefics3", "smolvlm", "paligemma", "internvl", "internvl_chat", "phi3_v", "phi4mm",
         "phi4_multimodal", "blip", "blip-2", "blip_2", "qwen2_audio", "voxtral", "glm4v", "glm4v_moe", "kimi_vl"),
        _PARTS,
    ),
}  # fmt: skip
"""Missing formulas by `model_type`: "the planner has no formula for ..."."""


_NAMED: tuple[tuple[str, str | None], ...] = (
    ("minimax m2", None),
    ("deepseek r1 distill", None),
    ("deepseek r1 0528 qwen3", None),
    ("deepseek r1", _LATENT),
    ("moonlight", _LATENT),
    ("glm 5", _LATENT),
    ("glm 4 7 flash", _LATENT),
    ("granite 4 0 h", _HYBRID),
    ("nemotron 3", _HYBRID),
    ("nemotron nano 9b v2", _HYBRID),
    ("nemotron nano 12b v2", _HYBRID),
    ("gemma 3n", MISSING["gemma3n"]),
    *((words, _PARTS) for words in ("llama 4", "gemma 4", "mistral large 3", "ministral 3", "vision", "multimodal")),
    *((words, _PARTS) for words in ("internvl3", "internvl2", "internvl2 5", "llava", "qwen vl", "pixtral")),
    *((words, _ALIBI) for words in ("baichuan2 13b", "baichuan 13b")),
    *((words, _IMAGES) for words in ("dinov3", "sam vit", "sam2")),
    *((words, "diffusion") for words in ("flux", "flux 1", "sdxl", "stable diffusion")),
    *((words, "sound encoders") for words in ("wav2vec2", "hubert", "wavlm")),
)
"""Names without their `model_type`, or with the `model_type` of another family.

The first match in a name counts; None means no family.
"""


INSTEAD = "Write a network of nearly its size: architecture (layers, hidden, heads, ...), as in docs/workloads.md."


NOTHING_NEAR = "Nothing that is modelled trains like it."
TEXT_ALONE = "Name its config.json: its text part is planned alone, where that is a family with a formula."
NEAR_TEXT = (_STATE_SPACE, _HYBRID, _LATENT, _ALIBI)
"""Missing parts of text networks to which a plain network of the same sizes is similar."""


def nearest_to(missing: str) -> str:
    """Return in a sentence what is nearest to a network with such a part."""
    if missing == _PARTS:
        return TEXT_ALONE
    return INSTEAD if missing in NEAR_TEXT else NOTHING_NEAR


def fix_of(model_type: str, *, has_text: bool) -> str:
    """Return what a user can do about an unknown family."""
    if has_text and MISSING.get(model_type) in (None, _PARTS):
        return "Its text part is none of the families that can be planned alone: docs/workloads.md lists them."
    missing = MISSING.get(model_type)
    return INSTEAD if missing is None else nearest_to(missing)


def missing_for(name: str) -> str | None:
    """Return which formula is missing for a model of this name; None if nothing is known of it.

    The name of a family appears in it as whole words: mamba in mamba-2.8b, t5 in flan-t5-xl.
    """
    words = f" {' '.join(re.findall('[a-z0-9]+', name.casefold()))} "
    for named, missing in _NAMED:
        if f" {named} " in words:
            return missing
    for family in sorted(MISSING, key=len, reverse=True):
        if f" {' '.join(re.findall('[a-z0-9]+', family))} " in words:
            return MISSING[family]
    return None
