"""Which share of linear scaling several accelerators reach, and how doubtful that is, to carry runs over."""

from __future__ import annotations

from dataclasses import dataclass

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
"""Inside a node: 1 / (1 + median error of linear scaling) of published runs; PCIe with P2P and others are guesses."""
LINK_FACTOR = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1.1,
    Link.NVLINK: 1.1,
    Link.OTHER: 1.8,
    Link.PCIE: 1.8,
    Link.PCIE_NO_P2P: 2.5,
}
MULTI_NODE_EFFICIENCY = 1 / 1.105
MULTI_NODE_FACTOR = 1.3
FAST_LINKS = (Link.SINGLE, Link.NVSWITCH, Link.NVLINK)


@dataclass(frozen=True)
class Scaling:
    """`share` of linear scaling in (0, 1], true within `factor`."""

    share: float
    factor: float


def scaling(link: Link, *, accelerators_per_node: int, nodes: int) -> Scaling:
    """Return the share for accelerators joined by `link` in each of `nodes` (docs/accuracy.md)."""
    share, factor = 1.0, 1.0
    if accelerators_per_node > 1:
        share, factor = share * LINK_EFFICIENCY[link], factor * LINK_FACTOR[link]
    if nodes > 1:
        share, factor = share * MULTI_NODE_EFFICIENCY, factor * MULTI_NODE_FACTOR
    return Scaling(share, factor)


def scaling_of(candidate: Candidate) -> Scaling:
    """Return the candidate's share of linear scaling."""
    return scaling(candidate.node.link, accelerators_per_node=candidate.accelerators_per_node, nodes=candidate.nodes)


def is_communication_bound(link: Link, *, accelerators_per_node: int, nodes: int) -> bool:
    """Return whether a run measured its links rather than its accelerators, so that it says little of others."""
    return nodes > 1 or (accelerators_per_node > 1 and link not in FAST_LINKS)
