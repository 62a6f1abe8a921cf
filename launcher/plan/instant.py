"""A moment of one boot of one machine. Pure; `launcher/ledger/instant.py` reads it from the machine."""

from __future__ import annotations

from planner.model.base import Frozen


class Instant(Frozen):
    """A moment of one boot of one machine; two of the same boot can be compared, whatever the clock did between."""

    boot: str
    """Linux's id of the boot; elsewhere one of this process, whose instants no other process can compare."""
    s: float

    def since(self, earlier: Instant | None) -> float | None:
        """Return the seconds since `earlier`, never negative; None where it is of another boot or not known."""
        return None if earlier is None or earlier.boot != self.boot else max(0.0, self.s - earlier.s)
