"""World of one row: a workspace, the real command line in its own processes, fake clouds, a host and their bill."""

from __future__ import annotations

import json
import os
import signal
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.errors import StoreError
from planner.launcher.drive.gone import witness_in
from planner.launcher.ledger.entry import LedgerEntry, State
from planner.launcher.ledger.ledger import Ledger
from tests.fakes.servers import AWS_KEYS, Server
from tests.launcher.conftest import good_result
from tests.launcher.faults.forks import ForkedCommand, Forks
from tests.launcher.faults.sky_server import SkyServer
from tests.launcher.loopback_ssh import Sshd

ROOT = Path(__file__).parents[3]
STAND_IN = Path(__file__).parent / "stand_in"
USD_PER_HOUR = {"p4d.24xlarge": 21.96, "p5.48xlarge": 55.04, "gpu_8x_h100_sxm5": 31.92}
UNSEEN_HOURS = 24.0
"""Billed time in the table for a machine that nothing ends: until a person looks at the console."""
LAMBDA_KEY = "lambda-key-of-the-fake"
AMI = "ami-1e749f67"
QUICK = {
    "planner.use_cases.launching.launches:SKY_POLL_S": 0.1,
    "planner.use_cases.launching.launches:DIRECT_POLL_S": 0.2,
    "planner.launcher.drive.gone:ORPHAN_GRACE": 0.5,
    "planner.launcher.drive.gone:SETTLED_AFTER_S": 1.0,
    "planner.launcher.ledger.ledger_file:BUSY_TIMEOUT_S": 0.5,
    "planner.launcher.drive.steps:COLLECT_PATIENCE": 1.0,
}
"""Waits in seconds, so that a row takes no longer than its processes need to start."""
LAUNCH = ("launch", "gpt-305m", "--max-usd", "200", "--yes")
P4D = ("--on", "aws/p4d.24xlarge", "--region", "us-east-1")
H100_AT_LAMBDA = ("--on", "lambda/gpu_8x_h100_sxm5")


def kept_environment() -> dict[str, str]:
    """Return the variables that every process needs."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ}


@dataclass(frozen=True)
class Done:
    """Outcome of a command."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Its --json document."""
        return dict(json.loads(self.out))


@dataclass
class WorldMachine:
    """A machine that a fake cloud started."""

    id: str
    cloud: str
    region: str
    kind: str
    cluster: str
    labels: Mapping[str, str]
    own_cap: bool
    """True if it ends by itself: by a shutdown that was set at its boot, or by autostop."""


