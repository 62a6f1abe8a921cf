"""Settings that a launch gives to SkyPilot, with only those of the user's credentials that it needs. Pure."""

from __future__ import annotations

import json
import shutil

from planner.errors import InputError
from planner.launcher.plan.backend import (
    Launch,
)
from planner.launcher.plan.target import LaunchProvider
from planner.launcher.plan.task import sky_config_of

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


def refuse_early(launch: Launch) -> None:
    """Refuse what SkyPilot would refuse late, or not at all."""
    missing = [name for name in ("rsync", "ssh") if shutil.which(name) is None]
    if missing:
        raise InputError(f"{missing[0]} is not on this machine, and SkyPilot needs it.", fix="Install it first.")
    if launch.target.managed and launch.store is None:
        raise InputError(
            "a managed job's machines are gone when it ends, and its results with them.",
            fix="Name a store to which the nodes push: --store s3://bucket/prefix (docs/launching-clouds.md).",
        )


def config_of(launch: Launch) -> list[str]:
    """Return SkyPilot's settings of a launch as `a.b=value`."""
    asked = sky_config_of(launch.target, launch.bill.caps)
    return [f"{key}={json.dumps(value)}" for key, value in asked.items()] + identities(launch)
