"""Machines in the ledger, each by its id: written at a look, read with the launch, absent from older ledgers."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import Sight, Sighting
from planner.launcher.plan.target import Target
from tests.launcher.launches import NOON, launch_of

AT = Instant(boot="b", s=1.0)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger(tmp_path / "ledger.sqlite")
    made.plan([launch_of(Target(provider="aws", name="p4d.24xlarge", devices_per_node=8))])
    return made


def see(ledger, sight: Sight, asked: str | None = None):
    return ledger.see("r1", [Sighting(id="i-1", where="us-east-1", sight=sight, asked=asked)], at=NOON, instant=AT)


def test_a_machine_is_read_with_its_launch_by_every_client(ledger):
    see(ledger, Sight.ALIVE, "AWS account 1")
    (known,) = Ledger(ledger.path).entry("r1").launch.known
    assert (known.id, known.where, known.sight, known.first_at, known.looks) == (
        "i-1",
        "us-east-1",
        Sight.ALIVE,
        NOON,
        1,
    )
    see(ledger, Sight.ALIVE)
    assert ledger.entry("r1").launch.known[0].looks == 2


def test_only_who_lists_a_machine_is_its_witness(ledger):
    see(ledger, Sight.ABSENT, "Lambda key 1")
    assert ledger.entry("r1").launch.known[0].asked == ()
    see(ledger, Sight.ALIVE, "Lambda key 2")
    assert ledger.entry("r1").launch.known[0].asked == ("Lambda key 2",)


def test_machines_stand_in_no_document_of_the_launch(ledger):
    see(ledger, Sight.ALIVE)
    assert "known" not in ledger.entry("r1").launch.model_dump()


def test_a_ledger_of_an_older_planner_is_read_and_added_to(ledger):
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("DROP TABLE machines")
        connection.execute("ALTER TABLE launches DROP COLUMN account")
    assert ledger.entry("r1").launch.known == (), "as it is, on a disk that lets nothing be written"
    again = Ledger(ledger.path)
    see(again, Sight.ALIVE)
    assert [machine.id for machine in again.entry("r1").launch.known] == ["i-1"]


def test_a_person_s_word_changes_the_account_and_is_written_down(ledger):
    ledger.set_account("r1", "Lambda key 2", at=NOON, forget_marks=False)
    assert ledger.entry("r1").launch.account == "Lambda key 2"
    assert [event.kind for event in ledger.events("r1")][-1] == "ACCOUNT_CHANGED"


def test_a_machine_that_cannot_be_read_makes_the_launch_unreadable(ledger):
    see(ledger, Sight.ALIVE)
    with closing(sqlite3.connect(ledger.path)) as connection, connection:
        connection.execute("UPDATE machines SET known = '{'")
    assert set(ledger.unreadable()) == {"r1"}
