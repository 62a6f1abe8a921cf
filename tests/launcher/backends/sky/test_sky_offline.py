"""SkyPilot itself, offline: real dry runs, what it refuses, proofs from the clouds, secrets. One API server for all.

No classes: each would be a group of its own for xdist, with servers of its own.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import boto3
import psutil
import pytest

from planner.errors import InputError, NodeError
from planner.launcher.backends.sky.backend import SkyBackend
from planner.launcher.backends.sky.process import SkyRefusalError
from planner.launcher.plan.backend import LaunchPhase
from planner.launcher.plan.target import LaunchProvider, Target
from tests.fakes.aws_network import open_network
from tests.fakes.aws_policy import enforce, user_keys
from tests.fakes.sky_home import CONTEXT, SSH_POOL
from tests.launcher.backends.contract import check_never_submitted
from tests.launcher.backends.sky.sky_offline import OfflineClouds, clouds, start_api_server
from tests.launcher.launches import launch_of, rate

pytestmark = pytest.mark.slow
TASKS = Path(__file__).parents[4] / "launcher" / "tasks"
LAMBDA_CANARY, TOKEN_CANARY = "canary-lambda-key", "canary-hf-token"
ROOT_KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
P5E = Target(
    provider=LaunchProvider.AWS, name="p5e.48xlarge", accelerator="H200-SXM", devices_per_node=8, region="us-east-2"
)
P4D = Target(
    provider=LaunchProvider.AWS,
    name="p4d.24xlarge",
    accelerator="A100-40GB-SXM",
    devices_per_node=8,
    region="us-east-1",
)
LAMBDA = Target(provider=LaunchProvider.LAMBDA, name="gpu_8x_h100_sxm5", accelerator="H100-SXM", devices_per_node=8)
K8S = Target(provider=LaunchProvider.K8S, name=CONTEXT, accelerator="H200-SXM", devices_per_node=8)
RACK = Target(provider=LaunchProvider.SSH_POOL, name=SSH_POOL, accelerator="H200-SXM", devices_per_node=8)
SPOT = {"purchase": "spot"}
MANAGED = P5E.model_copy(update={"purchase": "spot", "managed": True})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfflineClouds]:
    """Start the clouds; on AWS SkyPilot and we have the rights of the shipped policy and no other."""
    with clouds(tmp_path_factory.mktemp("sky")) as made:
        root, url = boto3.session.Session(**ROOT_KEYS), made.aws.url
        open_network(root.client("ec2", region_name="us-east-2", endpoint_url=url))
        iam = root.client("iam", region_name="us-east-1", endpoint_url=url)
        made.environment.update(user_keys(iam, "planner"))
        enforce(made.aws)
        made.environment["HF_TOKEN"] = TOKEN_CANARY
        (made.home / ".lambda_cloud" / "lambda_keys").write_text(f"api_key = {LAMBDA_CANARY}\n", encoding="utf-8")
        start_api_server(made)
        yield made


@pytest.fixture(scope="module")
def shared(world: OfflineClouds) -> Iterator[SkyBackend]:
    """One backend: its process imports sky once."""
    backend = SkyBackend(world.home.parent / "workspace" / "sky", sky_home=world.home)
    yield backend
    backend.close()


@pytest.fixture
def sky(world: OfflineClouds, shared: SkyBackend, monkeypatch: pytest.MonkeyPatch) -> SkyBackend:
    """Return the backend, in the world's environment, with the clouds as empty as they can be made."""
    for name in list(os.environ):
        if name not in ("PLANNER_HOME", "NO_COLOR", "PYTEST_CURRENT_TEST"):
            monkeypatch.delenv(name)
    for name, value in world.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LAMBDA_ENDPOINT_URL", world.environment["FAKE_LAMBDA_URL"])
    world.reset()
    return shared


def started(run_id: str, *, expires_at: datetime, region: str = "us-east-2") -> str:
    """Start an instance on the fake EC2 as SkyPilot labels it; return its id."""
    ec2 = boto3.session.Session().client("ec2", region_name=region)
    tags = {"Name": f"sky-pl-{run_id}-head", "planner-run": run_id, "planner-expires": f"{expires_at:%Y%m%dT%H%M%SZ}"}
    made = ec2.run_instances(
        ImageId="ami-1e749f67",
        InstanceType="p5e.48xlarge",
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}
        ],
    )
    return str(made["Instances"][0]["InstanceId"])


