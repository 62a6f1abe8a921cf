"""EC2 instances that carry our label, listed and terminated at EC2 itself: the proof that nothing is left on AWS."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

from launcher.cloud.label import date_of, expiry_of
from launcher.cloud.machine import Machine
from launcher.plan.task import EXPIRY_LABEL, RUN_LABEL
from planner.errors import MissingExtraError, NodeError
from planner.model.aws_error import explain

DEAD = ("terminated", "shutting-down")
"""Not billed any more from the moment it shuts down to terminate. Source: EC2 user guide, instance lifecycle."""
REGIONS_AT_ONCE = 8


def instances(*, run_id: str | None, region: str | None) -> list[Machine]:
    """Return instances with our label: of one launch or of all, in one region or in every region of the account.

    EC2 lists a terminated instance for about an hour more; after that its absence says the same.
    """
    wanted = {"Name": f"tag:{RUN_LABEL}", "Values": [run_id]} if run_id else {"Name": "tag-key", "Values": [RUN_LABEL]}
    with explained():
        places = [region] if region is not None else _regions()
        with ThreadPoolExecutor(REGIONS_AT_ONCE) as pool:
            by_region = list(pool.map(lambda place: _instances_in(place, wanted), places))
    return [machine for machines in by_region for machine in machines]


def terminate(machines: Sequence[Machine]) -> None:
    """Terminate these instances. One that is gone already is no error."""
    with explained():
        for region in sorted({machine.where for machine in machines}):
            ids = [machine.id for machine in machines if machine.where == region]
            ec2(region).terminate_instances(InstanceIds=ids)


def _instances_in(region: str, wanted: dict[str, Any]) -> list[Machine]:
    pages = ec2(region).get_paginator("describe_instances").paginate(Filters=[wanted])
    return [
        _machine(instance, region, seen_at=date_of(page["ResponseMetadata"].get("HTTPHeaders", {}).get("date")))
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
    ]


def _machine(instance: dict[str, Any], region: str, *, seen_at: datetime | None) -> Machine:
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])}
    state = instance["State"]["Name"]
    return Machine(
        id=instance["InstanceId"],
        name=tags.get("Name", instance["InstanceId"]),
        where=region,
        state=state,
        alive=state not in DEAD,
        run_id=tags.get(RUN_LABEL),
        instance_type=instance.get("InstanceType"),
        expires_at=expiry_of(tags.get(EXPIRY_LABEL)),
        started_at=instance.get("LaunchTime"),
        seen_at=seen_at,
        network_interfaces=len(instance.get("NetworkInterfaces", [])) or None,
        reservation=instance.get("CapacityReservationId"),
    )


def _regions() -> list[str]:
    """Return the regions that this account may use; the list is the same wherever it is asked for."""
    answer = ec2("us-east-1").describe_regions()
    return sorted(region["RegionName"] for region in answer["Regions"])


def ec2(region: str) -> Any:
    """Return boto3's client of EC2 in a region, with timeouts that a person can wait for."""
    try:
        import boto3
        from botocore.config import Config
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", "launch") from error

    config = Config(connect_timeout=10, read_timeout=30, retries={"max_attempts": 3})
    return boto3.session.Session().client("ec2", region_name=region, config=config)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Turn what AWS refuses into a NodeError with the reason and what to do."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", "launch") from error
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        problem = explain(error)
        raise NodeError(f"EC2: {problem.reason}.", fix=problem.fix) from error
