"""Measures the cost of the benchmark's bookkeeping per step: `workloads.train` and two loops without bookkeeping.

Asserts nothing. All three train the same model on the same data with the same optimizer in one process, alternately
and in changing order, so that a busy machine slows all of them:

  plain      nanoGPT's loop on one device without logging: forward, backward, step
  bare       the same loop with the benchmark's strategy, which adds the cost of DistributedDataParallel
  benchmark  the whole benchmark: decisions, clocks, records and everything else besides the steps

Bookkeeping = benchmark - bare. The whole benchmark should cost under 3 % more than plain on a GPU.
A figure is wall time / steps, so rare work counts too.
A disturbed machine cannot resolve 0.5 % of a long step. So the bookkeeping is also measured in short steps, where it is
a large part, with a decision before every step (as for steps of 0.5 s and more), and compared with the long step.
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

from planner.workloads import train
from planner.workloads.contract.spec import MeasurementWindow, Spec
from planner.workloads.contract.spec_reader import from_json, read, to_json
from planner.workloads.inputs.tokens import POOL_STEPS, Batch, SyntheticTokens
from planner.workloads.measure import window
from planner.workloads.measure.environment import available_cores
from planner.workloads.measure.step_clock import synchronise
from planner.workloads.models.registry import build_on_meta
from planner.workloads.strategies import load
from planner.workloads.strategies.base import BETAS, LEARNING_RATE, WEIGHT_DECAY
from planner.workloads.strategies.precision import PrecisionContexts

TARGET_SHARE = 0.005
WHOLE_TARGET_SHARE = 0.03
REPEATS = 11
STEPS = 8
SHORT_STEPS = 200
WARMUP_STEPS = 3
Times = dict[str, list[float]]
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
"""Spec with about 5.2 M parameters. A step takes 0.2 to 0.5 s on one core."""
SHORT_STEP: dict[str, Any] = LONG_CPU_STEP | {
    "workload": "short-step",
    "architecture": LONG_CPU_STEP["architecture"]
    | {"layers": 1, "hidden": 32, "heads": 1, "kv_heads": 1, "head_dim": 32, "ffn_hidden": 64, "vocab": 64},
    "seq_len": 16,
    "micro_batch": 1,
}
"""Spec with a step of about a millisecond."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measures the cost of the benchmark's own bookkeeping per step.")
    parser.add_argument("spec", nargs="?", type=Path, help="a spec.json of strategy ddp; default: a small GPT")
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    spec = read(options.spec) if options.spec else from_json(LONG_CPU_STEP)
    if spec.strategy != "ddp" or spec.compile or spec.method != "full" or spec.grad_accumulation != 1:
        parser.error("the plain loop is one device's: give a spec of ddp, not compiled, full, without accumulation.")
    device = torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cpu":  # one thread: a neighbour on another core then disturbs least
        torch.set_num_threads(1)
        os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.update(WITHOUT_TORCHRUN)

    long = measured(limited(spec, options.steps), device, options.repeats)
    own_block_s, window.BLOCK_S = window.BLOCK_S, 0.0
    short = measured(limited(from_json(SHORT_STEP), SHORT_STEPS), device, options.repeats)
    window.BLOCK_S = own_block_s
    print(json.dumps(document(spec, device, long, short)))


def measured(spec: Spec, device: torch.device, repeats: int) -> Times:
    """Return each loop's seconds per step in every turn."""
    loops = {"plain": plain_step_s, "bare": bare_step_s, "benchmark": benchmark_step_s}
    for loop in loops.values():  # the first turn also loads libraries
        loop(spec, device)
    times: Times = {name: [] for name in loops}
    for repeat in range(repeats):
        for name in list(loops)[:: 1 if repeat % 2 == 0 else -1]:
            times[name].append(loops[name](spec, device))
        turn = ", ".join(f"{name} {1000 * values[-1]:.3f}" for name, values in times.items())
        print(f"{spec.workload}, turn {repeat + 1}: {turn} ms a step", file=sys.stderr, flush=True)
    return times


def document(spec: Spec, device: torch.device, long: Times, short: Times) -> dict[str, Any]:
    """Return the figures: ratios of medians, and the scatter of the turns, which limits the resolution."""
    medians = {name: statistics.median(values) for name, values in long.items()}
    paired = sorted(own / bare - 1 for own, bare in zip(long["benchmark"], long["bare"], strict=True))
    quarter = len(paired) // 4
    bookkeeping_s = statistics.median(short["benchmark"]) - statistics.median(short["bare"])
    least_bookkeeping_s = min(short["benchmark"]) - min(short["bare"])
    return {
        "schema_version": 1,
        "kind": "overhead",
        "workload": spec.workload,
        "repeats": len(paired),
        "median_step_ms": {name: round(1000 * median, 3) for name, median in medians.items()},
        "fastest_step_ms": {name: round(1000 * min(values), 3) for name, values in long.items()},
        "bookkeeping_share_of_medians": round(medians["benchmark"] / medians["bare"] - 1, 5),
        "bookkeeping_share_of_the_fastest": round(min(long["benchmark"]) / min(long["bare"]) - 1, 5),
        "bookkeeping_share_middle_half_of_turns": [round(paired[quarter], 5), round(paired[-1 - quarter], 5)],
        "benchmark_over_plain_of_medians": round(medians["benchmark"] / medians["plain"], 4),
        "benchmark_over_plain_of_the_fastest": round(min(long["benchmark"]) / min(long["plain"]), 4),
        "strategy_share_of_medians": round(medians["bare"] / medians["plain"] - 1, 5),
        "short_median_step_ms": {name: round(1000 * statistics.median(values), 4) for name, values in short.items()},
        "short_bookkeeping_us": round(1e6 * bookkeeping_s, 1),
        "short_bookkeeping_us_of_the_fastest": round(1e6 * least_bookkeeping_s, 1),
        "bookkeeping_share_of_the_long_step": round(bookkeeping_s / medians["bare"], 6),
        "target_share": TARGET_SHARE,
        "target_whole_share": WHOLE_TARGET_SHARE,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU",
        "cpu_cores": available_cores(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }


def limited(spec: Spec, steps: int) -> Spec:
    """Return the spec with a window that ends after a number of steps, so that all loops do the same work."""
    limits = MeasurementWindow(
        min_warmup_steps=WARMUP_STEPS, min_warmup_s=0.0, max_warmup_s=1e-3, min_steps=steps, min_s=0.0, max_s=1e6
    )
    return replace(spec, window=limits)


def benchmark_step_s(spec: Spec, device: torch.device) -> float:
    """Return the seconds per step in the benchmark: wall time / steps of its window, from its record."""
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
    """Return the seconds per step in a loop without bookkeeping: wall time / steps."""
    precision = PrecisionContexts(spec.precision, device)
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
    """Return the seconds per step of the benchmark's strategy in a loop without bookkeeping."""
    with meeting_place():
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        precision = PrecisionContexts(spec.precision, device)
        precision.set_global_flags()
        strategy = load(spec.strategy)(build_on_meta(spec), spec, precision, device)
        seconds = step_s(lambda batch: strategy.step([batch]), spec, device)
        dist.destroy_process_group()
    return seconds


def step_s(step: Callable[[Batch], object], spec: Spec, device: torch.device) -> float:
    """Warm up, then return wall time / steps of the loop, synchronised only at its start and end."""
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
    """Set the address at which a process group of one process meets, with a free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = int(listener.getsockname()[1])
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    yield


if __name__ == "__main__":
    main()
