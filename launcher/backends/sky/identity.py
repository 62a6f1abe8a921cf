"""Chooses which of the user's credentials SkyPilot copies to a rented machine: only those that it needs. Pure."""

from __future__ import annotations

from planner.launcher.plan.backend import Launch
from planner.launcher.plan.target import LaunchProvider

NO_UPLOAD = "NO_UPLOAD"
CAN_BE_KEPT = ("aws", "gcp", "azure", "kubernetes", "ssh", "slurm", "nebius", "oci", "vast")
"""Clouds whose credentials SkyPilot can be told not to copy. Lambda is not among them: its key is copied wherever it is
found.

Source: the configuration schema of skypilot 0.14.1.
"""
OWN = {LaunchProvider.K8S: "kubernetes", LaunchProvider.SSH_POOL: "ssh", LaunchProvider.SLURM: "slurm"}


def identities(launch: Launch) -> list[str]:
    """Return SkyPilot's settings: a role for machines on AWS, and no upload of other clouds' credentials.

    By default SkyPilot copies the credentials of every cloud it finds to every node. A node outside AWS that pushes to
    a store needs those of AWS, so they are copied there.
    """
    provider = launch.target.provider
    kept = [cloud for cloud in CAN_BE_KEPT if cloud != OWN.get(provider, provider.value)]
    if launch.store is not None and "aws" in kept:
        kept.remove("aws")
    role = ["aws.remote_identity=SERVICE_ACCOUNT"] if provider is LaunchProvider.AWS else []
    return role + [f"{cloud}.remote_identity={NO_UPLOAD}" for cloud in kept]
