"""Names of networks as people write them: which spellings mean one name, and which names are near."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

LEFT_OUT = frozenset({"instruct", "it", "chat", "hf", "pt"})
"""Words that say how a network was trained further, not what it is."""
REHOSTS = frozenset({"unsloth", "nousresearch"})
"""Organizations that host others' networks again, under the same names."""
_PACKED = re.compile(r"(-unsloth)?-bnb-4bit$")
"""How a re-hosted network says that its weights are packed."""
NEAR = 0.6


def name_key(name: str) -> str:
    """Return what all spellings of a name share: "meta-llama/Llama-3.1-8B-Instruct" is "llama318b".

    Small letters and digits of the part after the last slash, without `LEFT_OUT`.
    """
    words = re.split(r"[^a-z0-9]+", name.rsplit("/", 1)[-1].casefold())
    kept = [word for word in words if word not in LEFT_OUT]
    return "".join(kept)


def original_name(name: str) -> str:
    """Return the name of a network without the organization that hosts it again and its packing."""
    owner, _, own = name.rpartition("/")
    return _PACKED.sub("", own) if owner.casefold() in REHOSTS else name


def preset_words(name: str) -> list[str]:
    """Return what a trainer's word for a network may be known as: itself, or the last part of a folder's path."""
    plain = name.rstrip("/\\")
    is_path = bool(re.match(r"[/.~]|[A-Za-z]:", plain))
    return [name, *([re.split(r"[/\\]", plain)[-1]] if is_path else [])]


def nearest_names(name: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that begin so, or are spelt nearly so, the nearest first."""
    by_key, key = {name_key(each): each for each in known}, name_key(name)
    longer = [each for each in by_key if key and each.startswith(key)]
    near = longer or difflib.get_close_matches(key, by_key, n=3, cutoff=NEAR)
    return [by_key[each] for each in near[:3]]
