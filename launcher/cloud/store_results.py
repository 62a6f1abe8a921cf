"""Downloads of what nodes pushed to S3 while they ran: all that is left of a preempted machine."""

from __future__ import annotations

import re
from pathlib import Path

from launcher.collect.incoming import LARGEST_BYTES, incoming, is_allowed
from planner.errors import MissingExtraError, NodeError
from planner.model.aws_error import explain

OURS = ("job.log",)
"""Written here from SkyPilot's log."""
_NODE = re.compile(r"node-[0-9]{1,5}")


def fetch(store: str, run_id: str, into: Path) -> None:
    """Copy `<store>/<run id>/node-<rank>/...` home: node 0 into `into`, the others below `node-<rank>`.

    What no node of ours would have written is left out: whoever may write to the bucket is not trusted with this
    machine.
    """
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", "launch") from error

    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    root = "/".join([*([prefix.strip("/")] if prefix.strip("/") else []), run_id]) + "/"
    try:
        client = boto3.session.Session().client("s3")
        names: dict[str, list[str]] = {}
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
            for item in page.get("Contents", ()):
                node, _, name = item["Key"].removeprefix(root).partition("/")
                if _NODE.fullmatch(node) and is_allowed(name, own=OURS) and item["Size"] <= LARGEST_BYTES:
                    names.setdefault(node, []).append(name)
        for node, wanted in names.items():
            with incoming(into if node == "node-0" else into / node, own=OURS) as staged:
                for name in wanted:
                    (staged / name).parent.mkdir(parents=True, exist_ok=True)
                    client.download_file(bucket, f"{root}{node}/{name}", str(staged / name))
    except (BotoCoreError, ClientError) as error:
        problem = explain(error)
        raise NodeError(f"{store}: {problem.reason}.", fix=problem.fix) from error
