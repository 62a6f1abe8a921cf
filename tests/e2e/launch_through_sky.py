"""A real `sky launch`, end to end: moto's EC2, a node on loopback, cpu-smoke, the record, the end of the machine.

Opt-in (make test-e2e): it takes minutes and an environment of its own for the node. See docs/launching-clouds.md.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from planner.launcher.backends.sky.backend import SkyBackend
from planner.launcher.collect.node_result import GOOD_EXITS
from planner.launcher.plan.backend import Launch, LaunchPhase
from planner.launcher.plan.bill import TimeCaps
from planner.launcher.plan.target import LaunchProvider, Target
from tests.fakes.aws_network import open_network
from tests.fakes.aws_policy import enforce, user_keys
from tests.fakes.servers import FAKES
from tests.launcher.backends.sky.sky_offline import OfflineClouds, clouds, end_servers
from tests.launcher.launches import launch_of

ROOT = Path(__file__).parents[2]
RUNTIME = Path(os.environ.get("PLANNER_E2E_RUNTIME", ROOT / "build" / "e2e" / "skypilot-runtime"))
REGION = "us-east-1"
ROLE = "skypilot-v1"
BUCKET = "planner-runs"
LAUNCH = (
    f"launch cpu-smoke --on aws/m6i.xlarge --gpus 2 --region {REGION} --usd-per-hour 0.192 --quick --max-minutes 5 "
    "--max-usd 1 --yes --json"
)
NODES_CSV = (
    "id,name,accelerator,accelerators,link,network_gbit_per_s,rated_kw,source,as_of\n"
    "aws/m6i.xlarge,AWS m6i.xlarge,CPU,2,other,,,a test,2026-11-21\n"
)
PATIENCE_S = 900
POLL_S = 3.0
SUDO = """\
#!/bin/sh
# No root on this machine: what only a real node needs is passed over, the rest runs as it is.
while [ $# -gt 0 ]; do
  case "$1" in
    -*) shift ;;
    *=*) export "${1?}"; shift ;;
    *) break ;;
  esac
done
case "$1" in
  sh | bash | test | "[" | true) exec "$@" ;;
esac
exit 0
"""


@dataclass(frozen=True)
class SkyWorld:
    """The clouds, and the home of the node that every instance of the fake EC2 turns out to be."""

    clouds: OfflineClouds
    node: Path
    wheel_hash: str

    def instances(self) -> dict[str, str]:
        """Return the state of every instance, by the run in its label."""
        ec2 = root("ec2", self.clouds.aws.url)
        return {
            {tag["Key"]: tag["Value"] for tag in instance["Tags"]}["planner-run"]: instance["State"]["Name"]
            for reservation in ec2.describe_instances()["Reservations"]
            for instance in reservation["Instances"]
        }


def root(service: str, url: str) -> Any:
    """Return a client that made the world and so may do anything in it."""
    session: Any = boto3.session.Session(
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"], aws_secret_access_key=KEYS["SECRET"]
    )
    return session.client(service, region_name=REGION, endpoint_url=url)


KEYS = {"AWS_ACCESS_KEY_ID": "testing", "SECRET": "testing"}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SkyWorld]:
    """Start the clouds and SkyPilot's API server; return the address where every instance of the fake EC2 is found."""
    folder = tmp_path_factory.mktemp("e2e")
    with clouds(folder) as made:
        furnish(made.aws.url)
        KEYS["AWS_ACCESS_KEY_ID"], KEYS["SECRET"] = administrator(made.aws.url)
        made.aws.ask("role", name=ROLE, credentials=role_credentials(made.aws.url))
        made.environment.update(user_keys(root("iam", made.aws.url), "planner"))
        made.environment["LAMBDA_ENDPOINT_URL"] = made.environment["FAKE_LAMBDA_URL"]
        enforce(made.aws)
        node = folder / "node"
        with running_node(node, made) as port:
            config = {
                "allowed_clouds": ["aws"],
                "aws": {"remote_identity": ROLE, "ssh_proxy_command": f"nc 127.0.0.1 {port}"},
                "jobs": {"controller": {"consolidation_mode": True}},  # else it would be a machine of its own
            }
            (made.home / ".sky" / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
            yield SkyWorld(made, node, wheel_hash(made))


@pytest.fixture
def stage(world: SkyWorld) -> Iterator[SkyWorld]:
    """Start a new node for each test: on a used one SkyPilot would read the jobs of the machine before."""
    make_node_home(world)
    yield world
    end_servers(world.node)
    world.node.rename(world.node.with_name(f"node-{len(list(world.node.parent.glob('node-*')))}"))


def furnish(url: str) -> None:
    """Give moto's network a way out and the role that SkyPilot gives to machines: an account that was used before."""
    iam = root("iam", url)
    open_network(root("ec2", url))
    iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument="{}")
    for right in ("AmazonEC2FullAccess", "AmazonS3FullAccess"):  # as SkyPilot does
        iam.attach_role_policy(RoleName=ROLE, PolicyArn=f"arn:aws:iam::aws:policy/{right}")
    root("s3", url).create_bucket(Bucket=BUCKET)
    iam.create_instance_profile(InstanceProfileName=ROLE)
    iam.add_role_to_instance_profile(InstanceProfileName=ROLE, RoleName=ROLE)


