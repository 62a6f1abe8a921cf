"""Names of networks as people write them: which spellings mean one name, and which names are similar."""

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
