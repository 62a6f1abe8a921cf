"""Every row of the fault table breaks launching in one place and ends with its state, exit code and dollars."""

from __future__ import annotations

import pytest

from planner.launcher.ledger.entry import State
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.table import FAULTS
from tests.launcher.faults.witnesses import proven_by
from tests.launcher.faults.world import WorldOfFaults


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=[fault.id for fault in FAULTS])
def test_fault(fault: Fault, world: WorldOfFaults):
    done = fault.act(world)
    said = f"{done.out}\n{done.err}"
    assert "Traceback" not in said, said
    assert done.code == fault.exit_code, said
    entries = world.entries()
    states = {entry.state.value for entry in entries}
    assert states <= set((fault.state or "").split("|")), said
    assert bool(states) == (fault.state is not None), said
    if fault.outcome is not None:
        assert {entry.outcome and entry.outcome.value for entry in entries} <= set(fault.outcome.split("|")), said
    assert fault.said in " ".join(said.split()), said  # a table breaks its sentences
    assert world.proofs() <= set(proven_by(fault)), said
    alive = world.alive()
    assert world.lost_usd() == pytest.approx(fault.lost_usd), alive
    if not fault.undetectable:
        assert done.code != 0 or not alive or fault.runs_on, alive
        closed = {entry.launch.cluster for entry in entries if entry.state is State.DOWN_VERIFIED}
        assert [machine for machine in alive if machine.cluster in closed] == []
