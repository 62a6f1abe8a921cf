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
    """Description of the fault: the first column of the table in docs/launch_faults.csv."""
    where: str
    """Part into which it is injected: client, worker, SkyPilot, EC2, Lambda, host, store, ledger."""
    happens: str
    """Expected reaction of the product."""
    act: Callable[[WorldOfFaults], Done]
    """Function that breaks launching and returns the command whose exit code counts."""
    exit_code: int
    state: str | None
    """States of launches in the ledger then, one of several as `A|B`; None where it has none, or cannot be read."""
    outcome: str | None = None
    lost_usd: float = 0.0
    """USD that the fakes bill for machines that nothing ends (World.lost_usd)."""
    undetectable: bool = False
    """True if only the bill shows that a machine runs."""
    said: str = ""
    """Words that the command must say."""
    runs_on: bool = False
    """True if the machine runs on as it should, which is no failure."""
