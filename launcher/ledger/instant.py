"""Time that no change of the clock affects: seconds since this machine booted, including sleep."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

from planner.launcher.plan.instant import Instant

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_THIS_PROCESS = f"process-{uuid.uuid4()}"


def boot_instant() -> Instant:
    """Return the current moment.

    Uses CLOCK_BOOTTIME, which counts sleep; otherwise the monotonic clock, which may not.
    """
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        boot = _THIS_PROCESS
    return Instant(boot=boot, s=time.monotonic() if clock is None else time.clock_gettime(clock))
