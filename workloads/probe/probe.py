"""Probe: the building blocks of a training step on this machine, each measured by itself, in a minute or two.

`measure/calibration.py` finds the best rates; the probe finds the rates of shapes that trainings have: kernels, one
layer of a decoder (eager, compiled, its launches alone), and products that continue for 20 s or more.
"""

from __future__ import annotations

import json
import statistics
import time
import zlib
from functools import partial
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

import torch
from torch import Tensor

from ..contract.architecture import DecoderShape
from ..measure.agreement import RankAgreement
from ..measure.calibration import rounds_within, seconds_of_group, warm_seconds
from ..measure.telemetry import NoTelemetry, Telemetry
from ..models.decoder import block
from ..models.layers import Block, rope_tables
from ..strategies.precision import PrecisionContexts
from .device_kernels import measure_kernels, normal, supported
from .plan import ON_CPU, ON_CUDA, LayerShape, ProbePlan
from .rows import Rows, TimedCalls
from .transfers import collectives, host_copies, read_folder

BLOCK_S = 1.0
SIZE_ON_CUDA, SIZE_ON_CPU = 8192, 1024
CPU_CLOCKS = "/sys/devices/system/cpu"
ENERGY = "/sys/class/powercap"
TFLOP = 1e12


def sustained(
    seconds: float,
    device: torch.device,
    dtype: torch.dtype,
    watch: Union[Telemetry, NoTelemetry],
) -> Dict[str, Any]:
    """Return the rate of square products in the first and in the last seconds, with clocks and power if available.

    A 16-bit product draws as much power as training does: the data is random and the device is never idle.
    """
    size = SIZE_ON_CUDA if device.type == "cuda" else SIZE_ON_CPU
    left, right = (normal(size, size, device=device, dtype=dtype) for _ in range(2))
    product = torch.empty_like(left)

    def work() -> None:
        torch.mm(left, right, out=product)

    rounds = rounds_within(seconds_of_group(work, device, rounds=1), BLOCK_S)
    energy_before, clocks = _energy_uj(), []
    watch.start()
    start_s = time.perf_counter()
    blocks: List[float] = []
    while time.perf_counter() - start_s < seconds:
        blocks.append(2.0 * size**3 / seconds_of_group(work, device, rounds=rounds) / TFLOP)
        clocks.append(_cpu_mhz() if device.type != "cuda" else None)
    elapsed_s = time.perf_counter() - start_s
    telemetry = watch.stop()
    third = max(1, len(blocks) // 3)
    return {
        "seconds": elapsed_s,
        "first_tflop_per_s": statistics.median(blocks[:third]),
        "last_tflop_per_s": statistics.median(blocks[-third:]),
        **_device_facts(telemetry, device),
        **({} if device.type == "cuda" else _cpu_facts(clocks, energy_before, _energy_uj(), elapsed_s)),
    }


def _device_facts(telemetry: Dict[str, Any], device: torch.device) -> Dict[str, Any]:
    seen = telemetry["devices"][0] if telemetry["devices"] else {}
    return {
        "clock_mhz": seen.get("mean_sm_clock_mhz"),
        "power_w": seen.get("mean_power_w"),
        "power_limit_w": seen.get("power_limit_w"),
        "throttled_share": seen.get("throttled_share"),
        "unknown_because": telemetry["unknown_because"] if device.type == "cuda" else None,
    }


def _cpu_facts(
    clocks: List[Optional[float]], before: Optional[float], after: Optional[float], seconds: float
) -> Dict[str, Any]:
    known = [clock for clock in clocks if clock is not None]
    power_w = (after - before) / 1e6 / seconds if before is not None and after is not None and after > before else None
    missing = [name for name, value in (("clocks", known), ("power", power_w)) if not value]
    return {
        "clock_mhz": statistics.mean(known) if known else None,
        "power_w": power_w,
        "unknown_because": f"this machine shows no {' and no '.join(missing)}" if missing else None,
    }


def _cpu_mhz() -> Optional[float]:
    """Return the mean clock of the processor's cores as Linux reports it."""
    readings = []
    for path in Path(CPU_CLOCKS).glob("cpu[0-9]*/cpufreq/scaling_cur_freq"):
        try:
            readings.append(float(path.read_text()) / 1000.0)
        except (OSError, ValueError):
            return None
    return statistics.mean(readings) if readings else None


def _energy_uj() -> Optional[float]:
    """Return the energy counters of the processor's packages, in microjoules, as Linux reports them."""
    total = None
    for path in Path(ENERGY).glob("intel-rapl:[0-9]*/energy_uj"):
        if path.parent.name.count(":") == 1:
            try:
                total = (total or 0.0) + float(path.read_text())
            except (OSError, ValueError):
                return None
    return total


TOKENS_OF_LAUNCHES = 32
"""Number of tokens that is small enough for the device to wait for the host."""
LAYER_SECONDS = 0.5


def measure_layers(plan: ProbePlan, rows: Rows, device: torch.device, precision: str, *, compiled: bool) -> None:
    """Measure a layer of a middle size. On an accelerator also with so few tokens that only its launches count."""
    layer = plan.products[len(plan.products) // 2]
    sizes = [("layer", max(1, layer.tokens // plan.layer_length), min(plan.layer_length, layer.tokens))]
    if device.type == "cuda":
        sizes.append(("launches", 1, TOKENS_OF_LAUNCHES))
    else:
        rows.leave_out("launches", "on a CPU the host itself computes")
    for kind, batch, length in sizes:
        rows.add(
            kind,
            _numbers(layer, batch, length),
            partial(_layer, layer, batch, length, device, precision, compiled=compiled),
            precision=precision,
            compiled=compiled,
        )


def _numbers(layer: LayerShape, batch: int, length: int) -> Dict[str, int]:
    return {
        "batch": batch,
        "length": length,
        "hidden": layer.hidden,
        "kv_dim": layer.kv_dim,
        "ffn_hidden": layer.ffn_hidden,
        "head_dim": layer.head_dim,
    }


def _layer(
    layer: LayerShape, batch: int, length: int, device: torch.device, precision: str, *, compiled: bool
) -> TimedCalls:
    """Return the seconds of one layer's forward and backward pass. Calls follow each other, as layers do."""
    shape = DecoderShape(
        layers=1, hidden=layer.hidden, heads=layer.hidden // layer.head_dim, kv_heads=layer.kv_dim // layer.head_dim,
        head_dim=layer.head_dim, ffn_hidden=layer.ffn_hidden, mlp="swiglu", norm="rmsnorm", norm_eps=1e-5, bias=False,
        positions="rope", max_positions=length, rope_theta=1e4, qk_norm=False, vocab=8, tied_head=False,
    )  # fmt: skip
    module = block(shape, 0, "none", None)
    assert isinstance(module, Block)
    module.to(device)
    _fill(module)
    if compiled:
        module.compile_body()
    rope = rope_tables(shape, seq_len=length, device=device)
    asked = PrecisionContexts(precision, device)
    inputs = normal(batch, length, layer.hidden, device=device, dtype=asked.low_type or torch.float32, grad=True)
    gradient = torch.randn_like(inputs)

    weights = (inputs, *module.parameters())

    def step() -> None:
        with asked.autocast():
            output: Tensor = module(inputs, rope)
        torch.autograd.grad(output, weights, gradient.to(output.dtype))

    return TimedCalls(warm_seconds(step, device, LAYER_SECONDS), 3)


@torch.no_grad()
def _fill(module: Block) -> None:
    for weight in module.parameters():
        weight.normal_(std=0.02) if weight.dim() > 1 else weight.fill_(1.0)
    module.train()


def probe(
    agreement: RankAgreement,
    watch: Union[Telemetry, NoTelemetry],
    *,
    rank: int,
    world_size: int,
    device: torch.device,
    folder: Optional[str],
    plan: Optional[ProbePlan] = None,
) -> Dict[str, Any]:
    """Return the document of the probe. All ranks call it together.

    Kernels are those of the slowest rank; all ranks measure at the same time, as they do in training. `folder` holds
    data that the first rank reads.
    """
    plan = plan or (ON_CUDA if device.type == "cuda" else ON_CPU)
    start_s = time.perf_counter()
    rows = Rows(max_seconds=plan.max_seconds)
    main = next(name for name in plan.precisions if supported(name, device))
    measure_layers(plan, rows, device, main, compiled=False)
    measure_kernels(plan, rows, device)
    measure_layers(plan, rows, device, main, compiled=True)
    host_copies(plan, rows, device)
    _slowest(rows, agreement)
    collectives(plan, rows, agreement, rank=rank, world_size=world_size, device=device)
    if rank == 0:
        read_folder(folder, rows)
    sustained_facts = sustained(
        plan.sustained_s, device, PrecisionContexts(main, device).low_type or torch.float32, watch
    )
    agreement.wait_for_all()
    return {
        "kernels": rows.kernels,
        "left_out": rows.left_out,
        "sustained": sustained_facts,
        "seconds": time.perf_counter() - start_s,
    }


def _slowest(rows: Rows, agreement: RankAgreement) -> None:
    """Take the slowest rank's seconds if all ranks have the same rows. Otherwise each rank keeps its own."""
    names = json.dumps([[row[key] for key in ("kind", "precision", "kernel", "shape")] for row in rows.kernels])
    digests = agreement.gather_from_ranks(float(zlib.crc32(names.encode())))
    if min(digests) == max(digests):
        slowest = agreement.max_over_ranks([row["seconds"] for row in rows.kernels])
        for row, seconds in zip(rows.kernels, slowest):
            row["seconds"] = seconds
