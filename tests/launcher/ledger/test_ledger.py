import itertools
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import InputError, NotFoundError, RefusedError, StoreError
from planner.launcher.ledger.entry import LEGAL, LaunchOutcome, State
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.target import Target
from tests.launcher.launches import NOON, launch_of, rate

LOCAL = Target(provider="local", name="local")


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "home" / "ledger.sqlite")


def test_a_launch_is_kept_as_it_was_planned(ledger):
    launch = launch_of(LOCAL, price=rate(3.0))
    ledger.plan([launch])
    again = Ledger(ledger.path).entry("r1")
    assert (again.launch, again.state, again.open) == (launch, State.PLANNED, True)
    assert [(event.at, event.kind, event.text) for event in ledger.events("r1")] == [(NOON, "PLANNED", "local")]


def test_billed_time_runs_from_submission_to_the_proof(ledger):
    ledger.plan([launch_of(LOCAL)])
    for minutes, state in ((1, State.SUBMITTED), (5, State.RUNNING), (20, State.COLLECTED), (31, State.DOWN_VERIFIED)):
        assert ledger.move("r1", state, at=NOON + timedelta(minutes=minutes))
    assert ledger.entry("r1").billed_seconds == 30 * 60


@settings(max_examples=20, deadline=None)
@given(path=st.lists(st.sampled_from(list(State)), max_size=6))
def test_only_legal_changes_are_made(tmp_path_factory, path):
    """A second method: the state is followed by hand through the table of legal changes."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger.sqlite")
    ledger.plan([launch_of(LOCAL)])
    now = State.PLANNED
    for state in path:
        if state is now:
            assert not ledger.move("r1", state, at=NOON)
        elif state in LEGAL[now]:
            assert ledger.move("r1", state, at=NOON)
            now = state
        else:
            with pytest.raises(AssertionError, match="cannot become"):
                ledger.move("r1", state, at=NOON)
        assert ledger.entry("r1").state is now


def test_the_end_is_reached_from_everywhere_and_left_for_the_alarm_only():
    reach = {state: set(LEGAL[state]) for state in State}
    for _ in State:
        for before, other in itertools.product(State, State):
            if other in reach[before]:
                reach[before] |= reach[other]
    assert all(State.DOWN_VERIFIED in reach[state] for state in State if state is not State.DOWN_VERIFIED)
    assert LEGAL[State.DOWN_VERIFIED] == {State.LOST}
    assert State.PLANNED not in set().union(*LEGAL.values())


def test_a_slower_client_changes_nothing(ledger):
    ledger.plan([launch_of(LOCAL)])
    ledger.move("r1", State.SUBMITTED, at=NOON)
    assert not ledger.move("r1", State.DOWN_VERIFIED, at=NOON, expected=State.PLANNED)
    assert ledger.entry("r1").state is State.SUBMITTED


def test_the_first_outcome_counts_until_a_move_says_better(ledger):
    ledger.plan([launch_of(LOCAL)])
    ledger.move("r1", State.SUBMITTED, at=NOON)
    ledger.move("r1", State.COLLECTED, at=NOON, outcome=LaunchOutcome.TRUNCATED)
    ledger.move("r1", State.DOWN_VERIFIED, at=NOON)
    assert ledger.entry("r1").outcome is LaunchOutcome.TRUNCATED


def test_a_check_that_raises_plans_none_of_them(ledger):
    def refuse(entries):
        raise RefusedError("too dear")

    with pytest.raises(RefusedError):
        ledger.plan([launch_of(LOCAL, run_id="r1"), launch_of(LOCAL, run_id="r2")], check=refuse)
    assert ledger.entries() == []
    ledger.plan([launch_of(LOCAL, run_id="r2")])
    with pytest.raises(InputError, match="is there already"):
        ledger.plan([launch_of(LOCAL, run_id="r1"), launch_of(LOCAL, run_id="r2")])
    assert [entry.launch.run_id for entry in ledger.entries()] == ["r2"]


def test_clients_at_once_cannot_overspend(ledger):
    """Six clients, each with its own connection, want to launch at once; the budget holds for three."""
    together = threading.Barrier(6)

    def check(entries):
        if len(entries) >= 3:
            raise RefusedError("the budget is used")

    def client(number):
        together.wait()
        try:
            Ledger(ledger.path).plan([launch_of(LOCAL, run_id=f"r{number}")], check=check)
        except RefusedError:
            return "refused"
        return "planned"

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(client, range(6))) == ["planned"] * 3 + ["refused"] * 3
    assert len(ledger.entries()) == 3


def test_an_unknown_launch_names_the_nearest(ledger):
    ledger.plan([launch_of(LOCAL, run_id="20261121-120000-1a2b3c")])
    with pytest.raises(NotFoundError, match="Did you mean 20261121-120000-1a2b3c"):
        ledger.entry("20261121-120000-1a2b3d")


def test_a_half_written_file_is_a_clear_error_and_is_left_alone(ledger):
    ledger.plan([launch_of(LOCAL)])
    ledger.path.write_bytes(ledger.path.read_bytes()[:1000])
    for leftover in ledger.path.parent.glob("*-wal"):
        leftover.unlink()
    with pytest.raises(StoreError, match="the ledger cannot be used") as broken:
        Ledger(ledger.path).entries()
    assert "planner launches reap" in broken.value.fix
    assert ledger.path.stat().st_size == 1000


def test_a_ledger_of_a_newer_planner_is_refused(ledger):
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer planner"):
        Ledger(ledger.path)


def test_a_full_disk_submits_nothing(ledger, monkeypatch):
    """SQLite's own limit on pages simulates a full disk: the same error, raised by the same code."""
    connect = Ledger._connect

    def with_a_full_disk(self):
        connection = connect(self)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(Ledger, "_connect", with_a_full_disk)
    many = [launch_of(LOCAL, run_id=f"r{number}") for number in range(100)]
    with pytest.raises(StoreError, match="full") as full:
        ledger.plan(many)
    assert "Make room" in full.value.fix
    monkeypatch.setattr(Ledger, "_connect", connect)
    assert ledger.entries() == []


