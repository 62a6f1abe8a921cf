"""One row of the fault table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.launcher.faults.world import Done, WorldOfFaults


@dataclass(frozen=True)
class Fault:
    """A fault, what is done about it, and what that may cost."""

    id: str
    fault: str
    """What goes wrong: the first column of the table in docs/launch_faults.csv."""
    where: str
    """In what it is injected: client, worker, SkyPilot, EC2, Lambda, host, store, ledger."""
    happens: str
    """What the product then does."""
    act: Callable[[WorldOfFaults], Done]
    """Breaks it and returns the command whose exit code counts."""
    exit_code: int
    state: str | None
    """Of every launch in the ledger afterwards, one of several as `A|B`; None where it has none, or cannot be read."""
    outcome: str | None = None
    lost_usd: float = 0.0
    """What the fakes bill for machines that nothing ends (World.lost_usd)."""
    undetectable: bool = False
    """Whether nobody but the bill can tell that a machine runs."""
    said: str = ""
    """Words that the command must say."""
    runs_on: bool = False
    """Whether the machine runs on as it should, which is no failure."""
