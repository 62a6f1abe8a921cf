"""Every row of the fault table, in the order of the documents."""

from __future__ import annotations

from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import KILLED

FAULTS: tuple[Fault, ...] = (*KILLED,)
