"""Storage that machines leave on EC2 (moto): found by tag or id, with its price, and deleted only if it is ours."""

from __future__ import annotations

from typing import Any

import boto3
import pytest

from planner.launcher.backends.sky.leftovers import storage_leftovers
from planner.launcher.cloud import aws_storage
from planner.launcher.cloud.provider_machines import storage_of_anybody
from planner.launcher.plan.target import Target
from tests.fakes.servers import Server
from tests.launcher.launches import launch_of

TAGS = [{"Key": "planner-run", "Value": "one"}]


def client() -> Any:
    session: Any = boto3.session.Session()
    return session.client("ec2", region_name="us-west-2")


def tagged(kind: str, tags: list[dict[str, str]] | None = None) -> dict[str, Any]:
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": tags or TAGS}]}


@pytest.fixture
def cloud(aws: Server):
    aws.ask("reset")
    yield aws
    aws.ask("reset")
    for snapshot in client().describe_snapshots(
        OwnerIds=["self"], Filters=[{"Name": "tag-key", "Values": ["planner-run"]}]
    )["Snapshots"]:
        client().delete_snapshot(SnapshotId=snapshot["SnapshotId"])
    for volume in client().describe_volumes()["Volumes"]:
        if volume["State"] == "available":
            client().delete_volume(VolumeId=volume["VolumeId"])
    for address in client().describe_addresses()["Addresses"]:
        client().release_address(AllocationId=address["AllocationId"])


def found(**owners: str) -> dict[str, aws_storage.Stored]:
    (answer,) = aws_storage.stored_in(["us-west-2"], owners)
    assert answer.problem is None
    return {stored.id: stored for stored in answer.stored}


def test_a_volume_an_address_and_a_snapshot_are_found_with_their_price(cloud):
    """gp3: 256 x 0.08 = 20.48; address: 0.005 x 730 = 3.65; snapshot: 256 x 0.05 = 12.80 USD a month."""
    zone = "us-west-2a"
    volume = client().create_volume(AvailabilityZone=zone, Size=256, VolumeType="gp3", **tagged("volume"))["VolumeId"]
    snapshot = client().create_snapshot(VolumeId=volume, **tagged("snapshot"))["SnapshotId"]
    address = client().allocate_address(Domain="vpc", **tagged("elastic-ip"))["AllocationId"]
    seen = found()
    assert {id_: seen[id_].kind for id_ in seen} == {volume: "volume", snapshot: "snapshot", address: "address"}
    assert {stored.run_id for stored in seen.values()} == {"one"}
    prices = {stored.kind: stored.detail.partition("about ")[2] for stored in seen.values()}
    assert prices == {
        "volume": "20.48 USD a month",
        "address": "3.65 USD a month",
        "snapshot": "12.80 USD a month",
    }
    for stored in seen.values():
        aws_storage.delete(stored.id, stored.kind, stored.where)
    assert found() == {}


def test_a_volume_that_was_seen_at_a_machine_is_known_by_its_id_and_not_ours_for_certain(cloud):
    volume = client().create_volume(AvailabilityZone="us-west-2a", Size=10)["VolumeId"]
    assert volume not in found()
    seen = found(**{volume: "one"})[volume]
    assert (seen.run_id, seen.labelled) == ("one", False)


def test_attached_volumes_and_those_of_others_are_not_left_behind(cloud):
    instance = client().run_instances(ImageId="ami-1e749f67", MinCount=1, MaxCount=1, **tagged("instance"))[
        "Instances"
    ][0]
    attached = client().create_volume(AvailabilityZone="us-west-2a", Size=10, **tagged("volume"))["VolumeId"]
    client().attach_volume(VolumeId=attached, InstanceId=instance["InstanceId"], Device="/dev/sdf")
    theirs = [{"Key": "skypilot-cluster-name", "Value": "my-own-cluster"}]
    client().create_volume(AvailabilityZone="us-west-2a", Size=10, **tagged("volume", theirs))
    assert found() == {}
    client().terminate_instances(InstanceIds=[instance["InstanceId"]])


def test_a_region_that_forbids_to_look_says_so(cloud):
    cloud.ask("refuse", code="UnauthorizedOperation", status=403, after=0, only="DescribeVolumes")
    (answer,) = aws_storage.stored_in(["us-west-2"], {})
    assert (answer.forbidden, answer.stored) == (True, ())
    assert "AWS forbids it" in (answer.problem or "")


@pytest.mark.parametrize("refused", ["DescribeRegions", "DescribeVolumes"])
def test_volumes_that_ec2_does_not_list_give_one_line(cloud, refused):
    """Leftovers are reported in a workspace that has launched on EC2, whether `reap` finds machines or not."""
    cloud.ask("refuse", code="InternalError", status=500, after=0, only=refused)
    launch = launch_of(Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, region="us-west-2"))
    lines = [left for answer in storage_of_anybody([launch]) for left in storage_leftovers(answer)]
    assert all(line.alarm and "volumes: EC2: AWS had a fault of its own." in line.where for line in lines), lines
    assert lines
    if refused == "DescribeRegions":
        assert [line.where for line in lines] == ["EC2 in every region, volumes: EC2: AWS had a fault of its own."]
