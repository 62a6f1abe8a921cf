"""Volumes, addresses and snapshots that outlive the machines of a launch on EC2, and what a month of each costs."""

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
from planner.launcher.plan.ancillary_costs import AWS_HOURS_PER_MONTH, IPV4_USD_PER_HOUR
from planner.launcher.plan.task import RUN_LABEL, cluster_name
from planner.model.base import Frozen
from planner.time_limits import all_within, within

VOLUME_USD_PER_GB_MONTH = {
    "gp3": 0.08, "gp2": 0.10, "io1": 0.125, "io2": 0.125, "st1": 0.045, "sc1": 0.015, "standard": 0.05,
}  # fmt: skip
"""us-east-1, without extra IOPS; the dearest region asks about twice. Source: AWS, Amazon EBS pricing, 2026-11."""
DEAREST_VOLUME = max(VOLUME_USD_PER_GB_MONTH.values())
SNAPSHOT_USD_PER_GB_MONTH = 0.05
"""USD for each GB stored; a snapshot stores at most the size of its volume. Source: as above."""


class Stored(Frozen):
    """Something that is billed without a machine."""

    id: str
    kind: Literal["volume", "address", "snapshot"]
    where: str
    run_id: str | None
    detail: str
    """With what a month of it costs at us-east-1's list price."""
    labelled: bool
    """Whether it carries our label; what was only seen at a machine of ours may be somebody's own."""


class StorageAnswer(Frozen):
    """Volumes, addresses and snapshots of one region, or why it does not name them."""

    where: str
    stored: tuple[Stored, ...] = ()
    problem: str | None = None
    forbidden: bool = False


def stored_in(regions: Sequence[str], owners: Mapping[str, str]) -> list[StorageAnswer]:
    """Return what is left in each region: what carries our label, and volumes of `owners` (their ids, and whose).

    A volume at a machine and an address in use are not left: they go with it, or are listed once it is gone.
    """
    return all_within(partial(_of_region, owners=owners), regions, who="EC2", at_once=REGIONS_AT_ONCE)


def delete(name: str, kind: str, region: str) -> None:
    """Delete one; NodeError where EC2 refuses."""
    client = ec2(region)
    ways: dict[str, Callable[[], object]] = {
        "volume": lambda: client.delete_volume(VolumeId=name),
        "address": lambda: client.release_address(AllocationId=name),
        "snapshot": lambda: client.delete_snapshot(SnapshotId=name),
    }
    with explained():
        within(ways[kind], who="EC2")


def _of_region(region: str, owners: Mapping[str, str]) -> StorageAnswer:
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
        {"Name": f"tag:{CLUSTER_TAG}", "Values": [cluster_name("*")]},  # which SkyPilot gives to volumes too
    ]
    by_id = [{"Name": "volume-id", "Values": sorted(owners)}] if owners else []
    volumes = {
        one["VolumeId"]: one
        for wanted in [*ours, *by_id]
        for page in client.get_paginator("describe_volumes").paginate(Filters=[wanted])
        for one in page["Volumes"]
    }
    addresses = {
        one["AllocationId"]: one for wanted in ours for one in client.describe_addresses(Filters=[wanted])["Addresses"]
    }
    snapshots = {
        one["SnapshotId"]: one
        for wanted in ours
        for page in client.get_paginator("describe_snapshots").paginate(OwnerIds=["self"], Filters=[wanted])
        for one in page["Snapshots"]
    }
    for one in volumes.values():
        if one["State"] == "available":
            usd = one["Size"] * VOLUME_USD_PER_GB_MONTH.get(one.get("VolumeType", ""), DEAREST_VOLUME)
            yield _stored(one, one["VolumeId"], "volume", region, f"{one['Size']} GB", usd, owners)
    for one in addresses.values():
        if not one.get("AssociationId"):
            usd = IPV4_USD_PER_HOUR * AWS_HOURS_PER_MONTH
            yield _stored(one, one["AllocationId"], "address", region, str(one.get("PublicIp", "")), usd, owners)
    for one in snapshots.values():
        usd = one["VolumeSize"] * SNAPSHOT_USD_PER_GB_MONTH
        yield _stored(one, one["SnapshotId"], "snapshot", region, f"up to {one['VolumeSize']} GB", usd, owners)


def _stored(
    one: dict[str, Any],
    name: str,
    kind: Literal["volume", "address", "snapshot"],
    region: str,
    detail: str,
    usd: float,
    owners: Mapping[str, str],
) -> Stored:
    run_id = run_id_of(tags_of(one))
    return Stored(
        id=name,
        kind=kind,
        where=region,
        run_id=run_id or owners.get(name),
        detail=f"{kind} of {detail}, about {usd:.2f} USD a month",
        labelled=run_id is not None,
    )