def test_a_ledger_whose_launch_lost_its_id_is_damaged(ledger):
    """Row of a spoilt page: SQLite refuses to write such a row, and reads it."""
    ledger.plan([launch_of(LOCAL)])
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("ALTER TABLE launches RENAME TO sound")
        connection.execute("CREATE TABLE launches AS SELECT * FROM sound")
        connection.execute("UPDATE launches SET run_id = NULL")
    connection.close()
    for ask in (ledger.entries, ledger.unreadable):
        with pytest.raises(StoreError, match="is damaged: a launch has no id") as raised:
            ask()
        assert "planner launches reap" in raised.value.fix


@pytest.mark.parametrize("column", ["deadline_at", "launch"])
def test_a_ledger_that_lost_a_column_is_one_error(ledger, column):
    """Row of a spoilt page."""
    ledger.plan([launch_of(LOCAL)])
    with sqlite3.connect(ledger.path) as connection:
        connection.execute(f"ALTER TABLE launches RENAME COLUMN {column} TO lost")
    connection.close()
    with pytest.raises(StoreError, match="launch r1 cannot be read"):
        ledger.entry("r1")


def test_the_write_ahead_log_beside_the_file_is_read_too(tmp_path):
    """A copy without the shared memory file, as a backup makes it: the newest states are in the write-ahead log."""
    there, copy = Ledger(tmp_path / "home" / "ledger.sqlite"), tmp_path / "copy" / "ledger.sqlite"
    copy.parent.mkdir()
    with closing(sqlite3.connect(there.path)) as kept_open:  # so that nothing is moved into the file itself
        kept_open.execute("SELECT * FROM launches").fetchall()
        there.plan([launch_of(LOCAL)])
        for end in ("", "-wal"):
            shutil.copy(f"{there.path}{end}", f"{copy}{end}")
    taken = Ledger.__new__(Ledger)
    taken.path, taken.read_only = copy, True
    assert taken.entry("r1").state is State.PLANNED
