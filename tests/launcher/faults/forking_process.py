"""Process that has read Python, boto3 and most of the planner once, and forks the commands: see forks.py."""

from __future__ import annotations

import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

LONGEST_REQUEST = 1 << 16


def read_once() -> None:
    """Import what commands share, and keep botocore's descriptions of AWS.

    stand_in/sitecustomize.py changes other modules as they are imported, so none of those may be among it.
    """
    import boto3
    from botocore import loaders, session

    import planner.cli.main
    import planner.use_cases.plans  # noqa: F401
    from planner.adapters.catalog import load_catalog

    load_catalog()
    session.create_loader = cache(loaders.create_loader)
    boto3.session.Session("a", "b").client("ec2", region_name="us-east-1")
    gc.collect()
    gc.freeze()  # so that a child's collector copies no pages


def serve(control: socket.socket) -> dict[str, Any] | None:
    """Fork a child for each request, and tell its process id and exit code; return the request in the child."""
    with selectors.DefaultSelector() as ready:
        ready.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in ready.select():
                if key.fileobj is control:
                    request, handed, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 3)
                    if not request:
                        return None
                    pid = os.fork()
                    if pid == 0:
                        for number, descriptor in enumerate(handed[1:], start=1):
                            os.dup2(descriptor, number)
                        for descriptor in handed:
                            os.close(descriptor)
                        return dict(json.loads(request))
                    os.close(handed[1])
                    os.close(handed[2])
                    ends = socket.socket(fileno=handed[0])
                    ends.send(str(pid).encode())
                    ready.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, ends))
                else:
                    pid, ends = key.data
                    _, status = os.waitpid(pid, 0)
                    ready.unregister(key.fileobj)
                    os.close(key.fd)
                    with ends:
                        ends.send(str(os.waitstatus_to_exitcode(status)).encode())
    raise AssertionError


def become(request: Mapping[str, Any]) -> None:
    """Run the command as Python would at its start."""
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    sys.modules.pop("sitecustomize", None)
    stand_in = importlib.import_module("sitecustomize")
    for name in stand_in.NAMES & sys.modules.keys():
        assert name == "planner.time_limits", name  # it alone reads its limits, at each call
        stand_in.change(sys.modules[name])
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.argv = ["planner", *request["arguments"]]
    importlib.import_module("planner.cli.main").main()


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as served:
        served.set_inheritable(False)
        read_once()
        asked = serve(served)
    if asked is not None:
        become(asked)
