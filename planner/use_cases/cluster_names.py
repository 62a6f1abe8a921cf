"""Reads machines as people type them after `--on`: aws/p5.48xlarge, 8xRTX-5090, 4x8xA100-40GB, H100-SXM."""

from __future__ import annotations

import re
from typing import NamedTuple

from planner.adapters.catalog import accelerator_aliases
from planner.errors import InputError, NotFoundError
from planner.model.catalog import Catalog
from planner.model.hardware.accelerator_name import accelerator_named
from planner.scenario.cluster import Cluster
from planner.scenario.machine import accelerator_of
from planner.scenario.own_machine import own_node
from planner.use_cases.catalogs import find_accelerator

COUNTS = re.compile(r"(?:([0-9]{1,4})\s?[xX*]\s?)?(?:([0-9]{1,3})\s?[xX*]\s?)?([A-Za-z][\w .+/-]{1,60})", re.ASCII)
SPELLINGS = "Write an accelerator (H100-SXM), 8xRTX-5090, 4x8xA100-40GB-SXM, or a machine's id (aws/p5.48xlarge)."


def cluster_named(text: str, catalog: Catalog) -> Cluster:
    """Return the machines that a text names.

    `8xRTX-5090` is one machine with eight cards, `4x8xRTX-5090` is four of them, and `RTX-5090` is one card. These
    machines have the usual links between their cards, and an unknown network between nodes. The id of a catalog
    machine is one machine with all its accelerators.

    Raises InputError or NotFoundError with the accepted spellings.
    """
    text = text.strip()
    node = catalog.nodes.get(text)
    if node is not None:
        return Cluster(accelerator_of(node, catalog), node, 1, node.accelerators)
    counted = counted_cards(text)
    single = accelerator_named(text, catalog.accelerators, accelerator_aliases())
    if (counted is None or counted.alone) and single is not None:
        return Cluster(single, own_node(single, 1, new=False), 1, 1)
    if counted is None:
        raise InputError(f"--on {text}: is not a machine.", fix=SPELLINGS)
    if "/" in text:
        raise NotFoundError("machine", text, catalog.nodes, fix=f"See catalogs/hardware/nodes.csv. {SPELLINGS}")
    accelerator = find_accelerator(counted.card, catalog)
    return Cluster(accelerator, own_node(accelerator, counted.per_node, new=False), counted.nodes, counted.per_node)


class CountedCards(NamedTuple):
    """Parts of `4x8xA100-40GB`: nodes, cards per node, and the name of the card."""

    nodes: int
    per_node: int
    card: str
    alone: bool
    """True if the text states no count."""


def counted_cards(text: str) -> CountedCards | None:
    """Read `RTX-3090`, `2xRTX-3090` or `4x8xA100-40GB`. Return None for another form, or for a count of 0."""
    found = COUNTS.fullmatch(text.strip())
    counts = [int(count) for count in (found[1], found[2]) if count is not None] if found else []
    if found is None or 0 in counts:
        return None
    *nodes, per_node = counts or [1]
    return CountedCards(nodes[0] if nodes else 1, per_node, found[3].strip(), not counts)