class SkyRow(dict[str, str]):
    """The chosen row of SkyPilot's table."""

    @classmethod
    def of(cls, shown: tuple[str, ...]) -> SkyRow:
        heads = next(line for line in shown if "INSTANCE" in line)
        chosen = next(line for line in shown if line.rstrip().endswith("\u2714"))
        starts = [(match.start(), match[0].strip()) for match in re.finditer(r"\S+( \(\$\))?", heads)]
        ends = [start for start, _ in starts[1:]] + [None]
        return cls({name: chosen[start:end].strip() for (start, name), end in zip(starts, ends, strict=True)})


@pytest.mark.parametrize(
    ("target", "instance", "gpus", "usd_per_hour"),
    [
        pytest.param(P5E.model_copy(update=SPOT), "p5e.48xlarge[Spot]", "H200:8", "14.03", id="aws p5e spot"),
        pytest.param(P4D, "p4d.24xlarge", "A100:8", "21.96", id="aws p4d on demand"),
        pytest.param(
            P4D.model_copy(update={"nodes": 2, "network_tier": "best"}),
            "p4d.24xlarge",
            "A100:8",
            "43.92",
            id="two with EFA",
        ),
        pytest.param(LAMBDA, "gpu_8x_h100_sxm5", "H100:8", "31.92", id="lambda"),
        pytest.param(K8S, None, "H200:8", "0.00", id="kubernetes"),
        pytest.param(RACK, None, "H200:8", "0.00", id="ssh pool"),
    ],
)
def test_the_dry_run_of_a_target_chooses_it_and_nothing_else(sky, target, instance, gpus, usd_per_hour):
    """The prices are those of the seeded catalogs, rounded; of machines that stand there SkyPilot says 0."""
    row = SkyRow.of(sky.check(launch_of(target, run_id="dry")))
    assert row["GPUS"] == gpus
    assert row["COST ($)"] == usd_per_hour
    if instance is not None:
        assert row["INSTANCE"] == instance
    else:
        assert target.name in row["INFRA"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        pytest.param(P5E, "SkyPilot found no such machine", id="p5e on demand has no price"),
        pytest.param(P4D.model_copy(update={"name": "p4d.99xlarge"}), "p4d.99xlarge", id="no such instance type"),
        pytest.param(P4D.model_copy(update={"region": "us-middle-9"}), "us-middle-9", id="no such region"),
        pytest.param(LAMBDA.model_copy(update=SPOT), "found no such machine", id="Lambda sells no spot"),
        pytest.param(K8S.model_copy(update={"name": "nowhere"}), "nowhere", id="no such context"),
        pytest.param(K8S.model_copy(update={"accelerator": "B200-SXM"}), "found no such machine", id="no such GPU"),
    ],
)
def test_the_dry_run_refuses_an_impossible_launch(sky, target, said):
    with pytest.raises(SkyRefusalError, match=said) as caught:
        sky.check(launch_of(target, run_id="dry"))
    assert caught.value.exit_code == 4


def test_a_capacity_block_is_priced_from_a_catalog_of_its_own(sky, world):
    """The other catalog stays without a price: the next launch without a reservation is refused as before."""
    block = P5E.model_copy(update={"purchase": "capacity_block", "reservation": "cr-0123456789abcdef0"})
    world.aws.ask(
        "reserve",
        capacityReservationId="cr-0123456789abcdef0",
        instanceType="p5e.48xlarge",
        availabilityZone="us-east-2a",
        state="active",
        availableInstanceCount="1",
        instanceMatchCriteria="targeted",
        reservationType="capacity-block",
    )
    shown = sky.check(launch_of(block, run_id="block", price=rate(39.80)))
    assert SkyRow.of(shown)["INSTANCE"] == "p5e.48xlarge"
    assert float(SkyRow.of(shown)["COST ($)"]) in (0.0, 39.8), "SkyPilot takes what is reserved to cost nothing more"
    before = servers(world)
    own = sky._processes.of(launch_of(block, run_id="block", price=rate(39.80)))
    assert own.ask("rest"), "its server was asked for nothing more"
    (ended,) = set(before) - set(servers(world))
    assert ended != world.environment["SKYPILOT_API_SERVER_LOCAL_PORT"]
    with pytest.raises(SkyRefusalError):
        sky.check(launch_of(P5E, run_id="dry"))


