"""Checks whether a measured run used a candidate's hardware."""

from __future__ import annotations

from planner.model.evidence.run import RunRecord
from planner.scenario.candidate import Candidate

LOCAL = "local/"
"""Prefix of the benchmark's names for machines outside any catalog."""


def same_hardware(run: RunRecord, candidate: Candidate) -> bool:
    """Return whether a run used the same number of the same accelerators, joined in the same way.

    A single accelerator needs no link, so there the node may differ. A machine that the plan names only by its
    accelerators matches any machine on which the benchmark ran locally.
    """
    hardware = run.hardware
    return (
        hardware.accelerator == candidate.accelerator.id
        and hardware.nodes == candidate.nodes
        and hardware.accelerators_per_node == candidate.accelerators_per_node
        and (_same_node(run, candidate) or (hardware.accelerators == 1 and hardware.accelerator != "CPU"))
    )


def _same_node(run: RunRecord, candidate: Candidate) -> bool:
    node = run.hardware.node
    local = node is None or node.startswith(LOCAL)
    return node == candidate.node.id or (local and candidate.option.own is not None)
