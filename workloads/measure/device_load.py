"""Checks that the device is free before the run. Others' memory and kernels would spoil the measurement.

Containers hide other processes, so lists of processes are not used.
"""

from __future__ import annotations

import importlib
import statistics
import time
from pathlib import Path
from typing import Any, Callable, Optional

MAX_CONTEXT_GIB = 1.5
"""Highest device memory in use before the run. Its own CUDA context takes 0.3 to 0.6 GiB; NCCL's comes later."""
MAX_BUSY_SHARE = 0.05
"""Highest share of time in which others may run kernels. A desktop that draws its screen needs a few per cent."""
MAX_CPU_BUSY_SHARE = 0.3
"""Highest busy share of all cores. An editor and a browser need some of it, a second training all."""
READINGS = 6
PAUSE_S = 0.2


def busy_share(
    uuid: Optional[str],
    *,
    import_nvml: Callable[[], Any] = lambda: importlib.import_module("pynvml"),
    pause_s: float = PAUSE_S,
) -> Optional[float]:
    """Return the share of the last second in which kernels ran on a device, 0 to 1; None if NVML does not report it.

    It is the median of six readings over a second, so that a desktop that draws now and then counts as idle. Call it
    before anything of ours runs there. `uuid` is torch's, without NVML's "GPU-".
    """
    if uuid is None:
        return None
    try:
        nvml = import_nvml()
    except ImportError:
        return None
    try:
        nvml.nvmlInit()
        handle = nvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
        readings = []
        for _ in range(READINGS):
            readings.append(nvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100.0)
            time.sleep(pause_s)
    except nvml.NVMLError:
        return None
    return float(statistics.median(readings))


def cpu_busy_share(
    *, read: Callable[[], str] = lambda: Path("/proc/stat").read_text(encoding="ascii"), pause_s: float = 1.0
) -> Optional[float]:
    """Return the busy share of the processor's cores over the next second; None if the system does not report it.

    Call it while nothing of ours runs. Idle time and waiting for disks are the fourth and fifth number of the first
    line of Linux's /proc/stat.
    """
    try:
        first = read()
        time.sleep(pause_s)
        second = read()
        before, after = ([int(word) for word in text.splitlines()[0].split()[1:9]] for text in (first, second))
    except (OSError, ValueError, IndexError):
        return None
    passed = [later - earlier for earlier, later in zip(before, after)]
    return 1 - (passed[3] + passed[4]) / sum(passed) if sum(passed) > 0 else None


def cpu_problem(busy: Optional[float]) -> Optional[str]:
    """Return in one sentence why a processor is not free for a probe; None if it is."""
    if busy is None or busy <= MAX_CPU_BUSY_SHARE:
        return None
    return f"the processor is busy before the probe begins: {busy:.0%} of its time goes to other work."


def problem(in_use_gib: float, busy: Optional[float]) -> Optional[str]:
    """Return in one sentence why a device is not free; None if it is.

    `in_use_gib` is its memory in use, including our own context. `busy` is the result of `busy_share`.
    """
    signs = []
    if in_use_gib > MAX_CONTEXT_GIB:
        signs.append(f"{in_use_gib:.1f} GiB of its memory are in use")
    if busy is not None and busy > MAX_BUSY_SHARE:
        signs.append(f"kernels run on it {busy:.0%} of the time")
    if not signs:
        return None
    return (
        f"the device is busy before the run begins: {' and '.join(signs)}, by other processes (a container does not "
        "see them). What is measured beside them is wrong."
    )
