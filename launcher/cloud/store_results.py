"""Downloads what nodes pushed to S3 while they ran: the only results of a preempted machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.aws_session import aws_session
from planner.launcher.cloud.aws import explained
from planner.launcher.collect.incoming import LARGEST_BYTES, incoming, is_allowed
from planner.time_limits import within

OURS = ("job.log",)
"""Files written here from SkyPilot's log."""
PART = ".part"
"""Suffix of incomplete files. Such names are never taken in."""
_NODE = re.compile(r"node-[0-9]{1,5}")


def fetch(store: str, run_id: str, into: Path) -> None:
    """Copy `<store>/<run id>/node-<rank>/...` home: node 0 into `into`, the others below `node-<rank>`.

    Files that none of our nodes would write are left out: someone who may write to the bucket is not trusted with this
    machine.
    """
    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    root = "/".join([*([prefix.strip("/")] if prefix.strip("/") else []), run_id]) + "/"
    with explained(store):
        client = aws_session().client("s3")
        for node, wanted in within(lambda: _listed(client, bucket, root), who=store).items():
            with incoming(into if node == "node-0" else into / node, own=OURS) as staged:
                within(lambda: _download(client, bucket, f"{root}{node}/", wanted, staged), who=store)  # noqa: B023


def _listed(client: Any, bucket: str, root: str) -> dict[str, list[str]]:
    """Return the names of the files that each node may have pushed."""
    names: dict[str, list[str]] = {}
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
        for item in page.get("Contents", ()):
            node, _, name = item["Key"].removeprefix(root).partition("/")
            if _NODE.fullmatch(node) and is_allowed(name, own=OURS) and item["Size"] <= LARGEST_BYTES:
                names.setdefault(node, []).append(name)
    return names


def _download(client: Any, bucket: str, root: str, names: Sequence[str], into: Path) -> None:
    """Download files one by one. Each gets its final name once it is complete, so that a partial file is left out."""
    from boto3.s3.transfer import TransferConfig

    for name in names:
        place = into / name
        part = place.with_name(PART)
        place.parent.mkdir(parents=True, exist_ok=True)
        client.download_file(bucket, f"{root}{name}", str(part), Config=TransferConfig(use_threads=False))
        part.replace(place)
