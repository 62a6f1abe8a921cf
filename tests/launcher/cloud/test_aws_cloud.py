"""EC2, Cost Explorer and pushed results on moto: found machines, their cost, and the rights that this needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from typing import Any

import boto3
import pytest

from planner.adapters.catalog import read_run
from planner.adapters.settings import S3Store
from planner.adapters.workspace import catalogs_dir
from planner.errors import NodeError, PlannerError
from planner.launcher.backends.sky.collect import fetch
from planner.launcher.cloud import aws, cost_explorer
from tests.fakes.aws_policy import NEVER, enforce, user_keys
from tests.fakes.servers import Server

RECORD = catalogs_dir() / "runs" / "seed-000-dgx-station-v100.json"
TODAY = date(2026, 11, 21)


@pytest.fixture
def cloud(aws: Server) -> Iterator[Server]:
    """AWS, which checks no rights before and after. Every test has runs of its own."""
    yield aws
    enforce(aws, after=NEVER)


@pytest.fixture
def run(request: pytest.FixtureRequest) -> str:
    """Return a run id of this test alone."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:60]


def client(service: str, region: str = "us-east-1") -> Any:
    session: Any = boto3.session.Session()
    return session.client(service, region_name=region)


def start(run_id: str | None, *, region: str = "us-east-1", count: int = 1, **more: str) -> list[str]:
    """Start instances as SkyPilot labels them."""
    tags = more | ({"planner-run": run_id} if run_id else {})
    labels = [{"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}]
    made = client("ec2", region).run_instances(
        ImageId="ami-1e749f67",
        InstanceType="p4d.24xlarge",
        MinCount=count,
        MaxCount=count,
        **({"TagSpecifications": labels} if tags else {}),
    )
    return [instance["InstanceId"] for instance in made["Instances"]]


@pytest.mark.slow
def test_instances_are_found_by_their_label_in_one_region(cloud, run):
    expected = start(run, Name="head", **{"planner-expires": "20261121T100000Z"})
    start("two")
    start(None)
    start(run, region="us-west-2")
    (found,) = aws.instances(run_id=run, region="us-east-1")
    assert [found.id] == expected
    assert (found.name, found.where, found.state, found.alive) == ("head", "us-east-1", "running", True)
    assert (found.run_id, found.instance_type) == (run, "p4d.24xlarge")
    assert found.expires_at == datetime(2026, 11, 21, 10, 0, tzinfo=UTC)


def test_without_a_region_every_region_is_asked(cloud, run):
    ids = start(run) + start(run, region="us-east-2") + start(run, region="us-west-2")
    found = aws.instances(run_id=run, region=None)
    assert {machine.id for machine in found} == set(ids)
    assert {machine.where for machine in found} == {"us-east-1", "us-east-2", "us-west-2"}


def test_without_a_run_everything_with_our_label_is_found(cloud, run):
    start(run)
    start("two", Other="label")
    (foreign,) = start(None, Name="pl-not-ours")
    found = aws.instances(run_id=None, region="us-east-1")
    assert {machine.run_id for machine in found} >= {run, "two"}
    assert foreign not in {machine.id for machine in found}


def test_the_terminated_are_dead_and_others_live(cloud, run):
    first, second = start(run, count=2)
    client("ec2").stop_instances(InstanceIds=[second])
    aws.terminate([machine for machine in aws.instances(run_id=run, region="us-east-1") if machine.id == first])
    found = {machine.id: machine for machine in aws.instances(run_id=run, region="us-east-1")}
    assert (found[first].state, found[first].alive) == ("terminated", False)
    assert (found[second].state, found[second].alive) == ("stopped", True), "a stopped one still pays for its disk"


def test_terminating_twice_and_nothing_is_no_error(cloud, run):
    start(run)
    machines = aws.instances(run_id=run, region="us-east-1")
    aws.terminate(machines)
    aws.terminate(machines)
    aws.terminate([])


@pytest.mark.parametrize("label", ["soon", "2026-11-21", ""])
def test_an_expiry_label_that_is_not_ours_is_unknown(cloud, run, label):
    start(run, **{"planner-expires": label})
    (found,) = aws.instances(run_id=run, region="us-east-1")
    assert found.expires_at is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("UnauthorizedOperation", r"EC2: AWS forbids it\. Ask for the rights in launcher/iam/aws-policy\.json"),
        ("RequestExpired", r"EC2: the AWS credentials have expired\. Sign in again"),
        ("AuthFailure", r"EC2: AWS does not know the access key"),
    ],
)
def test_a_refusal_is_an_error_and_never_an_empty_list(cloud, run, code, said):
    cloud.ask("refuse", code=code, status=403, after=0)
    with pytest.raises(NodeError, match=said):
        aws.instances(run_id=run, region="us-east-1")


# --- Cost Explorer


def seed(server: Server, *periods: Any) -> None:
    """Give moto the answer of Cost Explorer; the shape is that of GetCostAndUsage in the API reference."""
    results = [
        {
            "ResultsByTime": [
                {
                    "TimePeriod": {"Start": day, "End": day},
                    "Total": {},
                    "Groups": [
                        {
                            "Keys": [f"planner-run${run_id}"],
                            "Metrics": {"UnblendedCost": {"Amount": usd, "Unit": "USD"}},
                        }
                        for run_id, usd in costs.items()
                    ],
                    "Estimated": estimated,
                }
                for day, costs, estimated in periods
            ]
        }
    ]
    server.post("/moto-api/static/ce/cost-and-usage-results", account_id="123456789012", results=results)


