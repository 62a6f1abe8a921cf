"""A user of the fake AWS who has the policy that we ship, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.servers import Server

POLICY = Path(__file__).parents[2] / "launcher" / "iam" / "aws-policy.json"
NEVER = "1000000000"


def user_keys(iam: Any, name: str, *, without: str | None = None) -> dict[str, str]:
    """Make the user and return the environment that signs as him; `without` takes one right away.

    Of everything but S3 moto asks for a right on the resource `*`, so the roles that the policy names become `*`: that
    SkyPilot asks for no other role is not tested.
    """
    document = json.loads(POLICY.read_text(encoding="utf-8"))
    for statement in document["Statement"]:
        statement["Action"] = [action for action in statement["Action"] if action != without]
        if any(action.startswith("iam:") for action in statement["Action"]):
            statement["Resource"] = "*"
    document["Statement"] = [statement for statement in document["Statement"] if statement["Action"]]
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="planner", PolicyDocument=json.dumps(document))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


def enforce(server: Server, *, after: str = "0") -> None:
    """Let moto check signatures and rights of every request after the given number."""
    server.send("/moto-api/reset-auth", after)
