"""A moment in the uptime of one machine, and how this machine's is read."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

from planner.model.base import Frozen


class Instant(Frozen):
    """Seconds since a machine's boot, with the boot's id. Those of one boot compare even if the clock was set."""

    boot: str
    """Linux boot id. Elsewhere an id of this process, so that no other process can compare its moments."""
    s: float

    def since(self, earlier: Instant | None) -> float | None:
        """Return the seconds since `earlier`, never negative; None if `earlier` is unknown or of another boot."""
        return None if earlier is None or earlier.boot != self.boot else max(0.0, self.s - earlier.s)


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
