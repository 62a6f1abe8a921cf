"""Probes micro-batches on this node before or after the benchmark. run.sh starts it on one node alone.

`python -m workloads.micro_batch_main search --spec S --folder F --devices N --start B [--most M] [--share G]` searches,
writes the chosen micro-batch into S, and leaves F/start-1/probes.json. `... double ...` tries the micro-batch of S and
its double if F/start-1/result.json used under half of the memory: this tells whether the batch is too small. Every
probe is a separate process, because a rank that ran out of memory cannot be used again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Dict, List, Optional, Sequence

from .batch.micro_batch_probe import ProbeResult
from .batch.prober import Prober, accumulation_of, allowed_sizes
from .contract import failure
from .ranks.stop import STARTER_GRACE_S, environment_of_child, follow_parent, handle_stop_signals

PATIENCE_S = 600.0
"""Time limit of one probe: imports, compilation, slow first steps."""
NOTHING_MEASURED = (*failure.NOTHING_MEASURED, failure.INTERRUPTED)
TAIL_LINES = 15


class ProbingError(Exception):
    """A probe measured nothing, or no micro-batch fits."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Search or double. Return 0, or 1 if the benchmark cannot continue."""
    options = _parser().parse_args(arguments)
    handle_stop_signals(_end)
    follow_parent()
    spec = json.loads(options.spec.read_text(encoding="utf-8"))
    prober = Prober(
        spec=spec,
        share=options.share,
        run=lambda probe: _run(options, probe),
        failed=ProbingError,
        say=lambda words: print(words, flush=True),
    )
    try:
        probes = _search(options, prober) if options.what == "search" else _double(options, prober)
    except ProbingError as error:
        print(error, file=sys.stderr)
        return failure.EXIT_FAILED
    if probes:
        _write(options.folder / "start-1" / "probes.json", [dataclasses.asdict(probe) for probe in probes])
    return 0


def _search(options: argparse.Namespace, prober: Prober) -> List[ProbeResult]:
    chosen, probes = prober.search(start=options.start, most=options.most, allowed=allowed_sizes(options.share))
    if chosen is None:
        raise ProbingError(f"{prober.spec['workload']} does not fit this machine even at its smallest micro-batch.")
    accumulation = accumulation_of(options.share, chosen)
    _write(options.spec, {**prober.spec, "micro_batch": chosen, "grad_accumulation": accumulation})
    return probes


def _double(options: argparse.Namespace, prober: Prober) -> List[ProbeResult]:
    """Return the probes of the measured micro-batch and its double; none if the run left no readable result."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        return prober.double(json.loads((options.folder / "start-1" / "result.json").read_text(encoding="utf-8")))
    return []


def _run(options: argparse.Namespace, spec: Dict[str, Any]) -> Dict[str, Any]:
    """Run a probe and return its result.json. Raises ProbingError if nothing was measured."""
    folder = options.folder / f"probe-{spec['micro_batch']}"
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "spec.json", spec)
    command = [
        *(sys.executable, "-m", f"{__package__}.node", "--nodes", "1", "--node-rank", "0"),
        *("--main-address", "127.0.0.1", "--local-address", "127.0.0.1", "--main-port", str(_free_port())),
        *("--devices", str(options.devices), "--spec", str(folder / "spec.json"), "--out", str(folder / "result.json")),
    ]
    with (folder / "probe.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment_of_child(os.environ), stdout=log, stderr=subprocess.STDOUT)
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _stop(process)
    result = _read(folder / "result.json")
    if result is None:
        tail = (folder / "probe.log").read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        raise ProbingError("\n".join([f"the probe of micro-batch {spec['micro_batch']} failed:", *tail]))
    return result


def _read(path: Path) -> Optional[Dict[str, Any]]:
    """Return the result of a probe; None if it measured nothing for a reason other than memory."""
    try:
        result: Dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None if result["exit_reason"] in NOTHING_MEASURED else result


def _stop(process: subprocess.Popen[bytes]) -> None:
    for ask in (process.terminate, process.kill):
        if process.poll() is not None:
            return
        ask()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=STARTER_GRACE_S)


def _end(number: int, frame: Optional[FrameType]) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)  # a second one would interrupt the clean-up
    raise SystemExit(failure.exit_code(failure.INTERRUPTED))


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document) + "\n", encoding="utf-8")
    part.replace(path)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workloads.micro_batch_main", description="Try micro-batches on this node.")
    parser.add_argument("what", choices=("search", "double"))
    parser.add_argument("--spec", type=Path, required=True, help="spec.json; a search writes it anew")
    parser.add_argument("--folder", type=Path, required=True, help="of the run's results")
    parser.add_argument("--devices", type=int, required=True, help="processes on this node")
    parser.add_argument("--start", type=int, default=1, help="micro-batch to begin with")
    parser.add_argument("--most", type=int, default=None, help="largest that the memory estimate does not rule out")
    parser.add_argument("--share", type=int, default=None, help="global batch / devices, where one is asked for")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
