"""Volumes, addresses and snapshots that outlive the machines of a launch on EC2, with the monthly cost of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from planner.errors import NodeError
from planner.launcher.cloud.aws import (
    CLUSTER_TAG,
    FORBIDDEN,
    REGIONS_AT_ONCE,
    code_of,
    ec2,
    explained,
    run_id_of,
    tags_of,
)
from planner.launcher.plan.guard import AWS_HOURS_PER_MONTH, IPV4_USD_PER_HOUR
from planner.launcher.plan.task import RUN_LABEL, cluster_name
from planner.model.base import Frozen
from planner.time_limits import all_within, within

VOLUME_USD_PER_GB_MONTH = {
    "gp3": 0.08, "gp2": 0.10, "io1": 0.125, "io2": 0.125, "st1": 0.045, "sc1": 0.015, "standard": 0.05,
}  # fmt: skip
"""Prices in us-east-1, without extra IOPS; the most expensive region charges about twice.

Source: AWS, Amazon EBS pricing, 2026-11.
"""
DEAREST_VOLUME = max(VOLUME_USD_PER_GB_MONTH.values())
SNAPSHOT_USD_PER_GB_MONTH = 0.05
"""Price of each stored GB. A snapshot stores at most the size of its volume.

Source: AWS, Amazon EBS pricing, 2026-11.
"""


class Stored(Frozen):
    """A resource that is billed without a machine."""

    id: str
    kind: Literal["volume", "address", "snapshot"]
    where: str
    run_id: str | None
    detail: str
    """Description, with its monthly cost at us-east-1's list price."""
    labelled: bool
    """True if it carries our label. What was only seen at one of our machines may belong to someone else."""


class StorageAnswer(Frozen):
    """Volumes, addresses and snapshots of one region, or the reason why it does not list them."""

    where: str
    stored: tuple[Stored, ...] = ()
    problem: str | None = None
    forbidden: bool = False


def stored_in(regions: Sequence[str], owners: Mapping[str, str]) -> list[StorageAnswer]:
    """Return the leftovers of each region: resources with our label, and volumes in `owners` (volume id to run id).

    A volume at a machine and an address in use are not leftovers: they go with it, or are listed once it is gone.
    """
    return all_within(partial(_storage_of_region, owners=owners), regions, who="EC2", at_once=REGIONS_AT_ONCE)


def delete(name: str, kind: str, region: str) -> None:
    """Delete one resource. Raises NodeError if EC2 refuses."""
    client = ec2(region)
    ways: dict[str, Callable[[], object]] = {
        "volume": lambda: client.delete_volume(VolumeId=name),
        "address": lambda: client.release_address(AllocationId=name),
        "snapshot": lambda: client.delete_snapshot(SnapshotId=name),
    }
    with explained():
        within(ways[kind], who="EC2")


def _storage_of_region(region: str, owners: Mapping[str, str]) -> StorageAnswer:
    try:
        with explained():
            return StorageAnswer(where=region, stored=tuple(_all_of(region, owners)))
    except NodeError as error:
        forbidden = code_of(error) in FORBIDDEN
        return StorageAnswer(where=region, problem=error.message, forbidden=forbidden)


def _all_of(region: str, owners: Mapping[str, str]) -> Iterator[Stored]:
    client = ec2(region)
    ours = [
        {"Name": "tag-key", "Values": [RUN_LABEL]},
        {"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster_name("*")]},  # SkyPilot gives this tag to volumes too
    ]
    by_id = [{"Name": "volume-id", "Values": sorted(owners)}] if owners else []
    volumes = {
        volume["VolumeId"]: volume
        for wanted in [*ours, *by_id]
        for page in client.get_paginator("describe_volumes").paginate(Filters=[wanted])
        for volume in page["Volumes"]
    }
    addresses = {
        address["AllocationId"]: address
        for wanted in ours
        for address in client.describe_addresses(Filters=[wanted])["Addresses"]
    }
    snapshots = {
        snapshot["SnapshotId"]: snapshot
        for wanted in ours
        for page in client.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], Filters=[wanted])
        for snapshot in page["Snapshots"]
    }
    for volume in volumes.values():
        if volume["State"] == "available":
            usd = volume["Size"] * VOLUME_USD_PER_GB_MONTH.get(volume.get("VolumeType", ""), DEAREST_VOLUME)
            yield _stored(volume, volume["VolumeId"], "volume", region, f"{volume['Size']} GB", usd, owners)
    for address in addresses.values():
        if not address.get("AssociationId"):
            usd = IPV4_USD_PER_HOUR * AWS_HOURS_PER_MONTH
            yield _stored(
                address, address["AllocationId"], "address", region, str(address.get("PublicIp", "")), usd, owners
            )
    for snapshot in snapshots.values():
        usd = snapshot["VolumeSize"] * SNAPSHOT_USD_PER_GB_MONTH
        yield _stored(
            snapshot, snapshot["SnapshotId"], "snapshot", region, f"up to {snapshot['VolumeSize']} GB", usd, owners
        )


def _stored(
    resource: dict[str, Any],
    name: str,
    kind: Literal["volume", "address", "snapshot"],
    region: str,
    detail: str,
    usd: float,
    owners: Mapping[str, str],
) -> Stored:
    run_id = run_id_of(tags_of(resource))
    return Stored(
        id=name,
        kind=kind,
        where=region,
        run_id=run_id or owners.get(name),
        detail=f"{kind} of {detail}, about {usd:.2f} USD a month",
        labelled=run_id is not None,
    )
