"""Find rented machines whose short names would be the same, so that a longer name can tell them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from planner.decide.options.card_name import card_parts
from planner.decide.options.instance_name import carried_name
from planner.model.hardware.machines import Node


class Alike(NamedTuple):
    """Facts that a machine's name must state because others have the same place, card family and number of cards."""

    accelerators: frozenset[str]
    """Accelerators of these machines. Names tell them apart by memory and form."""
    is_plain: bool
    """True if the name leaves out the instance. For each accelerator at most one of these machines does."""


NO_OTHERS = Alike(frozenset(), is_plain=True)


def machines_alike(nodes: Mapping[str, Node], providers: Set[str], place: Callable[[str], str]) -> dict[str, Alike]:
    """Return for each rented machine, by id, what its name must state. `place` gives the beginning of its name."""
    groups: defaultdict[tuple[str, int, str], list[Node]] = defaultdict(list)
    for node in nodes.values():
        if "/" in node.id and node.id.partition("/")[0] in providers:
            groups[place(node.id), node.accelerators, card_parts(node.accelerator)[0]].append(node)
    found: dict[str, Alike] = {}
    for alike in groups.values():
        accelerators = frozenset(node.accelerator for node in alike)
        for accelerator in accelerators:
            same = [node for node in alike if node.accelerator == accelerator]
            plain = _plainly_named_machine(same)
            found |= {node.id: Alike(accelerators, is_plain=node is plain) for node in same}
    return found


def _plainly_named_machine(same: Sequence[Node]) -> Node | None:
    """Return the machine whose name can leave out its instance.

    It is the one whose id states only its cards; otherwise the one with the shortest id in the provider's own words.
    None if every id is in our words (`1x-gh200-96gb-72vcpu`) and states more than its cards.
    """
    said = {
        node.id: node.id.partition("/")[2].removeprefix(carried_name(node.accelerator, node.accelerators))
        for node in same
    }
    silent = [node for node in same if not said[node.id]]
    own = [node for node in same if not said[node.id].startswith("-")]
    return same[0] if len(same) == 1 else min(silent or own, key=lambda node: len(node.id), default=None)