def administrator(url: str) -> tuple[str, str]:
    """Make a user who may do anything, for the test itself once rights are enforced."""
    iam = root("iam", url)
    iam.create_user(UserName="administrator")
    everything = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    iam.put_user_policy(UserName="administrator", PolicyName="all", PolicyDocument=json.dumps(everything))
    key = iam.create_access_key(UserName="administrator")["AccessKey"]
    return key["AccessKeyId"], key["SecretAccessKey"]


def role_credentials(url: str) -> dict[str, str]:
    """Return what the metadata service of a machine with the role hands out."""
    role = root("iam", url).get_role(RoleName=ROLE)["Role"]["Arn"]
    keys = root("sts", url).assume_role(RoleArn=role, RoleSessionName="the-node")["Credentials"]
    given = {"AccessKeyId": keys["AccessKeyId"], "SecretAccessKey": keys["SecretAccessKey"]}
    return given | {"Token": keys["SessionToken"], "Expiration": keys["Expiration"].isoformat(), "Code": "Success"}


def wheel_hash(made: OfflineClouds) -> str:
    """Let SkyPilot build the wheel that it would copy to nodes; return the name by which it knows it again."""
    return asked_of_skypilot("from sky.backends import wheel_utils; print(wheel_utils.build_sky_wheel()[1])", made)


def asked_of_skypilot(program: str, made: OfflineClouds) -> str:
    """Run a line of Python beside SkyPilot, in a process of its own; return the last word that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], env=made.environment, capture_output=True, text=True, check=True
    )
    return done.stdout.split()[-1]


def make_node_home(world: SkyWorld) -> None:
    """Make a home as on SkyPilot's own image: its runtime, uv, and the wheel that this server builds."""
    node = world.node
    for folder in ("bin", ".local/bin", ".sky/wheels"):
        (node / folder).mkdir(parents=True)
    (node / "skypilot-runtime").symlink_to(RUNTIME)
    (node / ".local" / "bin" / "uv").symlink_to(RUNTIME / "bin" / "uv")
    (node / "bin" / "sudo").write_text(SUDO, encoding="utf-8")
    (node / "bin" / "sudo").chmod(0o755)
    for name in (".bashrc", ".bash_profile"):  # a login shell takes the path from /etc/profile
        (node / name).write_text('export PATH="$HOME/bin:$HOME/.local/bin:$PATH"\n', encoding="utf-8")
    (node / ".sky" / "wheels" / "current_sky_wheel_hash").write_text(f"{world.wheel_hash}\n", encoding="utf-8")


@contextlib.contextmanager
def running_node(node: Path, made: OfflineClouds) -> Iterator[int]:
    """Run the node's ssh server; processes in its home belong to no one else and are ended with it."""
    environment = {
        **made.environment,
        "FAKE_NODE_HOME": str(node),
        "FAKE_NODE_PATH": f"{node}/bin:{node}/.local/bin:/usr/local/bin:/usr/bin:/bin",
        "AWS_EC2_METADATA_SERVICE_ENDPOINT": f"{made.aws.url}/",
        "PLANNER_PYTHON": sys.executable,
    }
    constant = "from sky.skylet import constants; print(constants.SKY_REMOTE_RAY_TEMPDIR)"
    ray_folder = Path(asked_of_skypilot(constant, made))  # where Ray keeps its sessions, whatever the node's home
    sessions = set(ray_folder.glob("session_*"))
    with (node.parent / "sshd.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [str(RUNTIME / "bin" / "python"), str(FAKES / "node_sshd.py")],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=environment,
        )
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()
            process.communicate()
            end_servers(node)
            for session in set(ray_folder.glob("session_*")) - sessions:
                shutil.rmtree(session, ignore_errors=True)