@dataclass
class WorldOfFaults:
    """One row of the table."""

    folder: Path
    aws: Server
    lambda_labs: Server
    sshd: Sshd
    sky: SkyServer
    sky_url: str
    clients: Any
    """Returns boto3's client of EC2 in a region, with keys that may do anything."""
    forks: Forks
    """Starts the commands."""
    machines: list[WorldMachine] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=lambda: dict(QUICK))
    result: bytes = b""
    """The result.json that the node leaves."""
    lambda_key: str = LAMBDA_KEY
    """Settings with which SkyPilot starts machines there."""
    ids: list[str] = field(default_factory=list)
    """Ids of launches that the ledger does not know any more."""

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True)
        self.result = self.result or json.dumps(good_result()).encode()
        key_file = self.folder / ".lambda_cloud" / "lambda_keys"
        key_file.parent.mkdir()
        key_file.write_text(f"api_key = {LAMBDA_KEY}\n", encoding="utf-8")
        self.environment = {
            **kept_environment(),
            **AWS_KEYS,
            "HOME": str(self.folder),
            "PLANNER_HOME": str(self.home),
            "AWS_ENDPOINT_URL": self.aws.url,
            "LAMBDA_ENDPOINT_URL": f"{self.lambda_labs.url}/api/v1",
            "FAKE_SKY_URL": self.sky_url,
            "PYTHONPATH": os.pathsep.join([str(STAND_IN), str(ROOT)]),
            "AWS_MAX_ATTEMPTS": "1",
            "NO_COLOR": "1",
            "OMP_NUM_THREADS": "1",
        }

    @property
    def home(self) -> Path:
        """The workspace."""
        return self.folder / "workspace"

    def fault_settings(self) -> dict[str, str]:
        """Return the waits of this row, as stand_in/sitecustomize.py reads them."""
        return {"FAULT_SETTINGS": json.dumps(self.settings)}

    def begin(self, *arguments: str, at: str = "", does: str = "kill", **environment: str) -> ForkedCommand:
        """Start a command; `does` (stand_in/sitecustomize.py) is done to it at a state of the ledger or at a call."""
        settings = self.fault_settings() | {"FAULT_AT": at, "FAULT_DOES": does}
        return self.forks.begin(*arguments, environment=self.environment | settings | environment, folder=self.folder)

    def cli(self, *arguments: str, at: str = "", does: str = "kill", **environment: str) -> Done:
        """Run a command to its end, or until it is killed at a state of the ledger or at a call."""
        process = self.begin(*arguments, at=at, does=does, **environment)
        out, err = process.communicate(timeout=120)
        killed = {"kill": -signal.SIGKILL, "term": -signal.SIGTERM}.get(does) if at else None
        assert killed in (None, process.returncode), f"was not killed at {at}:\n{err}"
        return Done(process.returncode, out, err)

    def launch(
        self, *options: str, on: tuple[str, ...] = P4D, at: str = "", does: str = "kill", **environment: str
    ) -> Done:
        """Launch a benchmark that may cost a lot, and say yes."""
        return self.cli(*LAUNCH, *on, *options, at=at, does=does, **environment)

    def entries(self) -> list[LedgerEntry]:
        """Return what the ledger knows; nothing where there is none that can be read."""
        path = self.home / "ledger.sqlite"
        try:
            return Ledger(path).entries() if path.is_file() else []
        except StoreError:
            return []

    def proofs(self) -> set[str]:
        """Return by what the launches that are over were proven gone, as their ledger says."""
        over = [entry.launch.run_id for entry in self.entries() if not entry.open]
        ledger = Ledger(self.home / "ledger.sqlite") if over else None
        proofs = [
            next(event.text for event in reversed(ledger.events(run_id)) if event.kind == State.DOWN_VERIFIED)
            for run_id in over
            if ledger is not None
        ]
        return {witness_in(text) or text for text in proofs}

    def entry(self) -> LedgerEntry:
        """Return the only launch."""
        (entry,) = self.entries()
        return entry

    def start(
        self,
        cloud: str,
        kind: str,
        *,
        region: str,
        cluster: str,
        labels: Mapping[str, str],
        settings: list[str],
        autostop: bool,
        named: bool = True,
    ) -> str:
        """Start a machine in a fake cloud, as SkyPilot does; return its id."""
        told = any("post_provision_runcmd" in setting and "shutdown" in setting for setting in settings)
        name = f"{cluster}-0a1b2c3d-head"
        if cloud == "aws":
            own = {"Name": name, "skypilot-cluster-name": name.removesuffix("-head")} if named else {}
            tags = [{"Key": key, "Value": value} for key, value in {**labels, **own, "free": "to use"}.items()]
            answer = self.clients(region).run_instances(
                ImageId=AMI, InstanceType=kind, MinCount=1, MaxCount=1,
                TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
            )  # fmt: skip
            machine_id = answer["Instances"][0]["InstanceId"]
        else:
            body = {"name": name if labels else "a-box", "region_name": region, "instance_type_name": kind}
            machine_id = self._lambda("/instance-operations/launch", body)["instance_ids"][0]
        self.machines.append(WorldMachine(machine_id, cloud, region, kind, cluster, labels, own_cap=told or autostop))
        return str(machine_id)

    def end(self, machine_id: str) -> None:
        """End a machine of a fake cloud."""
        machine = next(machine for machine in self.machines if machine.id == machine_id)
        if machine.cloud == "aws":
            self.clients(machine.region).terminate_instances(InstanceIds=[machine_id])
        else:
            self._lambda("/instance-operations/terminate", {"instance_ids": [machine_id]})

    def gone(self, machine_id: str) -> bool:
        """Return whether the cloud bills nothing more for a machine."""
        machine = next(machine for machine in self.machines if machine.id == machine_id)
        return machine not in self.alive()

    def alive(self) -> list[WorldMachine]:
        """Return the machines that a fake cloud still bills, asked of the clouds themselves."""
        running: set[str] = set()
        for region in {machine.region for machine in self.machines if machine.cloud == "aws"}:
            ids = [machine.id for machine in self.machines if (machine.cloud, machine.region) == ("aws", region)]
            answer = self.clients(region).describe_instances(InstanceIds=ids)
            running |= {
                instance["InstanceId"]
                for reservation in answer["Reservations"]
                for instance in reservation["Instances"]
                if instance["State"]["Name"] not in ("terminated", "shutting-down")
            }
        if any(machine.cloud == "lambda" for machine in self.machines):
            running |= set(self.lambda_labs.ask("instances"))
        return [machine for machine in self.machines if machine.id in running]

    def lost_usd(self) -> float:
        """Return the bill of machines that nothing ends, until a person looks at the console."""
        return sum(USD_PER_HOUR[machine.kind] * UNSEEN_HOURS for machine in self.alive() if not machine.own_cap)

    def clean(self) -> None:
        """End everything that a row left."""
        self.aws.ask("reset")
        self.lambda_labs.ask("accept")
        self.lambda_labs.ask("keep", names=[])
        self.lambda_labs.ask("paged", size=None)
        for machine in self.alive():
            self.end(machine.id)

    def leave_results(self, run_id: str) -> None:
        """Put a good result where the node would."""
        place = self.node / "planner-results" / run_id / "start-1"
        place.mkdir(parents=True, exist_ok=True)
        (place / "result.json").write_bytes(self.result)

    @property
    def node(self) -> Path:
        """The home of the node, the loopback host's."""
        return self.sshd.folder / "home"

    def _lambda(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.lambda_key}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.lambda_labs.url}/api/v1{path}", data=json.dumps(body).encode(), headers=headers
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]
