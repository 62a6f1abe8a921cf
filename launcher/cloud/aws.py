"""EC2 instances that carry our label, listed and terminated at EC2 itself: the proof that nothing is left on AWS."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from planner.aws_session import aws_session
from planner.errors import MissingExtraError, NodeError
from planner.launcher.cloud.machine import ListedMachine, date_of, expiry_of
from planner.launcher.plan.task import EXPIRY_LABEL, RUN_LABEL, cluster_name
from planner.model.aws_error import explain
from planner.time_limits import all_within, within

DEAD = ("terminated", "shutting-down")
"""States of an instance that is no longer billed. Source: EC2 user guide, instance lifecycle."""
REGIONS_AT_ONCE = 8
FIRST_REGION = "us-east-1"
"""Region to ask if no other is named."""
CLUSTER_TAG = "skypilot-cluster-name"
"""Tag by which SkyPilot finds its machines: `<cluster>-<user>`. Source: sky/provision/aws/instance.py of 0.14.1."""
OUR_CLUSTER = re.compile(r"pl-(?P<run_id>[0-9]{8}-[0-9]{6}-[0-9a-f]{6})-[0-9a-f]{8}")
AWS_HOSTS = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
REQUEST_PREFIX = "sir-"
"""Prefix of the id of a request for a spot machine."""
NOT_FOUND = ("InvalidInstanceID.NotFound", "InvalidInstanceID.Malformed", "InvalidSpotInstanceRequestID.NotFound")
IN_BETWEEN = "Sign in to the network (a hotel's page, a company's proxy), check AWS_ENDPOINT_URL, then try again."
FORBIDDEN = ("UnauthorizedOperation", "AccessDenied", "AccessDeniedException")
"""EC2's error codes if a policy, of the account or of its organisation, forbids a region."""


@dataclass(frozen=True)
class Listing:
    """Machines in the regions that answered, and the errors of the others."""

    machines: tuple[ListedMachine, ...]
    silent: Mapping[str, NodeError] = field(default_factory=dict)
    forbidden: tuple[str, ...] = ()
    """Silent regions in which the account is not allowed to look."""
    at: datetime | None = None
    """Time of the answer by EC2's clock."""


def instances(*, run_id: str | None, region: str | None) -> list[ListedMachine]:
    """Return our instances: of one launch or all, in one region or in every region of the account.

    They carry our label or, if someone removed that, the name that SkyPilot gives its clusters.

    A region that does not answer raises an error. EC2 lists a terminated instance for about another hour. After that,
    its absence means the same.
    """
    listing = listed(run_id=run_id, regions=[region] if region is not None else enabled_regions(None))
    for error in listing.silent.values():
        raise error
    return list(listing.machines)


def listed(
    *, run_id: str | None, regions: Sequence[str], spot: bool = False, ids: Mapping[str, Sequence[str]] | None = None
) -> Listing:
    """Return what carries our label in these regions, asking each separately.

    `spot` adds requests for spot machines. `ids` adds these instances of the launch, by region, whatever labels they
    have.
    """
    answers = all_within(
        lambda place: _asked(place, run_id, spot=spot, ids=(ids or {}).get(place, ())),
        regions,
        who="EC2",
        at_once=REGIONS_AT_ONCE,
    )
    return Listing(
        machines=tuple(machine for answer in answers for machine in answer.machines),
        silent={
            place: answer.error for place, answer in zip(regions, answers, strict=True) if answer.error is not None
        },
        forbidden=tuple(place for place, answer in zip(regions, answers, strict=True) if answer.forbidden),
        at=max((answer.at for answer in answers if answer.at is not None), default=None),
    )


@dataclass(frozen=True)
class _Answer:
    """Machines of one region, or the reason why it does not list them."""

    machines: Sequence[ListedMachine] = ()
    error: NodeError | None = None
    forbidden: bool = False
    at: datetime | None = None


def terminate(machines: Sequence[ListedMachine]) -> None:
    """Terminate these instances and cancel these requests. Something that is gone already is not an error.

    EC2 refuses a whole request for one bad instance, so a refused group is retried one by one. Every region and
    instance is tried before the first refusal is raised.
    """
    failures: list[NodeError] = []
    for region in sorted({machine.where for machine in machines}):
        ids = [machine.id for machine in machines if machine.where == region]
        requests = [machine_id for machine_id in ids if machine_id.startswith(REQUEST_PREFIX)]
        running = [machine_id for machine_id in ids if machine_id not in requests]
        for some in ([requests] if requests else []) + ([running] if running else []):
            failures += _end(some, region)
    if failures:
        raise failures[0]


