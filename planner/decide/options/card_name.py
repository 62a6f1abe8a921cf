"""Name accelerators as people do: `H100-SXM` is H100, `H100-PCIe` is H100 PCIe."""

from __future__ import annotations

import re

from planner.model.hardware.accelerator_name import spelled

UNSAID_FORM = re.compile(r"SXM\d?|DGXS|per|GPU|Blackwell")
SAID_FORM = re.compile(r"PCIe|NVL|WS|Server")
"""Parts of an accelerator's id that name its form: the usual ones, and those that names contain."""
SLOWER_FORMS = ("PCIe", "NVL")
"""Forms whose chip has fewer units or a lower limit of power than the module's."""
MEMORY = re.compile(r"\d+GB")


def card_names(accelerators: set[str]) -> dict[str, str]:
    """Return the names of accelerators by id: `H100-SXM` is H100, `H100-PCIe` is H100 PCIe.

    Memory and most forms are named only if they differ. A form that is another card of the same chip is always named,
    so that H100 means the same card in every answer.
    """
    parts = {accelerator: card_parts(accelerator) for accelerator in sorted(accelerators)}
    names: dict[str, str] = {}
    for accelerator, (family, memory, form) in parts.items():
        same = [other for other in parts.values() if other[0] == family]
        sizes = {size for _, size, _ in same if size}
        differs = len({other[2] for other in same}) > 1
        said = [family, memory if len(sizes) > 1 else "", form if differs or form in SLOWER_FORMS else ""]
        names[accelerator] = " ".join(filter(None, said))
    return names


def card_parts(accelerator: str) -> tuple[str, str, str]:
    """Return family, memory and form of an accelerator by its id: `A100-40GB-PCIe` is A100, 40GB, PCIe."""
    first, *others = accelerator.split("-")
    memory = [part for part in others if MEMORY.fullmatch(part)]
    form = [part for part in others if SAID_FORM.fullmatch(part)]
    left = [part for part in others if not any(kind.fullmatch(part) for kind in (MEMORY, SAID_FORM, UNSAID_FORM))]
    return spelled(" ".join((first, *left))), " ".join(memory), " ".join(form)
