"""EC2 and STS over a cloud in memory, in place of boto3's clients: the shapes and the errors are botocore's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError, NoCredentialsError, PaginationError, ReadTimeoutError
from botocore.parsers import ResponseParserError

from planner.launcher.cloud.aws import CLUSTER_TAG
from planner.launcher.plan.task import RUN_LABEL
from tests.launcher.launches import NOON
from tests.launcher.simulated.cloud import OTHER_REGION, REGION, Cloud, CloudMachine, EndRefusedError

Answer = dict[str, Any]


class Ec2InMemory:
    """A client of EC2 and STS in one region."""

    def __init__(self, cloud: Cloud, region: str) -> None:
        self._cloud = cloud
        self._region = region
        self.meta = SimpleNamespace(endpoint_url=f"https://ec2.{region}.amazonaws.com")

    def describe_regions(self) -> Answer:
        self._answers("DescribeRegions", silent=("regions-silent",), refused=("regions-refused",))
        return {"Regions": [{"RegionName": REGION}, {"RegionName": OTHER_REGION}]}

    def get_caller_identity(self) -> Answer:
        self._answers("GetCallerIdentity", silent=("account-silent",))
        number = "1" if self._cloud.key_here in self._cloud.keys else "2"
        return {"Account": number, "Arn": f"arn:aws:iam::{number}:user/a"}

    def describe_addresses(self, **_: object) -> Answer:
        return {"Addresses": []}

    def get_paginator(self, question: str) -> SimpleNamespace:
        asks: dict[str, Callable[..., Iterator[Answer]]] = {
            "describe_instances": self._instances,
            "describe_spot_instance_requests": lambda **_: iter([{"SpotInstanceRequests": []}]),
            "describe_volumes": lambda **_: iter([{"Volumes": []}]),
            "describe_snapshots": lambda **_: iter([{"Snapshots": []}]),
        }
        return SimpleNamespace(paginate=asks[question])

    def terminate_instances(self, *, InstanceIds: Sequence[str]) -> None:  # noqa: N803  boto3's name
        self._answers("TerminateInstances", refused=("ends-forbidden",))
        cloud = self._cloud
        if not {machine.id for machine in cloud.listed(cloud.key_here)} >= set(InstanceIds):
            raise self._refusal("TerminateInstances", "InvalidInstanceID.NotFound")
        try:
            cloud.end(InstanceIds, cloud.key_here)
        except EndRefusedError:
            raise self._refusal("TerminateInstances", "InternalError", status=500) from None

    def _instances(self, *, Filters: Sequence[dict[str, Any]]) -> Iterator[Answer]:  # noqa: N803  boto3's name
        there = self._region == OTHER_REGION
        self._answers(
            "DescribeInstances",
            silent=("region-silent",) if there else (),
            refused=("region-forbidden",) if there else (),
        )
        (asked,) = Filters
        found = (
            []
            if there
            else [machine for machine in self._cloud.listed(self._cloud.key_here) if _matches(machine, asked)]
        )
        date = format_datetime(self._cloud.now, usegmt=True)
        page: Answer = {"ResponseMetadata": {"HTTPHeaders": {"date": date}}}
        if "odd" not in self._cloud.wrong:
            page["Reservations"] = [{"Instances": [self._told(machine)]} for machine in found]
        yield page
        if "repeats" in self._cloud.wrong:
            raise PaginationError(message="The same next token was received twice")

    def _told(self, machine: CloudMachine) -> Answer:
        tags = {RUN_LABEL: "r1", CLUSTER_TAG: "pl-r1-0a1b2c3d"} if machine.labelled else {}
        return {
            "InstanceId": machine.id,
            "State": {"Name": "running" if machine in self._cloud.running else "terminated"},
            "LaunchTime": NOON + timedelta(seconds=machine.came_s),
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
        }

    def _answers(self, operation: str, *, silent: Sequence[str] = (), refused: Sequence[str] = ()) -> None:
        wrong = self._cloud.wrong
        if self._cloud.key_here is None:
            raise NoCredentialsError
        if wrong & {"silent", *silent}:
            raise ReadTimeoutError(endpoint_url=self.meta.endpoint_url)
        if "html" in wrong:
            raise ResponseParserError("Unable to parse response (not well-formed), invalid XML received: b'<html>'")
        if "fault" in wrong:
            raise self._refusal(operation, "InternalError", status=500)
        if "throttled" in wrong:
            raise self._refusal(operation, "RequestLimitExceeded", status=503)
        if wrong & {*refused}:
            raise self._refusal(operation, "UnauthorizedOperation", status=403)

    @staticmethod
    def _refusal(operation: str, code: str, *, status: int = 400) -> ClientError:
        said: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
        return ClientError(said, operation)


def _matches(machine: CloudMachine, asked: dict[str, Any]) -> bool:
    return machine.id in asked["Values"] if asked["Name"] == "instance-id" else machine.labelled