def _end(ids: Sequence[str], region: str) -> list[NodeError]:
    """End these. Return the failures, one for each id if they cannot be ended together."""
    try:
        with explained():
            if ids[0].startswith(REQUEST_PREFIX):
                within(lambda: ec2(region).cancel_spot_instance_requests(SpotInstanceRequestIds=list(ids)), who="EC2")
            else:
                within(lambda: ec2(region).terminate_instances(InstanceIds=list(ids)), who="EC2")
    except NodeError as error:
        if code_of(error) in NOT_FOUND:
            return [] if len(ids) == 1 else [failure for machine_id in ids for failure in _end([machine_id], region)]
        if len(ids) > 1:
            return [failure for machine_id in ids for failure in _end([machine_id], region)]
        return [NodeError(f"{ids[0]} in {region} was not ended. {error.message}", fix=error.fix)]
    return []


def account(region: str | None) -> str:
    """Return the account of the current credentials, and the address of EC2 if that is not at AWS.

    Source: AWS STS API, GetCallerIdentity.
    """
    with explained("STS"):
        identity = within(lambda: _client("sts", region or FIRST_REGION).get_caller_identity(), who="STS")
        number, partition = identity["Account"], str(identity["Arn"]).split(":")[1]
        asked = urlsplit(ec2(region or FIRST_REGION).meta.endpoint_url).netloc.rpartition("@")[2]
    elsewhere = "" if asked.endswith(AWS_HOSTS) else f" at {asked}"
    return f"AWS account {number}" + ("" if partition == "aws" else f" ({partition})") + elsewhere


def has_credentials() -> bool:
    """Return whether boto3 finds credentials: environment, profile, sign-on, process or role."""
    with explained("AWS"):
        return within(lambda: aws_session().get_credentials(), who="AWS") is not None


def enabled_regions(launch_region: str | None) -> list[str]:
    """Return the regions that this account may use. Any region of the partition returns the same list.

    `launch_region` is a region of a launch. Without one, the configured region is asked, unless AWS has no such region.
    """
    with explained():
        answer = within(lambda: ec2(launch_region or _region_here() or FIRST_REGION).describe_regions(), who="EC2")
        return sorted(region["RegionName"] for region in answer["Regions"])


def _region_here() -> str | None:
    session = aws_session()
    known = {name for part in session.get_available_partitions() for name in session.get_available_regions("ec2", part)}
    return session.region_name if session.region_name in known else None


def _asked(region: str, run_id: str | None, *, spot: bool, ids: Sequence[str]) -> _Answer:
    wanted = {"Name": f"tag:{RUN_LABEL}", "Values": [run_id]} if run_id else {"Name": "tag-key", "Values": [RUN_LABEL]}
    named = {"Name": f"tag:{CLUSTER_TAG}", "Values": [f"{cluster_name(run_id or '')}*"]}
    by_id = {"Name": "instance-id", "Values": list(ids)}
    try:
        with explained():
            machines, at = _instances_in(region, [named, wanted, *([by_id] if ids else [])], spot=spot, run_id=run_id)
            return _Answer(machines, at=at)
    except NodeError as error:
        region_error = NodeError(f"{region}: {error.message}", fix=error.fix)
        return _Answer(error=region_error, forbidden=code_of(error) in FORBIDDEN)


def code_of(error: NodeError) -> str:
    """Return AWS's error code of a refusal; empty if it is not AWS's."""
    return "" if error.__cause__ is None else explain(error.__cause__).code  # type: ignore[arg-type]


