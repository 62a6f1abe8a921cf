"""Finds an accelerator by any usual spelling of its name: "NVIDIA RTX A6000", "rtx-a6000", "A6000 48GB"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from planner.model.hardware.machines import Accelerator

_LEFT_OUT = re.compile(
    r"^\d+ ?x |\b(nvidia|geforce|tesla|amd|instinct|radeon|intel|google|cloud|aws|huawei)\b"
    r"|\b(gpus?|generation|oam|hbm\d?e?)\b|(?<=v\d[ep])-\d+$|(?<=v\d)-\d+$"
)
"""Parts of a name that are ignored: counts, makers, kinds of memory, and the size of a TPU's slice."""
_MEMORY = re.compile(r"(?<![\da-z])(\d+) ?g(i?b)?(?![a-z0-9])", re.IGNORECASE)
_SLOT = re.compile(r"[\s_-]*(?<![a-z0-9])pci[- ]?e(xpress)?( ?gen)? ?[3-6]?(\.0)?( ?x16)?\b", re.IGNORECASE)
_MODULE = re.compile(r"SXM|DGXS|per-GPU|^(TPU|GH200|MI(25|3)|Gaudi|Trainium|Inferentia|Ascend|Max)")
"""Accelerators that are built into machines and not sold as cards."""
_SOCKET = re.compile(r"(?<=sxm)\d(?!\d)", re.IGNORECASE)
_REMARK = re.compile(r"\(([^()]*)\)")
_BESIDE_IT = re.compile(
    r"\d+ ?w(atts?)?|v\d[ep]?-\d+|\d+ (chips|devices)( of \d+ ?g(i?b)?)?|\d+ ?g(i?b)?|ironwood|trillium"
    r"|(atlas|azure|aws|gcp|oci|dgx|hgx) [\w .-]+",
    re.IGNORECASE,
)
"""Remarks that name no variant and no part: power, a slice, memory, the machine around it."""
_SUFFIX = re.compile(r"(\d)(Ti|Super)\b")
ABOUT = 0.1
"""Relative difference of memory sizes. Names give the chip's memory or its usable part: 192 or 180 GB of a B200."""


def accelerator_named(
    name: str, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]
) -> Accelerator | None:
    """Return an accelerator by id or alias, exactly if there is one, otherwise by a similar spelling; None if unknown.

    A memory size may be added to the name, but it must be the right one. So may the generation of the socket, except
    for a V100, which came in two: "B300-SXM6"; and the slot of an accelerator that is sold only as a card: "L40S 48GB
    PCIe". So may a remark in brackets on its surroundings, of which memory counts: "TPU v3 (v3-8, 4 chips)".
    """
    accelerator = accelerators.get(aliases.get(name, name)) or _alike(name, accelerators, aliases)
    if accelerator is None and (plain := _SOCKET.sub("", name)) != name:
        accelerator = _alike(plain, accelerators, aliases)
    if accelerator is None and (plain := _SLOT.sub("", name)) != name:
        card = _alike(plain, accelerators, aliases)
        accelerator = card if card and not _MODULE.search(card.id) else None
    if accelerator is None and (plain := _REMARK.sub(_memory_of, name)) != name:
        accelerator = accelerator_named(plain, accelerators, aliases)
    return accelerator


def _memory_of(remark: re.Match[str]) -> str:
    """Return what a remark says of memory; all of it if it may say more than the accelerator's surroundings."""
    if not all(_BESIDE_IT.fullmatch(part.strip()) for part in remark[1].split(",")):
        return remark[0]
    return " ".join(size[0] for size in _MEMORY.finditer(remark[1]))


def _alike(name: str, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]) -> Accelerator | None:
    names = {**aliases, **{known: known for known in accelerators}}
    alike = {spelling(known): meant for known, meant in names.items()}
    sizes = [float(size[0]) for size in _MEMORY.findall(name)]
    asked = spelling(name)
    if asked in alike or len(sizes) != 1:
        return accelerators.get(alike.get(asked, ""))
    size, bare = sizes[0], spelling(_MEMORY.sub("", name))
    called = [accelerators[meant] for known, meant in names.items() if spelling(_MEMORY.sub("", known)) == bare]
    fitting = {card.id: card for card in called if card.hbm_gib and abs(card.hbm_gib - size) <= ABOUT * size}
    return fitting.popitem()[1] if len(fitting) == 1 else None


@cache
def spelling(name: str) -> str:
    """Return the letters and digits of a name, without parts that do not distinguish accelerators."""
    return re.sub(r"[^a-z0-9]", "", _LEFT_OUT.sub("", name.casefold()))


def spelled(name: str) -> str:
    """Return an accelerator's id, or parts of it, as people write it: RTX-4070Ti-Super is RTX 4070 Ti Super."""
    return _SUFFIX.sub(r"\1 \2", name.replace("-", " "))


_NOT_MODELLED = (
    (re.compile(r"\b(?:i?mac|macbook|mac (?:studio|mini|pro)|apple|m[1-5](?: ?(?:pro|max|ultra))?)\b", re.IGNORECASE),
     "trainings on Apple's chips are not modelled, and no card is like them"),
    (re.compile(r"\b(?:groq|cerebras|wse|graphcore|ipu|sambanova|tenstorrent)\b", re.IGNORECASE),
     "trainings on this maker's chips are not modelled, and no card is like them"),
    (re.compile(r"\b(?:jetson|orin|iris|uhd|radeon graphics|ryzen ai)\b", re.IGNORECASE),
     "trainings on chips that share the host's memory are not modelled, and no card is like them"),
)  # fmt: skip


def not_modelled(name: str) -> str | None:
    """Return why a machine is not modelled, as half a sentence; None if no reason is known."""
    words = re.sub(r"[-_/]+", " ", name)
    return next((reason for pattern, reason in _NOT_MODELLED if pattern.search(words)), None)
