"""Telemetry of this node's devices during the window: energy, power, clocks, temperature, throttling.

Uses NVIDIA's library (pip install nvidia-ml-py; optional: without it everything is null, with the reason). One thread
on the node's first rank reads all devices of the node and sleeps between readings.
"""

from __future__ import annotations

import contextlib
import importlib
import statistics
import threading
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

INTERVAL_S = 0.2
MIN_ENERGY_WINDOW_S = 10.0
"""Shortest window for the energy counter. It moves in steps of tens of milliseconds: under 1 % over 10 s."""
COUNTER, MEAN_POWER = "counter", "mean power"
"""Sources of the energy figure: the device's own counter, or mean power x seconds."""

# Bits of nvmlDeviceGetCurrentClocksThrottleReasons; source: nvml.h, NvmlClocksThrottleReasons.
THROTTLE_BITS = {
    "power_cap": 0x4,
    "hw_slowdown": 0x8,
    "sw_thermal": 0x20,
    "hw_thermal": 0x40,
    "hw_power_brake": 0x80,
}
HELD_BACK_BY_BITS = sum(THROTTLE_BITS.values())

Facts = Dict[str, Any]
Sample = Dict[str, float]


def unknown(reason: str) -> Facts:
    """Return the document of a run without telemetry."""
    return {"unknown_because": reason, "energy_j": None, "energy_from": None, "devices": []}


class NoTelemetry:
    """Stand-in that has nothing to watch, and says why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def start(self) -> None:
        """Do nothing."""

    def stop(self) -> Facts:
        """Return the reason."""
        return unknown(self._reason)


class Telemetry:
    """Watches devices between `start` and `stop`. `nvml` is the module pynvml, or a substitute."""

    def __init__(self, nvml: Any, uuids: Sequence[str], *, interval_s: float = INTERVAL_S) -> None:
        self._nvml, self._interval_s = nvml, interval_s
        self._handles = [nvml.nvmlDeviceGetHandleByUUID(uuid) for uuid in uuids]
        self._processes = [0 for _ in self._handles]
        self._samples: List[List[Sample]] = [[] for _ in self._handles]
        self._not_told: List[Set[str]] = [set() for _ in self._handles]
        self._enough = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin, just before the window."""
        self._count_processes()
        self._energy_before_mj = [self._energy_mj(handle) for handle in self._handles]
        self._start_s = time.perf_counter()
        self._thread.start()

    def stop(self) -> Facts:
        """End, just after the window, and return the figures."""
        seconds = time.perf_counter() - self._start_s
        after_mj = [self._energy_mj(handle) for handle in self._handles]
        self._enough.set()
        self._thread.join(timeout=5.0)
        self._count_processes()
        devices = [
            {
                **device_facts(
                    samples,
                    counter_j=_counter_j(before, after, seconds),
                    seconds=seconds,
                    limits_w=self._limits_w(handle),
                ),
                "max_sm_clock_mhz": self._max_sm_clock_mhz(handle),
                "compute_processes": count or None,
            }
            for samples, before, after, handle, count in zip(
                self._samples, self._energy_before_mj, after_mj, self._handles, self._processes
            )
        ]
        return joined([{"unknown_because": None, "seconds": seconds, "devices": devices}])

    def _watch(self) -> None:
        while not self._enough.wait(self._interval_s):
            for number, handle in enumerate(self._handles):
                self._samples[number].append(self._sample(number, handle))

    def _sample(self, number: int, handle: Any) -> Sample:
        nvml = self._nvml
        readings: Dict[str, Callable[[], float]] = {
            "power_w": lambda: nvml.nvmlDeviceGetPowerUsage(handle) / 1000.0,
            "sm_clock_mhz": lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
            "temperature_c": lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
            "throttle_bits": lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
            "memory_busy": lambda: nvml.nvmlDeviceGetUtilizationRates(handle).memory / 100.0,
        }
        sample: Sample = {}
        for name, read in readings.items():
            if name in self._not_told[number]:
                continue
            try:
                sample[name] = read()
            except nvml.NVMLError:
                self._not_told[number].add(name)  # not reported by this device; asking again would cost time
        return sample

    def _energy_mj(self, handle: Any) -> Optional[int]:
        try:
            return int(self._nvml.nvmlDeviceGetTotalEnergyConsumption(handle))
        except self._nvml.NVMLError:
            return None

    def _count_processes(self) -> None:
        """Note the most processes seen on each device, including ours; 0 if the driver does not report them."""
        for number, handle in enumerate(self._handles):
            with contextlib.suppress(self._nvml.NVMLError):
                seen = len(self._nvml.nvmlDeviceGetComputeRunningProcesses(handle))
                self._processes[number] = max(self._processes[number], seen)

    def _max_sm_clock_mhz(self, handle: Any) -> Optional[float]:
        try:
            return float(self._nvml.nvmlDeviceGetMaxClockInfo(handle, self._nvml.NVML_CLOCK_SM))
        except self._nvml.NVMLError:
            return None

    def _limits_w(self, handle: Any) -> Tuple[Optional[float], Optional[float]]:
        try:
            return (
                self._nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000.0,
                self._nvml.nvmlDeviceGetPowerManagementDefaultLimit(handle) / 1000.0,
            )
        except self._nvml.NVMLError:
            return None, None


