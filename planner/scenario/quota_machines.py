"""A quota in machines of an option's kind."""

from __future__ import annotations

from planner.errors import InputError
from planner.model.hardware.machines import Node
from planner.model.plan.quota import MOST_MACHINES, QuotaFigure, QuotaUnit

LEAST_UNCLEAR = 64
"""Bare number from which vCPUs may be meant if the machine's vCPUs are unknown.

The smallest machine of eight accelerators, AWS p3.16xlarge, has 64.
"""


def quota_machines(quota: QuotaFigure | None, node: Node, *, rented: bool, where: str) -> int | None:
    """Return the number of machines in a quota; None without one.

    machines = floor(vCPUs of the quota / vCPUs of a machine)

    InputError if the vCPUs of the machine are needed but unknown, or if a bare number for a rented machine may mean
    vCPUs: it is at least as large as the vCPUs of one machine.
    """
    if quota is None:
        return None
    if quota.unit is QuotaUnit.VCPUS:
        if node.vcpus is None:
            raise InputError(
                f"{where}.quota: {quota.count} vCPUs are stated, but the catalog does not know the vCPUs of {node.id}.",
                fix="State it in machines: divide by the vCPUs of one, and write for example `quota: 4 machines`.",
            )
        return min(MOST_MACHINES, quota.count // node.vcpus)
    if quota.unit is None and rented and quota.count >= (node.vcpus or LEAST_UNCLEAR):
        counted = f"one {node.id} has {node.vcpus}" if node.vcpus else f"those of {node.id} are not known"
        raise InputError(
            f"{where}.quota: {quota.count} may be machines or vCPUs, as clouds count quotas in vCPUs ({counted}).",
            fix=f"Write `quota: {quota.count} vCPUs` or `quota: {quota.count} machines`.",
        )
    return quota.count
