"""A clock that a test sets."""

from __future__ import annotations

from datetime import datetime, timedelta

from planner.launcher.plan.instant import Instant
from tests.launcher.launches import NOON


class Clock:
    """The time on the clock, and the time since the boot, which `turn` does not move."""

    def __init__(self) -> None:
        self.now = NOON
        self._boots = 1
        self._since_boot_s = 0.0
        self.passed_s = 0.0
        """Time since the clock was made, independent of how it was turned and of the caller."""

    @property
    def boot(self) -> str:
        """Name the boot of the machine that reads the clock."""
        return f"boot {self._boots}"

    def __call__(self) -> datetime:
        return self.now

    def instant(self) -> Instant:
        return Instant(boot=self.boot, s=self._since_boot_s)

    def forward(self, by: timedelta | None = None, **of: float) -> None:
        """Let time pass."""
        passed = by or timedelta(**of)
        self.now += passed
        self._since_boot_s += passed.total_seconds()
        self.passed_s += passed.total_seconds()

    def turn(self, **by: float) -> None:
        """Set the clock to another time; no time passes."""
        self.now += timedelta(**by)

    def reboot(self) -> None:
        """Start the machine again, or go on at another one."""
        self._boots += 1
        self._since_boot_s = 0.0