def _instances_in(
    region: str, filters: Sequence[dict[str, Any]], *, spot: bool, run_id: str | None
) -> tuple[list[ListedMachine], datetime | None]:
    """Return a region's machines by SkyPilot's name, our label and id, with the time by EC2's clock."""
    client = ec2(region)
    found: dict[str, tuple[dict[str, Any], str | None]] = {}
    at = None
    for number, asked in enumerate(filters):
        for page in client.get_paginator("describe_instances").paginate(Filters=[asked]):
            at = date_of(page["ResponseMetadata"].get("HTTPHeaders", {}).get("date")) or at
            for reservation in page["Reservations"]:
                for instance in reservation["Instances"]:
                    owner = run_id_of(tags_of(instance)) or (run_id if number > 1 else None)
                    if number > 0 or owner is not None:
                        found.setdefault(instance["InstanceId"], (instance, owner))
    machines = [_machine(instance, region, owner, seen_at=at) for instance, owner in found.values()]
    owners = [instance for instance, _ in found.values()]
    return machines + (_requests_in(client, region, filters[1], owners) if spot else []), at


def _requests_in(
    client: Any, region: str, wanted: dict[str, Any], found: Sequence[dict[str, Any]]
) -> list[ListedMachine]:
    """Return requests for spot machines that may still start one: with our label, or whose instance has it.

    An active request has an instance, which is listed itself. When that ends, a persistent request starts another.
    """
    owners = {
        instance["SpotInstanceRequestId"]: instance for instance in found if instance.get("SpotInstanceRequestId")
    }
    by_id = {"Name": "spot-instance-request-id", "Values": sorted(owners)}
    requests = {
        request["SpotInstanceRequestId"]: request
        for asked in ([wanted, by_id] if owners else [wanted])
        for page in client.get_paginator("describe_spot_instance_requests").paginate(Filters=[asked])
        for request in page["SpotInstanceRequests"]
    }
    return [
        ListedMachine(
            id=name,
            name=name,
            where=region,
            state=f"spot request {request['State']}",
            alive=True,
            is_order=True,
            run_id=run_id_of(tags_of(owners.get(name, request))),
            expires_at=expiry_of(tags_of(owners.get(name, request)).get(EXPIRY_LABEL)),
        )
        for name, request in sorted(requests.items())
        if request["State"] == "open" or (request["State"] == "active" and request.get("Type") == "persistent")
    ]


def _machine(instance: dict[str, Any], region: str, run_id: str | None, *, seen_at: datetime | None) -> ListedMachine:
    tags = tags_of(instance)
    state = instance["State"]["Name"]
    return ListedMachine(
        id=instance["InstanceId"],
        name=tags.get("Name", instance["InstanceId"]),
        where=region,
        state=state,
        alive=state not in DEAD,
        run_id=run_id,
        instance_type=instance.get("InstanceType"),
        expires_at=expiry_of(tags.get(EXPIRY_LABEL)),
        started_at=instance.get("LaunchTime"),
        seen_at=seen_at,
        network_interfaces=len(instance.get("NetworkInterfaces", [])) or None,
        reservation=instance.get("CapacityReservationId"),
        parts=tuple(
            str(mapping["Ebs"]["VolumeId"])
            for mapping in instance.get("BlockDeviceMappings", [])
            if mapping.get("Ebs", {}).get("VolumeId")
        ),
    )


def run_id_of(tags: Mapping[str, str]) -> str | None:
    """Return the launch of a resource: by our label, otherwise by the cluster that SkyPilot started it for."""
    cluster = OUR_CLUSTER.fullmatch(tags.get(CLUSTER_TAG, ""))
    return tags.get(RUN_LABEL) or (None if cluster is None else cluster["run_id"])


def tags_of(thing: dict[str, Any]) -> dict[str, str]:
    """Return the tags of a resource."""
    return {tag["Key"]: tag["Value"] for tag in thing.get("Tags", [])}


def ec2(region: str) -> Any:
    """Return boto3's client of EC2 in a region."""
    return _client("ec2", region)


def _client(service: str, region: str) -> Any:
    return aws_session().client(service, region_name=region)


@contextlib.contextmanager
def explained(who: str = "EC2") -> Iterator[None]:
    """Turn AWS's refusals into a NodeError with the reason and the fix."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", "launch") from error
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        problem = explain(error)
        raise NodeError(f"{who}: {problem.reason}.", fix=problem.fix) from error
    except (ResponseParserError, KeyError, TypeError) as error:
        said = f"{who}: the answer cannot be read: something between here and AWS sent another one."
        raise NodeError(said, fix=IN_BETWEEN) from error
