"""The accelerators that train together: how many of which, in which nodes."""

from __future__ import annotations

from dataclasses import dataclass

from planner.model.hardware.machines import Accelerator, Node


@dataclass(frozen=True)
class Cluster:
    """Some accelerators of one kind in one or more equal nodes."""

    accelerator: Accelerator
    node: Node
    nodes: int
    accelerators_per_node: int

    @property
    def accelerators(self) -> int:
        """All accelerators that work on one training."""
        return self.nodes * self.accelerators_per_node
