"""Network between the nodes of an option as an answer shows it: its rate, source, and terms of sale."""

from __future__ import annotations

from planner.model.base import Day, Frozen, Positive, Text
from planner.model.hardware.machines import ClusterSale, Node, NodeNetworkKind


class NodeNetwork(Frozen):
    """Connection of several nodes. `gbit_per_s` counts each node with all its ports."""

    gbit_per_s: Positive
    low_gbit_per_s: Positive | None = None
    """Low end of the range of an assumed network, as the next field is its high end; null if the rate is known."""
    high_gbit_per_s: Positive | None = None
    kind: NodeNetworkKind | None = None
    clusters: ClusterSale | None = None
    source: Text
    as_of: Day | None = None

    @classmethod
    def of(cls, node: Node, *, stated: float | None) -> NodeNetwork | None:
        """Return the network of a node, at the `stated` rate of the plan if there is one;

        None if the catalog has none either.
        """
        if stated is not None:
            return cls(gbit_per_s=stated, source="the plan")
        if node.network_gbit_per_s is None:
            return None
        return cls(
            gbit_per_s=node.network_gbit_per_s,
            low_gbit_per_s=node.network_low_gbit_per_s,
            high_gbit_per_s=node.network_high_gbit_per_s,
            kind=node.network_kind,
            clusters=node.clusters,
            source=node.network_source or node.source,
            as_of=node.network_as_of or node.as_of,
        )
