"""Probes of micro-batches on this node before or after the benchmark; run.sh starts it on one node alone.

`python -m workloads.probe_main search --spec S --folder F --devices N --start B [--share G]` searches, writes S anew
with the micro-batch to take, and leaves F/start-1/probes.json. `... double ...` tries the micro-batch of S and its
double where F/start-1/result.json used under half of the memory: only then can it be told that the batch is too small.
Every probe is a process of its own: a rank that ran out of memory cannot be used again.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Dict, List, Optional, Sequence

from workloads.batch.batch_search import search_micro_batch
from workloads.batch.micro_batch_probe import (
    PROBE_WINDOW,
    ROOM_SHARE,
    ProbeResult,
    failed_probe,
    probe_of,
    used_memory_share,
)
from workloads.contract import failure

LARGEST_MICRO_BATCH = 4096
PATIENCE_S = 600.0
"""For one probe: imports, compilation, slow first steps."""
TAIL_LINES = 15


class ProbingError(Exception):
    """No micro-batch can be told."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Search or double; return 0, or 1 where the benchmark cannot go on."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _end)
    spec = json.loads(options.spec.read_text(encoding="utf-8"))
    try:
        probes = _search(options, spec) if options.what == "search" else _double(options, spec)
    except ProbingError as error:
        print(error, file=sys.stderr)
        return failure.EXIT_FAILED
    if probes:
        _write(options.folder / "start-1" / "probes.json", [dataclasses.asdict(probe) for probe in probes])
    return 0


def sizes(share: Optional[int]) -> List[int]:
    """Return the micro-batches that may be chosen: with a global batch, those that divide each device's share."""
    if share is None:
        return list(range(1, LARGEST_MICRO_BATCH + 1))
    return [size for size in range(1, share + 1) if share % size == 0]


def _search(options: argparse.Namespace, spec: Dict[str, Any]) -> List[ProbeResult]:
    one_fits = False

    def probe(size: int) -> ProbeResult:
        nonlocal one_fits
        outcome = _probe(options, _with(spec, size, options.share), may_die=one_fits)
        one_fits = one_fits or outcome.fits
        return outcome

    search = search_micro_batch(probe, start=options.start, allowed=sizes(options.share))
    if search.chosen is None:
        raise ProbingError(f"{spec['workload']} does not fit this machine even at its smallest micro-batch.")
    print(f"micro-batch {search.chosen} is the smallest within 3 % of the best", flush=True)
    _write(options.spec, {**spec, **_with(spec, search.chosen, options.share)})
    return list(search.probes)


def _double(options: argparse.Namespace, spec: Dict[str, Any]) -> List[ProbeResult]:
    """Return the probes of the micro-batch and its double; none where there is no room, or no such double."""
    with contextlib.suppress(OSError, ValueError, KeyError):
        result = json.loads((options.folder / "start-1" / "result.json").read_text(encoding="utf-8"))
        used = used_memory_share(result["memory"], result["environment"], devices_per_node=result["devices_per_node"])
        size = int(spec["micro_batch"])
        if used is None or used >= ROOM_SHARE or (options.share is not None and options.share % (2 * size)):
            return []
        print(f"under half of the memory was used: is micro-batch {2 * size} faster?", flush=True)
        return [_probe(options, _with(spec, one, options.share), may_die=True) for one in (size, 2 * size)]
    return []


def _with(spec: Dict[str, Any], size: int, share: Optional[int]) -> Dict[str, Any]:
    return {**spec, "micro_batch": size, "grad_accumulation": 1 if share is None else share // size}


def _probe(options: argparse.Namespace, spec: Dict[str, Any], *, may_die: bool) -> ProbeResult:
    """Run a few steps. `may_die`: a run that leaves nothing was too large; otherwise it failed for another reason."""
    folder = options.folder / f"probe-{spec['micro_batch']}"
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "spec.json", {**spec, "window": PROBE_WINDOW, "calibrate": False})
    command = [
        *(sys.executable, "-m", "workloads.node", "--nodes", "1", "--node-rank", "0"),
        *("--main-address", "127.0.0.1", "--local-address", "127.0.0.1", "--main-port", str(_free_port())),
        *("--devices", str(options.devices), "--spec", str(folder / "spec.json"), "--out", str(folder / "result.json")),
    ]
    with (folder / "probe.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        try:
            process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _stop(process)
    outcome = _read(folder / "result.json", spec)
    if outcome is None and not may_die:
        tail = (folder / "probe.log").read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        raise ProbingError("\n".join([f"the probe of micro-batch {spec['micro_batch']} failed:", *tail]))
    outcome = outcome or failed_probe(spec, "it ended without a measurement")
    rate = "" if outcome.samples_per_s is None else f"{outcome.samples_per_s:.4g} samples/s"
    print(
        f"micro-batch {outcome.micro_batch}: {', '.join(part for part in (rate, outcome.refused) if part)}", flush=True
    )
    return outcome


def _read(path: Path, spec: Dict[str, Any]) -> Optional[ProbeResult]:
    """Return what a probe measured; None where it measured nothing for a reason that is not the memory's."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if result["exit_reason"] in (*failure.NOTHING_MEASURED, failure.INTERRUPTED):
        return None
    return probe_of({**result, "spec": spec})


def _stop(process: subprocess.Popen[bytes]) -> None:
    for ask in (process.terminate, process.kill):
        if process.poll() is not None:
            return
        ask()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30.0)


def _end(number: int, frame: Optional[FrameType]) -> None:
    del number, frame
    raise SystemExit(failure.exit_code(failure.INTERRUPTED))


def _write(path: Path, document: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document) + "\n", encoding="utf-8")
    part.replace(path)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="workloads.probe_main", description="Try micro-batches on this node.")
    parser.add_argument("what", choices=("search", "double"))
    parser.add_argument("--spec", type=Path, required=True, help="spec.json; a search writes it anew")
    parser.add_argument("--folder", type=Path, required=True, help="of the run's results")
    parser.add_argument("--devices", type=int, required=True, help="processes on this node")
    parser.add_argument("--start", type=int, default=1, help="micro-batch to begin with")
    parser.add_argument("--share", type=int, default=None, help="global batch / devices, where one is asked for")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
