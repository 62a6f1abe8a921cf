"""What the benchmark's own bookkeeping costs a step: `workloads.train` beside two loops without it. Asserts nothing.

All three train the same model on the same data with the same optimizer in this one process, in turn and in changing
order, so that a busy machine slows all of them:

  plain      nanoGPT's loop on one device without its logging: forward, backward, step
  bare       the same loop around the benchmark's strategy: what DistributedDataParallel costs on top, with one process
  benchmark  the benchmark whole, as its record says: decisions, clocks, records, whatever else runs beside the steps

Bookkeeping = benchmark / bare - 1. A turn's figure is wall / steps, so what is done only now and then counts too.
The last line of stdout is one JSON document.  Run: python benchmarks/overhead.py [SPEC.json] [--repeats N] [--steps N]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from workloads import train
from workloads.data import POOL_STEPS, Batch, SyntheticTokens
from workloads.environment import available_cores
from workloads.models import build_on_meta
from workloads.precision import Precision
from workloads.spec import Spec, Window, from_json, read, to_json
from workloads.step_clock import synchronise
from workloads.strategies import load
from workloads.strategies.base import BETAS, LEARNING_RATE, WEIGHT_DECAY

TARGET_SHARE = 0.005
REPEATS = 11
WARMUP_STEPS = 3
STEPS = 15
WITHOUT_TORCHRUN = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"}

LONG_CPU_STEP: dict[str, Any] = {
    "schema_version": 1,
    "kind": "spec",
    "workload": "long-cpu-step",
    "architecture": {
        "layers": 4,
        "hidden": 256,
        "heads": 4,
        "kv_heads": 4,
        "head_dim": 64,
        "ffn_hidden": 1024,
        "mlp": "gelu",
        "norm": "rmsnorm",
        "norm_eps": 1e-5,
        "bias": False,
        "positions": "learned",
        "max_positions": 256,
        "rope_theta": 10000.0,
        "qk_norm": False,
        "vocab": 4096,
        "tied_head": False,
    },
    "seq_len": 256,
    "micro_batch": 4,
    "grad_accumulation": 1,
    "strategy": "ddp",
    "precision": "fp32",
    "seed": 0,
    "window": {
        "min_warmup_steps": 1,
        "min_warmup_s": 0.0,
        "max_warmup_s": 1.0,
        "min_steps": 1,
        "min_s": 0.0,
        "max_s": 1.0,
    },
}
"""About 5.2 M parameters; a step takes 0.1 to 1 s on two to eight cores."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What the benchmark's own bookkeeping costs a step.")
    parser.add_argument("spec", nargs="?", type=Path, help="a spec.json of strategy ddp; default: a small GPT")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    spec = limited(read(options.spec) if options.spec else from_json(LONG_CPU_STEP), options.steps)
    if spec.strategy != "ddp" or spec.compile or spec.method != "full" or spec.grad_accumulation != 1:
        parser.error("the plain loop is one device's: give a spec of ddp, not compiled, full, without accumulation.")
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cpu":
        torch.set_num_threads(available_cores())
        os.environ["OMP_NUM_THREADS"] = str(available_cores())
    os.environ.update(WITHOUT_TORCHRUN)

    loops = {"plain": plain_step_s, "bare": bare_step_s, "benchmark": benchmark_step_s}
    for loop in loops.values():  # the first turn also loads libraries
        loop(spec, device)
    times: dict[str, list[float]] = {name: [] for name in loops}
    for repeat in range(options.repeats):
        for name in list(loops)[:: 1 if repeat % 2 == 0 else -1]:
            times[name].append(loops[name](spec, device))
            print(f"turn {repeat + 1}: {name:10} {1000 * times[name][-1]:.3f} ms a step", file=sys.stderr, flush=True)
    print(json.dumps(document(spec, device, times)))


