"""A stand-in for SkyPilot's worker that gives the answers it is told, and machines labelled as SkyPilot labels them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3

from planner.launcher.backends.sky.backend import SkyBackend
from planner.launcher.plan.backend import Launch
from planner.launcher.plan.target import LaunchProvider, Target
from tests.launcher.launches import NOON

STANDIN = """
import json, os, sys
from pathlib import Path
script, asked = Path(os.environ["STANDIN_ANSWERS"]), Path(os.environ["STANDIN_ASKED"])
answers = os.fdopen(int(sys.argv[1]), "w")
for line in sys.stdin:
    question = json.loads(line)
    with asked.open("a") as file:
        file.write(question["do"] + "\\n")
    answer = json.loads(script.read_text())[question["do"]]
    failed = isinstance(answer, dict) and "error" in answer
    answers.write(json.dumps({"id": question["id"], **(answer if failed else {"ok": answer})}) + "\\n")
    answers.flush()
"""
FAILED = {"error": {"type": "CommandError", "message": "it went wrong"}}
NOTHING = {"launch": None, "cluster": None, "job": None}
P5E = Target(
    provider=LaunchProvider.AWS, name="p5e.48xlarge", accelerator="H200-SXM", devices_per_node=8, region="us-east-2"
)
MANAGED = P5E.model_copy(update={"managed": True, "purchase": "spot"})
LAMBDA = Target(provider=LaunchProvider.LAMBDA, name="gpu_8x_h100_sxm5", accelerator="H100-SXM", devices_per_node=8)
Says = Callable[..., SkyBackend]


def cluster(name: str, status: str = "UP", **more: Any) -> dict[str, Any]:
    """Return a cluster in SkyPilot's list."""
    told = {"launched_at": NOON.timestamp(), "autostop_minutes": 10, "to_down": True, "launched": None}
    return {"name": name, "status": status, **told, **more}


def job(launch: Launch, status: str) -> dict[str, Any]:
    """Return a managed job as its controller reports it."""
    return {"name": launch.cluster, "id": 1, "status": status, "recoveries": 0, "reason": "", "cluster": None}


def start(run_id: str, region: str) -> str:
    """Start an instance as SkyPilot labels it; return its id."""
    labels = [{"ResourceType": "instance", "Tags": [{"Key": "planner-run", "Value": run_id}]}]
    ec2 = boto3.session.Session().client("ec2", region_name=region)
    made = ec2.run_instances(
        ImageId="ami-1e749f67", InstanceType="p5e.48xlarge", MinCount=1, MaxCount=1, TagSpecifications=labels
    )
    return str(made["Instances"][0]["InstanceId"])


def state(instance: str, region: str) -> str:
    ec2 = boto3.session.Session().client("ec2", region_name=region)
    return str(ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]["State"]["Name"])
