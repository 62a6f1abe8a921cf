"""Accelerators that train together: their kind, number and nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.model.hardware.machines import Accelerator, Node

KEPT_NODE_FIELDS = ("accelerator", "accelerators", "link", "as_of")
"""Fields of a node that affect a speed, and fields that every node must have."""


@dataclass(frozen=True)
class Cluster:
    """Accelerators of one kind in one or more equal nodes."""

    accelerator: Accelerator
    node: Node
    nodes: int
    accelerators_per_node: int

    @property
    def accelerators(self) -> int:
        """Number of accelerators that work on one training."""
        return self.nodes * self.accelerators_per_node

    @property
    def for_speed_only(self) -> Cluster:
        """The cluster without fields that do not affect speed. So equal machines of several providers are equal."""
        names = {"id": self.accelerator.id, "name": self.accelerator.id, "source": self.accelerator.source}
        network = {"network_gbit_per_s": self.node.network_gbit_per_s if self.nodes > 1 else None}
        unset = dict.fromkeys(name for name in type(self.node).model_fields if name not in KEPT_NODE_FIELDS)
        plain = {"as_of": self.accelerator.as_of, **unset, **names, **network}
        return replace(self, node=self.node.model_copy(update=plain))
