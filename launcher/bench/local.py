"""Runs a benchmark on this machine: torchrun in its own process group, watched until it ends.

The output goes through a pipe, not straight into a file. So the result, which rank 0 prints last, still arrives when
the disk is full.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from planner import errors
from planner.errors import InputError, MissingExtraError, NodeError
from planner.whole_file import whole_file
from planner.workloads.contract import failure
from planner.workloads.contract.result import steps_file
from planner.workloads.measure.environment import available_cores
from planner.workloads.ranks.stop import STARTER_GRACE_S, environment_of_child

TAIL_LINES = 15
"""Last lines that error messages quote."""
RESULT_START = b'{"schema_version"'
"""Beginning of the line with the result."""
DRAIN_S = 10.0
"""Longest wait for output after torchrun ended. Only a process that outlives torchrun could keep the pipe open."""


class OutputLog:
    """Output of one process and its children."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._result: bytes | None = None
        self._thread: threading.Thread | None = None

    def follow(self, process: subprocess.Popen[bytes]) -> None:
        """Read the process's output in a thread until it ends."""
        assert process.stdout is not None
        self._thread = threading.Thread(target=self._read, args=(process.stdout,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Wait for the end of the output."""
        if self._thread is not None:
            self._thread.join(timeout=DRAIN_S)

    def tail(self) -> list[str]:
        """Return the last `TAIL_LINES` lines."""
        return [line.decode("utf-8", errors="replace").rstrip() for line in self._tail]

    def result(self) -> dict[str, Any] | None:
        """Return the result that was printed last; None if there was none."""
        if self._result is None:
            return None
        with contextlib.suppress(ValueError):
            document = json.loads(self._result)
            if document.get("kind") == "result":
                return dict(document)
        return None

    def _read(self, output: IO[bytes]) -> None:
        file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            file = self.path.open("wb", buffering=0)
        with output:
            for line in output:
                self._tail.append(line)
                if line.startswith(RESULT_START):
                    self._result = line
                if file is not None:
                    with contextlib.suppress(OSError):  # the disk is full: keep reading, or the run would wait for us
                        file.write(line)
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()


SPEC_NAME = "spec.json"
RESULT_NAME = "result.json"
LOG_NAME = "torchrun.log"

POLL_S = 0.2

Progress = Callable[[dict[str, object]], None]


def run_local(
    spec: Mapping[str, object],
    *,
    devices_per_node: int,
    work_dir: Path,
    on_progress: Progress | None = None,
    timeout_s: float = 1800.0,
) -> dict[str, object]:
    """Run the spec here with one process per device. Return result.json with `phases.launch_s` added.

    `launch_s` runs from starting torchrun to the first line of rank 0's program. `on_progress` gets each line of the
    steps file. A run that ran out of memory or time, or whose numbers overflowed, is returned like any other, with that
    in its `exit_reason`. Raises NodeError with the run's own reason if nothing was measured.
    """
    check_machine(devices_per_node)
    work_dir = work_dir.resolve()
    out = work_dir / RESULT_NAME
    if out.exists() or steps_file(out).exists():
        raise InputError(f"{work_dir} already holds a run.", fix="Give every run a folder of its own.")
    work_dir.mkdir(parents=True, exist_ok=True)
    spec_path = work_dir / SPEC_NAME
    with whole_file(spec_path) as file:
        file.write(json.dumps(dict(spec), indent=2).encode() + b"\n")

    log = OutputLog(work_dir / LOG_NAME)
    started_unix_s = time.time()
    process = subprocess.Popen(
        torchrun_command(devices_per_node=devices_per_node, spec_path=spec_path, out=out),
        env=node_environment(os.environ, devices_per_node=devices_per_node),
        cwd=work_dir,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    log.follow(process)
    timed_out = _watch(process, steps_file(out), on_progress, timeout_s)
    log.wait()
    return _read_result(
        out,
        log,
        started_unix_s=started_unix_s,
        timeout_s=timeout_s if timed_out else None,
        code=process.returncode,
    )


def torchrun_command(*, devices_per_node: int, spec_path: Path, out: Path) -> list[str]:
    """Return the command of a run on one machine. Ranks meet at 127.0.0.1, whatever the host is called."""
    launcher = [sys.executable, "-m", "planner.workloads.agent", "--standalone", "--local-addr", "127.0.0.1"]
    program = ["-m", "planner.workloads.train", "--spec", str(spec_path), "--out", str(out)]
    return [*launcher, f"--nproc_per_node={devices_per_node}", *program]


def node_environment(variables: Mapping[str, str], *, devices_per_node: int) -> dict[str, str]:
    """Return the environment of the run: the folder of `planner` on the path, and cores shared among ranks.

    The run ends together with this process, however that ends.
    """
    environment = environment_of_child(variables)
    known = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(Path(errors.__file__).resolve().parents[1]), *([known] if known else [])]
    )
    # Without it torchrun would give every rank one thread.
    environment.setdefault("OMP_NUM_THREADS", str(max(1, available_cores() // devices_per_node)))
    loopback = next((name for _, name in socket.if_nameindex() if name in ("lo", "lo0")), None)
    if loopback is not None:
        environment.setdefault("GLOO_SOCKET_IFNAME", loopback)  # otherwise gloo looks up this host's name
    return environment


def cuda_devices() -> int:
    """Return the number of CUDA devices that torch sees here. Raises MissingExtraError if torch is missing."""
    if importlib.util.find_spec("torch") is None:
        raise MissingExtraError("torch", "bench")
    import torch  # takes a second to import

    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def cuda_device_name() -> str | None:
    """Return the driver's name of the first CUDA device; None without one."""
    if cuda_devices() == 0:
        return None
    import torch

    return torch.cuda.get_device_name()


def check_machine(devices_per_node: int) -> None:
    """Refuse more devices than this machine has. A CPU takes any number of processes."""
    if devices_per_node < 1:
        raise InputError(f"devices per node is {devices_per_node}.", fix="It must be 1 or more.")
    visible = cuda_devices()
    if 0 < visible < devices_per_node:
        raise InputError(
            f"the run wants {devices_per_node} devices and this machine has {visible} CUDA devices.",
            fix=f"Ask for {visible} or fewer.",
        )


def _watch(process: subprocess.Popen[bytes], steps: Path, on_progress: Progress | None, timeout_s: float) -> bool:
    """Wait for the end and pass steps on. Return whether the time ran out. Leaves no process behind."""
    deadline_s = time.monotonic() + timeout_s
    read_bytes = 0
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=POLL_S)
            if on_progress is not None:
                read_bytes = _pass_on(steps, read_bytes, on_progress)
            if process.returncode is not None:
                return False
            if time.monotonic() > deadline_s:
                return True
    finally:
        _stop(process)


def _pass_on(steps: Path, read_bytes: int, on_progress: Progress) -> int:
    """Report the complete lines that are new since `read_bytes`. Return the position reached."""
    if not steps.exists():
        return read_bytes
    with steps.open("rb") as file:
        file.seek(read_bytes)
        fresh = file.read()
    whole = fresh[: fresh.rfind(b"\n") + 1]
    for line in whole.splitlines():
        on_progress(json.loads(line))
    return read_bytes + len(whole)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Send SIGTERM to torchrun, so that ranks write their results; kill it after a grace period. When torchrun
    ends, its ranks end.
    """
    for number, patience_s in ((signal.SIGTERM, STARTER_GRACE_S), (signal.SIGKILL, None)):
        if process.poll() is not None:
            return
        os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience_s)


def _read_result(
    out: Path, log: OutputLog, *, started_unix_s: float, timeout_s: float | None, code: int
) -> dict[str, object]:
    document = json.loads(out.read_text(encoding="utf-8")) if out.exists() else log.result()
    if document is None:
        raise NodeError(_why(out, log, timeout_s=timeout_s, code=code), fix=f"The whole log is in {log.path}.")
    if document["exit_reason"] == failure.DEVICE_BUSY:
        raise InputError(f"the benchmark did not start: {document['error']}")
    if document["exit_reason"] in failure.NOTHING_MEASURED:
        raise NodeError(f"the benchmark failed: {document['error']}", fix=f"The whole log is in {log.path}.")
    program_started_s = datetime.fromisoformat(document["started_at"]).timestamp()
    document["phases"] = {"launch_s": max(0.0, program_started_s - started_unix_s), **document["phases"]}
    return dict(document)


def _why(out: Path, log: OutputLog, *, timeout_s: float | None, code: int) -> str:
    if timeout_s is not None:
        return f"the benchmark was stopped after {timeout_s:g} s and left no result."
    reason = failure.first_reason(out)
    if reason is not None:
        return f"the benchmark failed: {reason[1]}"
    return "\n".join([f"the benchmark ended with code {code} and left no result. Its last lines:", *log.tail()])
