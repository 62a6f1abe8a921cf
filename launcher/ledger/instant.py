"""Time that no change of the clock moves: seconds since this machine was booted, its sleep included."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

from planner.model.base import Frozen

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_THIS_PROCESS = f"process-{uuid.uuid4()}"


class Instant(Frozen):
    """A moment of one boot of one machine; two of the same boot can be compared, whatever the clock did between."""

    boot: str
    """Linux's id of the boot; elsewhere one of this process, whose instants no other process can compare."""
    s: float

    def since(self, earlier: Instant | None) -> float | None:
        """Return the seconds since `earlier`, never negative; None where it is of another boot or not known."""
        return None if earlier is None or earlier.boot != self.boot else max(0.0, self.s - earlier.s)


def boot_instant() -> Instant:
    """Return this moment. CLOCK_BOOTTIME counts sleep; without it the system's monotonic clock, which may not."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    try:
        boot = BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        boot = _THIS_PROCESS
    return Instant(boot=boot, s=time.monotonic() if clock is None else time.clock_gettime(clock))
