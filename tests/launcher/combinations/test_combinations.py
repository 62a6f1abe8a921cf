"""Faults in memory, alone and in combinations: no wrong proof, an end within a bound, all time billed."""

from __future__ import annotations

import pytest

from planner.launcher.drive.gone import witness_in
from planner.launcher.ledger.entry import State
from planner.launcher.plan.target import LaunchProvider
from tests.launcher.combinations.single_faults import GROUPS
from tests.launcher.combinations.table import COMBINATIONS, SINGLES, Combination, sensible
from tests.launcher.combinations.world import FaultyWorld


@pytest.fixture(autouse=True)
def _five_minutes(monkeypatch, _settled_at_once):
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", 300.0)


def _ends_as_the_rules_say(row: Combination, world: FaultyWorld) -> None:
    """Let clients do their work, and compare. That nothing is called gone that runs the world sees at every moment."""
    entry = world.run()
    told = world.told()
    if row.alarm:
        assert entry.open, told
        assert row.alarm in told
        return
    assert entry.state is State.DOWN_VERIFIED, told
    proofs = [event.text for event in world.ledger.events("r1") if event.kind == State.DOWN_VERIFIED]
    assert witness_in(proofs[-1]) == row.proven, told
    assert world.cloud.running == []
    assert entry.billed_seconds is not None
    assert entry.billed_seconds >= world.up_s(), told


@pytest.mark.parametrize("row", SINGLES, ids=[row.id for row in SINGLES])
def test_one_fault(row, tmp_path):
    _ends_as_the_rules_say(row, FaultyWorld(row.provider, row.faults, tmp_path, alarm=row.alarm))


@pytest.mark.slow
@pytest.mark.parametrize("row", COMBINATIONS, ids=[row.id for row in COMBINATIONS])
def test_faults_at_once(row, tmp_path):
    _ends_as_the_rules_say(row, FaultyWorld(row.provider, row.faults, tmp_path, alarm=row.alarm))


def test_the_table_has_every_fault_in_combinations_of_two_and_three():
    ids = [row.id for row in COMBINATIONS]
    assert len(set(ids)) == len(ids) >= 120
    assert all(sensible(row.faults) for row in COMBINATIONS)
    assert {len(row.faults) for row in COMBINATIONS} == {2, 3}
    assert {row.provider for row in COMBINATIONS} == {LaunchProvider.AWS, LaunchProvider.LAMBDA}
    assert {fault.name for row in COMBINATIONS for fault in row.faults} >= {
        fault.name for group in GROUPS for fault in group
    }
