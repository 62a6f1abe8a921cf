"""A moment in the uptime of one machine. Pure; `launcher/ledger/instant.py` reads it from the machine."""

from __future__ import annotations

from planner.model.base import Frozen


class Instant(Frozen):
    """Seconds since a machine's boot, with the boot's id. Those of one boot compare even if the clock was set."""

    boot: str
    """Linux boot id. Elsewhere an id of this process, so that no other process can compare its moments."""
    s: float

    def since(self, earlier: Instant | None) -> float | None:
        """Return the seconds since `earlier`, never negative; None if `earlier` is unknown or of another boot."""
        return None if earlier is None or earlier.boot != self.boot else max(0.0, self.s - earlier.s)
