"""Downloads of what nodes pushed to S3 while they ran: all that is left of a preempted machine."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from planner.errors import MissingExtraError, NodeError
from planner.model.aws_error import explain


def fetch(store: str, run_id: str, into: Path) -> list[Path]:
    """Copy `<store>/<run id>/node-<rank>/...` home: node 0 into `into`, the others below `node-<rank>`.

    Each file is written beside its place and renamed, so a file that stands there is whole. Names that would lead out
    of the folder are refused: whoever may write to the bucket is not trusted with this machine.
    """
    try:
        import boto3
        from botocore.exceptions import BotoCoreError, ClientError
    except ModuleNotFoundError as error:
        raise MissingExtraError("boto3", "launch") from error

    bucket, _, prefix = store.removeprefix("s3://").partition("/")
    root = "/".join([*([prefix.strip("/")] if prefix.strip("/") else []), run_id]) + "/"
    written = []
    try:
        client = boto3.session.Session().client("s3")
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=root):
            for item in page.get("Contents", ()):
                path = _place(item["Key"].removeprefix(root), into)
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_name(path.name + ".part")
                client.download_file(bucket, item["Key"], str(part))
                part.replace(path)
                written.append(path)
    except (BotoCoreError, ClientError) as error:
        problem = explain(error)
        raise NodeError(f"{store}: {problem.reason}.", fix=problem.fix) from error
    return written


def _place(name: str, into: Path) -> Path:
    node, *rest = PurePosixPath(name).parts or ("",)
    if not rest or not node.startswith("node-") or ".." in rest:
        raise NodeError(f"the store holds '{name}', which no node of ours wrote.", fix="Look at it, and remove it.")
    return into.joinpath(*rest) if node == "node-0" else into.joinpath(node, *rest)
