"""Whether a measured run was made on a candidate's hardware."""

from __future__ import annotations

from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate


def same_hardware(run: RunRecord, candidate: Candidate) -> bool:
    """Return whether a run was made on as many of the same accelerators, joined in the same way.

    One accelerator alone needs no link, so there the node may differ.
    """
    hardware = run.hardware
    return (
        hardware.accelerator == candidate.accelerator.id
        and hardware.nodes == candidate.nodes
        and hardware.accelerators_per_node == candidate.accelerators_per_node
        and (hardware.node == candidate.node.id or (hardware.accelerators == 1 and hardware.accelerator != "CPU"))
    )
