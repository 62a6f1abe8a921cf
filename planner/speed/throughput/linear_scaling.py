"""Share of linear scaling that several accelerators reach, with its range, for extrapolating runs."""

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
"""Share of linear scaling inside a node: 1 / (1 + median error of linear scaling over published runs).

The error is 6 % for NVLink and 103 % for PCIe 3 without peer-to-peer. The table of 2026-11-21 with these errors was not
kept, and has not been repeated. PCIe with peer-to-peer and other links are assumed.
"""
LINK_FACTOR = {
    Link.SINGLE: 1.0,
    Link.NVSWITCH: 1.1,
    Link.NVLINK: 1.1,
    Link.OTHER: 1.8,
    Link.PCIE: 1.8,
    Link.PCIE_NO_P2P: 2.5,
}
"""Factor within which 90 % of the shares inside a node lie. Assumed."""
MULTI_NODE_EFFICIENCY = 1 / 1.105
"""Share of linear scaling between nodes, from the error of 10.5 % in that table."""
MULTI_NODE_FACTOR = 1.3
"""Factor within which 90 % of the shares between nodes lie. Assumed."""
FAST_LINKS = (Link.SINGLE, Link.NVSWITCH, Link.NVLINK)


class RangeFactor(NamedTuple):
    """One of the factors whose product is the factor of a range."""

    value: float
    cause: str


@dataclass(frozen=True)
class Scaling:
    """Share of linear scaling in (0, 1], with a range of `factor` in both directions."""

    share: float
    factor: float
    factors: tuple[RangeFactor, ...] = field(default=(), compare=False)
    """Parts whose product is `factor`."""


def scaling(link: Link, *, accelerators_per_node: int, nodes: int) -> Scaling:
    """Return the scaling of accelerators that `link` joins in each of several nodes."""
    share, factor, factors = 1.0, 1.0, []
    if accelerators_per_node > 1:
        share, factor = share * LINK_EFFICIENCY[link], factor * LINK_FACTOR[link]
        factors.append(RangeFactor(LINK_FACTOR[link], "link"))
    if nodes > 1:
        share, factor = share * MULTI_NODE_EFFICIENCY, factor * MULTI_NODE_FACTOR
        factors.append(RangeFactor(MULTI_NODE_FACTOR, "several nodes"))
    return Scaling(share, factor, tuple(factors))


def scaling_of(candidate: Candidate) -> Scaling:
    """Return the scaling of a candidate's accelerators."""
    return scaling(candidate.node.link, accelerators_per_node=candidate.accelerators_per_node, nodes=candidate.nodes)


def is_communication_bound(link: Link, *, accelerators_per_node: int, nodes: int) -> bool:
    """Return whether links limited a run, so that its speed says little about other accelerators."""
    return nodes > 1 or (accelerators_per_node > 1 and link not in FAST_LINKS)
