"""Uploads a run's folder to S3 while it runs, so that a preempted machine leaves its results.

`python -m workloads.push --folder F --to s3://bucket/prefix --every 60` pushes once at the start, then every 60 s what
has changed, and once more when it is asked to stop (SIGTERM, also sent when run.sh is gone). It needs boto3, and uses
the machine's own role or the credentials that boto3 finds; it is given none. Exit code 1 means that the last push
failed.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, Optional, Sequence, Tuple

from .ranks.stop import follow_parent, handle_stop_signals


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Push until asked to stop."""
    parser = argparse.ArgumentParser(prog="workloads.push", description="Push a folder to S3 while it grows.")
    parser.add_argument("--folder", type=Path, required=True, help="what is pushed")
    parser.add_argument("--to", required=True, help="s3://bucket/prefix")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between two pushes")
    options = parser.parse_args(arguments)
    stop = threading.Event()
    handle_stop_signals(lambda _number, _frame: stop.set())
    follow_parent()

    import boto3

    client = boto3.client("s3")
    pushed: Dict[str, Tuple[int, int]] = {}
    while True:
        last = stop.is_set()
        try:
            push_changes(client, options.folder, options.to, pushed)
            failed = False
        except Exception as error:  # noqa: BLE001  (a refused push must not end a run that is measuring)
            print(f"push to {options.to} failed: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            failed = True
        if last:
            return 1 if failed else 0
        next_s = time.monotonic() + options.every
        while not stop.is_set() and time.monotonic() < next_s:
            stop.wait(1.0)  # a signal that another thread receives does not wake this one


def push_changes(client: Any, folder: Path, to: str, pushed: Dict[str, Tuple[int, int]]) -> int:
    """Push files whose size or time has changed since they were `pushed`. Return how many."""
    bucket, _, prefix = to[len("s3://") :].partition("/")
    count = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.endswith(".part"):
            continue
        name = path.relative_to(folder).as_posix()
        state = (path.stat().st_size, path.stat().st_mtime_ns)
        if pushed.get(name) != state:
            client.upload_file(str(path), bucket, "/".join(part for part in (prefix.strip("/"), name) if part))
            pushed[name] = state
            count += 1
    return count


if __name__ == "__main__":
    raise SystemExit(main())