def servers(world: OfflineClouds) -> list[str]:
    """Return the ports of SkyPilot's API servers in this HOME."""
    ports = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            command = process.cmdline()
            if "sky.server.server" in command and process.environ().get("HOME") == str(world.home):
                ports += [word.partition("=")[2] for word in command if word.startswith("--port=")]
    return ports


def test_the_task_files_are_read_by_skypilot(world):
    """Return whether the keys are SkyPilot's; asks in a process of its own, because sky warns when it is imported."""
    program = (
        "import sys, sky\n"
        "for path in sys.argv[1:]:\n"
        "    task = sky.Task.from_yaml(path)\n"
        "    assert task.run and task.setup and task.resources, path"
    )
    paths = sorted(map(str, TASKS.glob("*.yaml")))
    assert len(paths) >= 6
    read = subprocess.run(
        [sys.executable, "-c", program, *paths],
        env=world.environment,
        cwd=TASKS.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert read.returncode == 0, read.stderr[-2000:]


def test_a_refused_launch_is_submitted_once_and_leaves_nothing(sky, world):
    """EC2 has no capacity, which is usual for these machines."""
    launch = launch_of(P5E.model_copy(update=SPOT), run_id="refused")
    world.aws.ask("refuse", code="InsufficientInstanceCapacity", status=400, after=0, only="RunInstances")
    sky.submit(launch)
    sky.submit(launch)
    status = sky.status(launch)
    while not status.phase.is_over:
        status = sky.status(launch)
    assert status.phase is LaunchPhase.REFUSED
    assert "SkyPilot found no such machine" in status.detail
    asked = world.aws.ask("calls")
    assert any(call["action"] == "RunInstances" for call in asked)
    into = world.home.parent / "collected"
    into.mkdir()
    collected = sky.collect(launch, into)
    assert (collected.results, collected.complete) == ((), False)
    sky.down(launch)
    evidence = sky.verify_down(launch)
    assert evidence.down
    assert evidence.checks == (
        "EC2 in 3 regions, machines of pl-refused: none",
        "the account was not recorded: that of the keys here was asked",
        "SkyPilot: no launch under way",
    )


@pytest.mark.parametrize("target", [P4D, LAMBDA, K8S, MANAGED], ids=["aws", "lambda", "kubernetes", "managed"])
def test_skypilot_keeps_the_contract(sky, target, tmp_path):
    check_never_submitted(sky, launch_of(target, run_id="never"), tmp_path)


def test_a_machine_that_skypilot_does_not_know_is_found_and_ended_by_its_label(sky):
    launch = launch_of(P5E, run_id="forgotten")
    started("forgotten", expires_at=datetime.now(tz=UTC))
    other = started("somebody-elses", expires_at=datetime.now(tz=UTC))
    before = sky.verify_down(launch)
    assert not before.down
    assert "1 running" in before.checks[0]
    sky.down(launch)
    after = sky.verify_down(launch)
    assert after.down
    assert "1 terminated" in after.checks[0]
    ec2 = boto3.session.Session().client("ec2", region_name="us-east-2")
    state = ec2.describe_instances(InstanceIds=[other])["Reservations"][0]["Instances"][0]["State"]["Name"]
    assert state == "running"


def test_credentials_that_expired_prove_nothing(sky, world):
    launch = launch_of(P5E, run_id="expired")
    started("expired", expires_at=datetime.now(tz=UTC))
    world.aws.ask("refuse", code="RequestExpired", status=400, after=0)
    for question in (sky.verify_down, sky.down):
        with pytest.raises(NodeError, match=r"the AWS credentials have expired\. Sign in again"):
            question(launch)
    world.aws.ask("reset")
    sky.down(launch)
    assert sky.verify_down(launch).down


def test_leftovers_are_listed_with_an_alarm_where_they_are_late(sky, world):
    now = datetime.now(tz=UTC)
    started("late", expires_at=now - timedelta(hours=1))
    started("early", expires_at=now + timedelta(hours=1))
    lambda_labs = {"name": "pl-bench-fcd1e5cf-head", "region_name": "us-east-1"}
    world.lambda_labs.post("/api/v1/instance-operations/launch", instance_type_name="gpu_8x_h100_sxm5", **lambda_labs)
    labels = {"planner-run": "podded", "planner-expires": f"{now - timedelta(hours=1):%Y%m%dT%H%M%SZ}"}
    meta = {"name": "pl-podded-head", "namespace": "default", "labels": labels}
    world.kubernetes.ask("pod", metadata=meta, status={"phase": "Running"})
    found = {
        leftover.name: leftover
        for leftover in sky.find_leftovers([launch_of(P5E, run_id="a"), launch_of(K8S, run_id="b")])
    }
    assert found["sky-pl-late-head"].alarm
    assert "should have been gone at" in found["sky-pl-late-head"].detail
    assert not found["sky-pl-early-head"].alarm
    assert found["pl-bench-fcd1e5cf-head"].where == "us-east-1"
    assert found["pl-bench-fcd1e5cf-head"].run_id == "bench"
    assert found["pl-podded-head"].alarm
    assert found["pl-podded-head"].run_id == "podded"


def test_a_cloud_that_does_not_answer_is_an_alarm_and_hides_no_other(sky, world):
    started("seen", expires_at=datetime.now(tz=UTC) + timedelta(hours=1))
    world.lambda_labs.ask("refuse", code="global/internal-error", status=500)
    found = sky.find_leftovers([launch_of(P5E, run_id="a"), launch_of(LAMBDA, run_id="b")])
    assert [leftover.where for leftover in found if leftover.alarm and leftover.detail == "could not be asked"] == [
        "Lambda: Lambda answered 500."
    ]
    assert any(leftover.run_id == "seen" for leftover in found)


@pytest.mark.parametrize("target", [K8S, RACK], ids=["kubernetes", "ssh pool"])
def test_a_pod_is_found_and_ended_by_its_label(sky, world, target):
    meta = {"name": "pl-podded-head", "namespace": "default", "labels": {"planner-run": "podded"}}
    world.kubernetes.ask("pod", metadata=meta, status={"phase": "Running"})
    launch = launch_of(target, run_id="podded")
    assert not sky.verify_down(launch).down
    sky.down(launch)
    assert sky.verify_down(launch).down


def test_an_instance_on_lambda_is_found_and_ended_by_its_name(sky, world):
    for name in ("pl-mine-fcd1e5cf-head", "pl-mine-too-fcd1e5cf-head", "somebody-elses"):
        body = {"name": name, "region_name": "us-east-1", "instance_type_name": "gpu_8x_h100_sxm5"}
        world.lambda_labs.post("/api/v1/instance-operations/launch", **body)
    sky.down(launch_of(LAMBDA, run_id="mine"))
    assert sky.verify_down(launch_of(LAMBDA, run_id="mine")).down
    assert not sky.verify_down(launch_of(LAMBDA, run_id="mine-too")).down, "whose name begins with the other's"


def test_a_managed_job_without_a_store_is_refused_before_anything_is_asked(sky):
    with pytest.raises(InputError, match="a managed job's machines are gone when it ends"):
        sky.submit(launch_of(MANAGED, run_id="managed"))


def test_no_secret_reaches_a_log_a_task_or_an_answer(sky, world):
    """Everything that our side wrote; SkyPilot's own home holds its own logs, which are searched too."""
    launch = launch_of(P4D, run_id="canary")
    sky.check(launch)
    sky.down(launch)
    canaries = (world.environment["AWS_SECRET_ACCESS_KEY"], LAMBDA_CANARY, TOKEN_CANARY)
    places = [world.home.parent / "workspace", world.home / ".sky", world.home / "sky_logs"]
    held = subprocess.run(
        [
            "/usr/bin/grep",
            "--recursive",
            "--files-with-matches",
            *(f"--regexp={canary}" for canary in canaries),
            *places,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert [line for line in held.stdout.splitlines() if not line.endswith(".db")] == []
    assert not any(canary in launch.model_dump_json() for canary in canaries)


def test_a_target_without_rsync_here_is_refused_before_anything_is_asked(sky, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="rsync is not on this machine"):
        sky.check(launch_of(P4D, run_id="dry"))