def document(spec: Spec, device: torch.device, times: dict[str, list[float]]) -> dict[str, Any]:
    """Return the figures: the ratio of medians, and how far the turns scatter, which is what can be told apart."""
    medians = {name: statistics.median(values) for name, values in times.items()}
    paired = sorted(own / bare - 1 for own, bare in zip(times["benchmark"], times["bare"], strict=True))
    quarter = len(paired) // 4
    return {
        "schema_version": 1,
        "kind": "overhead",
        "workload": spec.workload,
        "repeats": len(paired),
        "steps_per_repeat": spec.window.min_steps,
        "median_step_ms": {name: round(1000 * median, 3) for name, median in medians.items()},
        "fastest_step_ms": {name: round(1000 * min(values), 3) for name, values in times.items()},
        "bookkeeping_share": round(medians["benchmark"] / medians["bare"] - 1, 5),
        "bookkeeping_share_of_the_fastest": round(min(times["benchmark"]) / min(times["bare"]) - 1, 5),
        "bookkeeping_share_middle_half": [round(paired[quarter], 5), round(paired[-1 - quarter], 5)],
        "strategy_share": round(medians["bare"] / medians["plain"] - 1, 5),
        "target_share": TARGET_SHARE,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "cpu_cores": available_cores(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def limited(spec: Spec, steps: int) -> Spec:
    """Return the spec with a window of so many steps: bounded by steps alone, so that both loops do the same work."""
    window = Window(
        min_warmup_steps=WARMUP_STEPS, min_warmup_s=0.0, max_warmup_s=1e-3, min_steps=steps, min_s=0.0, max_s=1e6
    )
    return replace(spec, window=window)


def benchmark_step_s(spec: Spec, device: torch.device) -> float:
    """Return the seconds of a step in the benchmark: its window's wall / steps, as its record says."""
    del device
    with meeting_place(), tempfile.TemporaryDirectory() as folder:
        spec_path, out = Path(folder, "spec.json"), Path(folder, "result.json")
        spec_path.write_text(json.dumps(to_json(spec)), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):  # it prints its record
            train.main(["--spec", str(spec_path), "--out", str(out)])
        result = json.loads(out.read_text(encoding="utf-8"))
    if result["steps"] != spec.window.min_steps:
        raise SystemExit(f"the benchmark ended with {result['exit_reason']}: {result['error']}")
    return float(result["window_s"]) / int(result["steps"])


def plain_step_s(spec: Spec, device: torch.device) -> float:
    """Return the seconds of a step in a loop that keeps no books: wall / steps."""
    precision = Precision(spec.precision, device)
    precision.set_global_flags()
    model = build_on_meta(spec)
    model.to_empty(device=device)
    model.init_weights(spec.seed)
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=LEARNING_RATE, betas=BETAS, weight_decay=WEIGHT_DECAY, fused=device.type == "cuda"
    )

    def step(batch: Batch) -> None:
        with precision.autocast():
            loss = model(*batch)
        precision.scaler.scale(loss).backward()
        precision.scaler.step(optimizer)
        precision.scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step_s(step, spec, device)


def bare_step_s(spec: Spec, device: torch.device) -> float:
    """Return the seconds of a step of the benchmark's strategy in a loop that keeps no books."""
    with meeting_place():
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        precision = Precision(spec.precision, device)
        precision.set_global_flags()
        strategy = load(spec.strategy)(build_on_meta(spec), spec, precision, device)
        seconds = step_s(lambda batch: strategy.step([batch]), spec, device)
        dist.destroy_process_group()
    return seconds


def step_s(step: Callable[[Batch], object], spec: Spec, device: torch.device) -> float:
    """Warm up, then return wall / steps of the loop; synchronised at its two edges only."""
    data = SyntheticTokens(spec, rank=0, world_size=1, device=device)
    batches = [data.micro_batches(number)[0] for number in range(POOL_STEPS)]
    for number in range(WARMUP_STEPS):
        step(batches[number % POOL_STEPS])
    synchronise(device)
    start_s = time.perf_counter()
    for number in range(WARMUP_STEPS, WARMUP_STEPS + spec.window.min_steps):
        step(batches[number % POOL_STEPS])
    synchronise(device)
    return (time.perf_counter() - start_s) / spec.window.min_steps


@contextlib.contextmanager
def meeting_place() -> Iterator[None]:
    """Say where a process group of one meets; a port that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    yield


if __name__ == "__main__":
    main()