def test_the_days_of_a_launch_add_up_and_foreign_machines_do_not_count(cloud):
    seed(
        cloud,
        ("2026-11-17", {"one": "10.50", "two": "1.25", "somebody-elses": "99"}, False),
        ("2026-11-18", {"one": "2.25"}, False),
    )
    found = cost_explorer.billed(["one", "two"], first=date(2026, 11, 17), last=date(2026, 11, 18), today=TODAY)
    assert {run_id: cost.usd for run_id, cost in found.items()} == {"one": 12.75, "two": 1.25}
    assert not any(cost.estimated or cost.reason for cost in found.values())


def test_a_launch_without_a_cost_is_unknown_and_not_free(cloud):
    seed(cloud, ("2026-11-17", {}, False))
    found = cost_explorer.billed(["one"], first=date(2026, 11, 17), last=date(2026, 11, 17), today=TODAY)
    assert found["one"].usd is None
    assert "must be a cost allocation tag" in (found["one"].reason or "")


@pytest.mark.parametrize(
    ("last", "by_aws"),
    [pytest.param(date(2026, 11, 20), False, id="yesterday"), pytest.param(date(2026, 11, 1), True, id="AWS says so")],
)
def test_a_bill_that_may_still_grow_says_so(cloud, last, by_aws):
    seed(cloud, (last.isoformat(), {"one": "1"}, by_aws))
    found = cost_explorer.billed(["one"], first=last, last=last, today=TODAY)["one"]
    assert (found.usd, found.estimated, found.reason) == (1.0, True, "AWS completes a bill about a day after the usage")


def test_a_refusal_of_cost_explorer_is_an_error(cloud):
    cloud.ask("refuse", code="AccessDeniedException", status=400, after=0)
    with pytest.raises(NodeError, match="Cost Explorer: AWS forbids it"):
        cost_explorer.billed(["one"], first=TODAY, last=TODAY, today=TODAY)


# --- what nodes pushed


def push(key: str, text: str, bucket: str = "planner-runs") -> None:
    s3 = client("s3")
    s3.create_bucket(Bucket=bucket)
    s3.put_object(Bucket=bucket, Key=key, Body=text.encode())


@pytest.mark.parametrize("prefix", ["", "team/pushed"], ids=["no prefix", "a prefix"])
def test_results_that_nodes_pushed_are_collected(cloud, tmp_path, run, prefix):
    root = f"{prefix}/" if prefix else ""
    push(f"{root}{run}/node-0/start-1/result.json", "{}")
    push(f"{root}{run}/node-0/start-1/result.json.steps.jsonl", "step\n")
    push(f"{root}{run}/node-1/start-1/spec.node1.json", "spec")
    push(f"{root}{run}-more/node-0/start-1/result.json", "not ours")
    fetch(f"s3://planner-runs/{prefix}".rstrip("/"), run, tmp_path / "home")
    found = {str(path.relative_to(tmp_path / "home")) for path in (tmp_path / "home").rglob("*") if path.is_file()}
    assert found == {
        "start-1/result.json",
        "start-1/result.json.steps.jsonl",
        "node-1/start-1/spec.node1.json",
    }
    assert (tmp_path / "home" / "start-1" / "result.json").read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("name", ["node-0/../../evil", "elsewhere/x", "node-0", "node-0/driver.lock", "node-0/job.log"])
def test_a_name_that_no_node_of_ours_would_write_stays_out(cloud, tmp_path, run, name):
    push(f"{run}/{name}", "evil")
    push(f"{run}/node-0/start-1/result.json", "{}")
    fetch("s3://planner-runs", run, tmp_path / "home")
    found = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    assert found == ["home/start-1/result.json"]


# --- rights


def use_policy(server: Server, monkeypatch: pytest.MonkeyPatch, *, without: str | None) -> None:
    """Become a user who has the shipped policy and nothing else."""
    keys = user_keys(client("iam"), f"without-{without}".replace(":", "-"), without=without)
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    enforce(server)


def read_store() -> None:
    S3Store("s3://planner-runs/team").read_all()


def add_to_store() -> None:
    S3Store("s3://planner-runs/team").add(read_run(RECORD).model_copy(update={"id": "another"}))


OUR_CALLS: dict[str, tuple[str, Callable[[], object]]] = {
    "ec2:DescribeInstances": ("verify", lambda: aws.instances(run_id="one", region="us-east-1")),
    "ec2:DescribeRegions": ("reap", lambda: aws.instances(run_id="one", region=None)),
    "ec2:TerminateInstances": ("down", lambda: aws.terminate(aws.instances(run_id="one", region="us-east-1"))),
    "ce:GetCostAndUsage": ("bill", lambda: cost_explorer.billed(["one"], first=TODAY, last=TODAY, today=TODAY)),
    "s3:ListBucket": ("list runs", read_store),
    "s3:GetObject": ("read runs", read_store),
    "s3:PutObject": ("add a run", add_to_store),
}
"""Parts of the policy that our own calls need; SkyPilot's calls are counted in test_sky_offline.py."""


@pytest.fixture
def furnished(cloud: Server) -> Server:
    """Make an instance, and a bucket with a run."""
    start("one")
    push("team/one.json", read_run(RECORD).model_dump_json())
    return cloud


def test_the_policy_is_enough_for_every_call_of_ours(furnished, monkeypatch):
    use_policy(furnished, monkeypatch, without=None)
    for _, call in OUR_CALLS.values():
        call()


@pytest.mark.parametrize("action", OUR_CALLS)
def test_without_a_right_the_call_that_needs_it_says_so(furnished, monkeypatch, action):
    use_policy(furnished, monkeypatch, without=action)
    with pytest.raises(PlannerError, match=r"AWS forbids it\. Ask for the rights in launcher/iam/aws-policy\.json"):
        OUR_CALLS[action][1]()