def device_facts(
    samples: Sequence[Sample],
    *,
    counter_j: Optional[float],
    seconds: float,
    limits_w: Tuple[Optional[float], Optional[float]],
) -> Facts:
    """Return one device's figures; null if it does not report them.

    energy_j = counter_j, the counter's gain, if known; otherwise mean power x seconds. On one H100 the two differ by
    0.5 % over 30 s and by 0.6 % over 11 s (2026-11-26). `memory_busy_share` is the share of time in which device memory
    was read or written, not how full it was.
    """
    power_w, clocks_mhz, busy = (_seen(samples, name) for name in ("power_w", "sm_clock_mhz", "memory_busy"))
    bits = [int(value) for value in _seen(samples, "throttle_bits")]
    mean_power_w = statistics.mean(power_w) if power_w else None
    energy_j, energy_from = counter_j, COUNTER
    if energy_j is None and mean_power_w is not None:
        energy_j, energy_from = mean_power_w * seconds, MEAN_POWER
    return {
        "energy_j": energy_j,
        "energy_from": None if energy_j is None else energy_from,
        "mean_power_w": mean_power_w,
        "max_power_w": max(power_w, default=None),
        "power_limit_w": limits_w[0],
        "default_power_limit_w": limits_w[1],
        "mean_sm_clock_mhz": statistics.mean(clocks_mhz) if clocks_mhz else None,
        "min_sm_clock_mhz": min(clocks_mhz, default=None),
        "max_temperature_c": max(_seen(samples, "temperature_c"), default=None),
        "memory_busy_share": statistics.mean(busy) if busy else None,
        "throttle_shares": {name: _share(bits, mask) for name, mask in THROTTLE_BITS.items()} if bits else None,
        "throttled_share": _share(bits, HELD_BACK_BY_BITS) if bits else None,
        "samples": len(samples),
    }


def joined(nodes: Sequence[Facts]) -> Facts:
    """Return one document for all nodes: devices in the order of ranks, and the total energy if all of it is known.

    `energy_from` is the weaker of the devices' sources.
    """
    devices = [device for node in nodes for device in node["devices"]]
    energies_j = [device["energy_j"] for device in devices]
    reasons = [node["unknown_because"] for node in nodes if node["unknown_because"] is not None]
    whole = bool(devices) and not reasons and None not in energies_j
    document = {
        "unknown_because": reasons[0] if reasons else None,
        "energy_j": sum(energies_j) if whole else None,
        "energy_from": _weakest_source(devices) if whole else None,
        "devices": devices,
    }
    seconds = [node["seconds"] for node in nodes if node.get("seconds") is not None]
    return {**document, "seconds": max(seconds)} if seconds else document


def open_telemetry(
    uuids: Sequence[str], *, import_nvml: Callable[[], Any] = lambda: importlib.import_module("pynvml")
) -> Union[Telemetry, NoTelemetry]:
    """Return the telemetry of these devices, or a stand-in that says why there is none."""
    try:
        nvml = import_nvml()
    except ImportError:
        return NoTelemetry("nvidia-ml-py is not installed (pip install nvidia-ml-py)")
    try:
        nvml.nvmlInit()
        return Telemetry(nvml, uuids)
    except nvml.NVMLError as error:
        return NoTelemetry(f"NVML: {error}")


def open_for(device_type: str, *, local_rank: int, local_devices: int) -> Union[Telemetry, NoTelemetry]:
    """Return the telemetry of this rank: the node's first one watches all the node's devices."""
    if device_type != "cuda":
        return NoTelemetry("the run is on the CPU")
    if local_rank != 0:
        return NoTelemetry("the node's first rank watches")
    import torch

    uuids = [getattr(torch.cuda.get_device_properties(number), "uuid", None) for number in range(local_devices)]
    if None in uuids:
        return NoTelemetry("this torch does not name its devices as NVML does; a newer one does")
    return open_telemetry([f"GPU-{uuid}" for uuid in uuids])


def _weakest_source(devices: Sequence[Facts]) -> str:
    return MEAN_POWER if any(device.get("energy_from") == MEAN_POWER for device in devices) else COUNTER


def _counter_j(before_mj: Optional[int], after_mj: Optional[int], seconds: float) -> Optional[float]:
    """Return the energy between two readings of the counter; None in a window too short for it."""
    if before_mj is None or after_mj is None or seconds < MIN_ENERGY_WINDOW_S:
        return None
    return (after_mj - before_mj) / 1000.0


def _seen(samples: Sequence[Sample], name: str) -> List[float]:
    return [sample[name] for sample in samples if name in sample]


def _share(bits: Sequence[int], mask: int) -> float:
    return sum(bool(value & mask) for value in bits) / len(bits)
