"""Shorten an instance's name to the parts that its cards do not say."""

from __future__ import annotations

import re

from planner.model.answer.option_estimate import OptionEstimate

VCPU = re.compile(r"\b(\d+)vcpu\b")
WRITTEN = {"nvlink": "NVLink", "se": "SE", "freq": "frequency"}
SPELLED = re.compile(rf"\b({'|'.join(WRITTEN)})\b")
"""Words in our names of a provider's instances, and how they are written."""


def instance_name(option: OptionEstimate) -> list[str]:
    """Return an instance's name without its cards: of `1x-gh200-96gb-72vcpu` 72 vCPU, of `1x-l40s` nothing.

    An instance whose name does not begin with that is called as its provider calls it.
    """
    assert option.offer is not None
    instance = option.offer.partition("/")[2]
    carried = carried_name(option.accelerator or "", (option.accelerators or 0) // (option.nodes or 1))
    if instance == carried:
        return []
    if not instance.startswith(f"{carried}-"):
        return [instance]
    words = instance.removeprefix(f"{carried}-").replace("-", " ")
    return [SPELLED.sub(lambda found: WRITTEN[found[1]], VCPU.sub(r"\1 vCPU", words))]


def carried_name(accelerator: str, count: int) -> str:
    """Return the catalog's name of an instance of which a source states only the cards: `1x-l40s`."""
    return f"{count}x-{accelerator.removesuffix('-per-GPU').casefold()}"
