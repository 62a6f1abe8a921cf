"""The share of linear scaling that several accelerators reach, and its range: for extrapolating runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from planner.model.hardware.machines import Link
from planner.scenario.candidate import Candidate

LINK_EFFICIENCY = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1 / 1.06,
    Link.NVLINK: 1 / 1.06,
    Link.OTHER: 1 / 1.5,
    Link.PCIE: 1 / 1.5,
    Link.PCIE_NO_P2P: 1 / 2.03,
}
"""Inside a node: 1 / (1 + median error that linear scaling has over published runs): NVLink 6 %, PCIe 3 without
peer-to-peer 103 %. The table of 2026-11-21 that gave them is not kept, nor repeated since. PCIe with peer-to-peer and
other links are assumed."""
LINK_FACTOR = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1.1,
    Link.NVLINK: 1.1,
    Link.OTHER: 1.8,
    Link.PCIE: 1.8,
    Link.PCIE_NO_P2P: 2.5,
}
"""90 % of the shares inside a node lie within this factor: assumed."""
MULTI_NODE_EFFICIENCY = 1 / 1.105
"""Between nodes: from the same table, 10.5 %."""
MULTI_NODE_FACTOR = 1.3
"""Assumed."""
FAST_LINKS = (Link.SINGLE, Link.NVSWITCH, Link.NVLINK)


class RangeFactor(NamedTuple):
    """One of the factors whose product a range lies within."""

    value: float
    what: str


@dataclass(frozen=True)
class Scaling:
    """`share` of linear scaling in (0, 1], true within `factor`."""

    share: float
    factor: float
    grounds: tuple[RangeFactor, ...] = field(default=(), compare=False)
    """What `factor` is the product of."""


def scaling(link: Link, *, accelerators_per_node: int, nodes: int) -> Scaling:
    """Return the share for accelerators joined by `link` in each of `nodes`."""
    share, factor, grounds = 1.0, 1.0, []
    if accelerators_per_node > 1:
        share, factor = share * LINK_EFFICIENCY[link], factor * LINK_FACTOR[link]
        grounds.append(RangeFactor(LINK_FACTOR[link], "link"))
    if nodes > 1:
        share, factor = share * MULTI_NODE_EFFICIENCY, factor * MULTI_NODE_FACTOR
        grounds.append(RangeFactor(MULTI_NODE_FACTOR, "several nodes"))
    return Scaling(share, factor, tuple(grounds))


def scaling_of(candidate: Candidate) -> Scaling:
    """Return the candidate's share of linear scaling."""
    return scaling(candidate.node.link, accelerators_per_node=candidate.accelerators_per_node, nodes=candidate.nodes)


def is_communication_bound(link: Link, *, accelerators_per_node: int, nodes: int) -> bool:
    """Return whether a run measured its links rather than its accelerators, so that it says little of others."""
    return nodes > 1 or (accelerators_per_node > 1 and link not in FAST_LINKS)
