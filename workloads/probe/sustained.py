"""Clocks and power under products that continue for 20 s or more, and how far their rate falls meanwhile."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

import torch

from ..measure.calibration import rounds_within, seconds_of_group
from ..measure.telemetry import NoTelemetry, Telemetry
from .device_kernels import normal

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
