"""One node of several: starts torchrun here, and limits the wait for the other nodes.

`python -m workloads.node --nodes 2 --node-rank 0 --main-address A --devices N --spec S --out R`, the same on each node
except for its rank. torchrun begins no program before all nodes are there. If one never comes, this program writes the
record instead.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import List, Optional, Sequence

from .contract import failure
from .contract.result import Record, steps_file
from .contract.spec import SpecError
from .contract.spec_reader import from_json, read_document
from .measure import environment
from .ranks.stop import SIGNALS, environment_of_child, follow_parent, handle_stop_signals

BEGAN_VARIABLE = "WORKLOADS_BEGAN_FILE"
"""Variable with the name of a file that the program on this node touches when it begins."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Run this node's share and return torchrun's exit code."""
    options = _parser().parse_args(arguments)
    follow_parent()
    try:
        document = read_document(options.spec)
        peer_timeout_s = from_json(document, where=options.spec.name).peer_timeout_s
    except SpecError as error:
        print(error, file=sys.stderr)
        return failure.EXIT_FAILED
    _forget_earlier_runs(options.out)
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        began = Path(folder) / "began"
        code = _run(torchrun_command(options, peer_timeout_s), began)
        if began.exists():
            return code
    reason, message = failure.ERROR, f"torchrun ended with code {code} before the program began; its words are above."
    if time.monotonic() - start_s >= peer_timeout_s:
        reason = failure.PEER_MISSING
        message = f"not all of {options.nodes} nodes came within {peer_timeout_s:g} s (peer_timeout_s)."
    if options.node_rank != 0:
        failure.leave_reason(options.out, options.node_rank * options.devices, reason, message)
        return code or failure.EXIT_FAILED
    world_size = options.nodes * options.devices
    record = Record(options.out, rank=0, world_size=world_size, devices_per_node=options.devices)
    record.document.update(spec=document, environment=environment.describe())
    record.close(reason, message)
    print(record.as_line(), flush=True)
    return code or failure.EXIT_FAILED


def torchrun_command(options: argparse.Namespace, peer_timeout_s: float) -> List[str]:
    """Return torchrun's command line on this node."""
    return [
        *(sys.executable, "-m", f"{__package__}.agent"),
        *(f"--nnodes={options.nodes}", f"--node_rank={options.node_rank}", f"--nproc_per_node={options.devices}"),
        *(f"--master_addr={options.main_address}", f"--master_port={options.main_port}"),
        *([f"--local-addr={options.local_address}"] if options.local_address else []),
        f"--rdzv_conf=timeout={max(1, round(peer_timeout_s))}",
        *("-m", f"{__package__}.train", "--spec", str(options.spec), "--out", str(options.out)),
    ]


def _run(command: Sequence[str], began: Path) -> int:
    variables = environment_of_child({**os.environ, BEGAN_VARIABLE: str(began)})
    # A session of its own: signals to this whole group must reach torchrun once, through this process.
    with subprocess.Popen(command, env=variables, start_new_session=True) as torchrun:

        def ask_to_stop(number: int, frame: Optional[FrameType]) -> None:
            del number, frame
            for again in SIGNALS:
                signal.signal(again, signal.SIG_IGN)  # a second one would end torchrun before its ranks
            torchrun.terminate()  # and wait: ranks write their results

        handle_stop_signals(ask_to_stop)
        return torchrun.wait()


def _forget_earlier_runs(out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    for path in (out, steps_file(out), *out.parent.glob(f"{out.name}.rank*.error")):
        path.unlink(missing_ok=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workloads.node", description="Run one node of a training benchmark.")
    parser.add_argument("--nodes", type=int, required=True, help="how many nodes")
    parser.add_argument("--node-rank", type=int, required=True, help="this one's number; 0 writes the result")
    parser.add_argument("--main-address", required=True, help="address of node 0, which all nodes can reach")
    parser.add_argument("--main-port", type=int, default=29500, help="a port that is free there")
    parser.add_argument("--local-address", default="", help="this node's own address, where its name does not resolve")
    parser.add_argument("--devices", type=int, required=True, help="processes on each node: its devices")
    parser.add_argument("--spec", type=Path, required=True, help="what to run: spec.json, the same on each node")
    parser.add_argument("--out", type=Path, required=True, help="where the result goes, on node 0")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
