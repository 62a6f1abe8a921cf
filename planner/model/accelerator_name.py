"""Finds an accelerator by any usual spelling of its name: "NVIDIA RTX A6000", "rtx-a6000", "A6000 48GB"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from planner.model.hardware import Accelerator

_MAKERS = re.compile(r"\b(nvidia|geforce|tesla|quadro|amd|instinct|radeon|intel|google|aws|gpu|generation)\b")
_MEMORY = re.compile(r"(?<!\d)(\d+) ?gi?b", re.IGNORECASE)
ABOUT = 0.1
"""Memory in a name may be the chip's or what is left of it: 192 or 180 GB of a B200."""


def accelerator_named(
    name: str, accelerators: Mapping[str, Accelerator], aliases: Mapping[str, str]
) -> Accelerator | None:
    """Return an accelerator by id or alias, exactly if there is one, else by a spelling alike; None if it is unknown.

    A size of memory may be said on top of what tells accelerators apart, but not another size.
    """
    exact = accelerators.get(aliases.get(name, name))
    if exact is not None:
        return exact
    names = {**aliases, **{known: known for known in accelerators}}
    alike = {spelling(known): meant for known, meant in names.items()}
    memory = _MEMORY.search(name)
    if spelling(name) in alike or memory is None:
        return accelerators.get(alike.get(spelling(name), ""))
    size, bare = float(memory[1]), spelling(_MEMORY.sub("", name))
    called = [accelerators[meant] for known, meant in names.items() if spelling(_MEMORY.sub("", known)) == bare]
    return next((one for one in called if one.hbm_gib and abs(one.hbm_gib - size) <= ABOUT * size), None)


def spelling(name: str) -> str:
    """Return the letters and digits of a name, without its maker's."""
    return re.sub(r"[^a-z0-9]", "", _MAKERS.sub("", name.casefold()))
