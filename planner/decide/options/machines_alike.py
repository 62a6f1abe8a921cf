"""Find machines of the catalog that would have the same name, so that a name can tell them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from typing import NamedTuple

from planner.decide.options.card_name import card_parts
from planner.decide.options.instance_name import carried_name
from planner.model.hardware.machines import Node


class Alike(NamedTuple):
    """Machines at the same place with as many cards of the same family as one machine."""

    accelerators: frozenset[str]
    """Their accelerators, to be told apart by memory and form."""
    is_plain: bool
    """True if its name leaves out its instance, as at most one machine for each accelerator does."""


NO_OTHERS = Alike(frozenset(), is_plain=True)


def machines_alike(nodes: Mapping[str, Node], providers: Set[str], place: Callable[[str], str]) -> dict[str, Alike]:
    """Return the machines alike of each rented machine by id; `place` is the beginning of its name."""
    groups: defaultdict[tuple[str, int, str], list[Node]] = defaultdict(list)
    for node in nodes.values():
        if "/" in node.id and node.id.partition("/")[0] in providers:
            groups[place(node.id), node.accelerators, card_parts(node.accelerator)[0]].append(node)
    found: dict[str, Alike] = {}
    for alike in groups.values():
        accelerators = frozenset(node.accelerator for node in alike)
        for accelerator in accelerators:
            same = [node for node in alike if node.accelerator == accelerator]
            plain = _plain(same)
            found |= {node.id: Alike(accelerators, is_plain=node is plain) for node in same}
    return found


def _plain(same: Sequence[Node]) -> Node | None:
    """Return the machine whose id states only its cards, else the one with the shortest name of its provider's.

    None where each has a name of ours that says more.
    """
    said = {
        node.id: node.id.partition("/")[2].removeprefix(carried_name(node.accelerator, node.accelerators))
        for node in same
    }
    silent = [node for node in same if not said[node.id]]
    own = [node for node in same if not said[node.id].startswith("-")]
    return same[0] if len(same) == 1 else min(silent or own, key=lambda node: len(node.id), default=None)