def wait_for(what: Any, *, said: str) -> Any:
    """Ask again until there is an answer; the machine decides how long it takes."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        answer = what()
        if answer:
            return answer
        time.sleep(POLL_S)
    raise AssertionError(f"{said} did not happen within {PATIENCE_S} s")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("", id="a cluster"),
        pytest.param(f"--managed --store s3://{BUCKET}/nodes", id="a managed job whose node pushes what it has"),
    ],
)
def test_the_command_line_launches_collects_and_takes_down(stage, tmp_path, options):
    """`planner launch ... --yes` with a cap: bill, ledger, machine, record, teardown, proof."""
    workspace = tmp_path / "workspace"
    (workspace / "hardware").mkdir(parents=True)
    (workspace / "hardware" / "nodes.csv").write_text(NODES_CSV, encoding="utf-8")
    done = planner(stage, f"{LAUNCH} {options} --home {workspace}")
    assert done.returncode == 0, done.stderr
    listed = json.loads(planner(stage, f"launches list --json --home {workspace}").stdout)
    (launch,) = listed["launches"]
    assert (launch["state"], launch["outcome"]) == ("DOWN_VERIFIED", "completed")
    assert stage.instances()[launch["run_id"]] == "terminated"
    record = json.loads(planner(stage, f"runs show latest --home {workspace}").stdout)
    assert record["workload"] == "cpu-smoke"
    assert record["throughput"]["basis"] == "measured"


def test_a_machine_that_everybody_forgot_takes_itself_down(stage, tmp_path, monkeypatch):
    """The client dies after the submission: the job ends, its results can be fetched, the node terminates itself."""
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in stage.clouds.environment.items():
        monkeypatch.setenv(name, value)
    target = Target(
        provider=LaunchProvider.AWS, name="m6i.xlarge", accelerator="CPU", devices_per_node=2, region=REGION
    )
    caps = TimeCaps(max_minutes=5.0, provisioning_minutes=10.0, idle_minutes=1.0)
    launch = launch_of(target, run_id="forgotten", caps=caps, now=datetime.now(tz=UTC))
    submit_and_die(stage, launch, tmp_path)
    backend = SkyBackend(tmp_path / "sky", sky_home=stage.clouds.home)
    try:
        status = wait_for(lambda: over(backend, launch), said="the end of the job")
        assert status.phase is LaunchPhase.SUCCEEDED
        assert status.launched is not None
        assert (status.launched.instance_type, status.launched.region) == ("m6i.xlarge", REGION)
        into = tmp_path / "collected"
        into.mkdir()
        collected = backend.collect(launch, into)
        assert collected.complete
        assert json.loads(collected.results[0].read_text(encoding="utf-8"))["exit_reason"] in GOOD_EXITS
        wait_for(lambda: backend.verify_down(launch).down, said="the node's own shutdown")
        assert stage.instances()["forgotten"] == "terminated"
    finally:
        backend.close()


def over(backend: SkyBackend, launch: Launch) -> Any:
    status = backend.status(launch)
    return status if status.phase.is_over else None


def submit_and_die(stage: SkyWorld, launch: Launch, folder: Path) -> None:
    """Submit in a process of its own, which is killed as soon as it has."""
    path = folder / "launch.json"
    path.write_text(launch.model_dump_json(), encoding="utf-8")
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from launcher.plan.backend import Launch; from launcher.backends.sky.backend import SkyBackend\n"
        "launch = Launch.model_validate_json(Path(sys.argv[1]).read_text(encoding='utf-8'))\n"
        "SkyBackend(Path(sys.argv[2])).submit(launch)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = stage.clouds.environment | {"PYTHONPATH": f"{stage.clouds.environment['PYTHONPATH']}:{ROOT}"}
    died = subprocess.run(
        [sys.executable, "-c", program, str(path), str(folder / "sky")], env=environment, cwd=ROOT, check=False
    )
    assert died.returncode == -signal.SIGKILL


def planner(stage: SkyWorld, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("planner")), *shlex.split(command)],
        env=stage.clouds.environment,
        capture_output=True,
        text=True,
        check=False,
    )
