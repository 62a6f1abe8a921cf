"""Launches of which the ledger says nothing any more: found and taken down by the id that they carry."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime

import pytest

from planner.errors import NodeError
from planner.launcher.plan.backend import DownEvidence, Leftover
from planner.launcher.plan.target import Reach, Target
from planner.use_cases.launching.launch_target import open_backend
from planner.use_cases.launching.launches import Launches
from tests.launcher.launches import asleep, launch_of
from tests.launcher.scripted_backend import ScriptedBackend

LOCAL = Target(provider="local", name="local", devices_per_node=1)


class EmptyClouds(ScriptedBackend):
    """SkyPilot and the clouds, which have what a test says."""

    gone = True

    def down_by_id(self, run_id: str) -> DownEvidence:
        self.asked.append(f"down {run_id}")
        self.leftovers = [] if self.gone else self.leftovers
        return DownEvidence(down=self.gone, checks=("EC2 in 17 regions: none" if self.gone else "EC2: 1 running",))


@pytest.fixture
def clouds(monkeypatch):
    backend = EmptyClouds()
    monkeypatch.setattr(
        "planner.use_cases.launching.launches.open_backend",
        lambda reach, folder, home: backend if reach is Reach.SKYPILOT else open_backend(reach, folder, home=home),
    )
    return backend


@pytest.fixture
def running():
    """Return a launch on this machine whose job sleeps, and the ledger that knows it."""
    launches = Launches()
    launch = asleep(launch_of(LOCAL, run_id=f"20261123-120000-{os.getpid():06x}", now=datetime.now(tz=UTC)))
    launches.ledger.plan([launch])
    launches.driver(launch).step(launch.run_id, submit=True)
    yield launch, launches
    launches.backend(Reach.LOCAL).down(launch)


def spoil(ledger, how: str) -> None:
    """Damage a ledger as disks, copies and people do."""
    with sqlite3.connect(ledger.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if how == "its line":
            connection.execute("UPDATE launches SET launch = '{'")
    connection.close()
    for beside in ("-wal", "-shm"):
        ledger.path.with_name(ledger.path.name + beside).unlink(missing_ok=True)
    whole = ledger.path.read_bytes()
    if how == "no database":
        ledger.path.write_bytes(b"no ledger" * 1000)
    elif how == "cut off":
        ledger.path.write_bytes(whole[: len(whole) // 2])
    elif how == "its pages":
        ledger.path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    elif how == "emptied":
        ledger.path.write_bytes(b"")
    elif how == "deleted":
        ledger.path.unlink()


SPOILT = ["no database", "cut off", "its pages", "its line", "emptied", "deleted"]
UNREADABLE = SPOILT[:4]


@pytest.mark.parametrize("how", SPOILT)
def test_down_takes_down_by_its_id_what_the_ledger_does_not_know(planner, clouds, running, how):
    launch, launches = running
    spoil(launches.ledger, how)
    assert launches.backend(Reach.LOCAL).verify_down(launch).down is False
    answer = planner("launches", "down", launch.run_id, "--json")
    assert answer.code == 4, "whose machines they were is not known"
    (found,) = answer.document["found"]
    assert (found["run_id"], found["alarm"], found["evidence"]["down"]) == (launch.run_id, False, True)
    assert launches.backend(Reach.LOCAL).verify_down(launch).down
    assert clouds.asked == [f"down {launch.run_id}"]
    assert "EC2 in 17 regions: none" in answer.err


def test_what_still_runs_after_down_by_id_is_an_error(planner, clouds, running):
    launch, launches = running
    spoil(launches.ledger, "no database")
    clouds.gone = False
    answer = planner("launches", "down", launch.run_id)
    assert answer.code == 4
    assert f"{launch.run_id}: machines may still run" in answer.err


def test_a_cloud_that_fails_keeps_this_machine_from_nothing(planner, clouds, running, monkeypatch):
    launch, launches = running
    spoil(launches.ledger, "no database")

    def fails(_run_id):
        raise NodeError("no network")

    monkeypatch.setattr(clouds, "down_by_id", fails)
    answer = planner("launches", "down", launch.run_id, "--json")
    assert (answer.code, answer.document["found"][0]["alarm"]) == (4, True)
    assert launches.backend(Reach.LOCAL).verify_down(launch).down


@pytest.mark.parametrize("pattern", ["*", "?", "a b", "../x", "-x"])
def test_what_is_no_id_is_asked_of_nobody(planner, clouds, running, pattern):
    _, launches = running
    spoil(launches.ledger, "no database")
    assert planner("launches", "down", "--", pattern).code == 2
    assert clouds.asked == []


def test_down_all_without_a_ledger_names_nothing_and_says_how_to(planner, clouds, running):
    launch, launches = running
    spoil(launches.ledger, "no database")
    answer = planner("launches", "down", "--all", "--json")
    assert answer.code == 2
    assert "planner launches down ID" in answer.document["error"]["fix"]
    assert launches.backend(Reach.LOCAL).verify_down(launch).down is False


def test_down_all_takes_down_what_cannot_be_read_among_what_can(planner, clouds, running):
    launch, launches = running
    spoil(launches.ledger, "its line")
    other = asleep(launch_of(LOCAL, run_id=f"other-{os.getpid()}", now=datetime.now(tz=UTC)))
    launches.ledger.plan([other])
    answer = planner("launches", "down", "--all", "--json")
    assert answer.code == 4
    assert [launch["state"] for launch in answer.document["launches"]] == ["DOWN_VERIFIED"]
    assert [entry["run_id"] for entry in answer.document["found"]] == [launch.run_id]
    assert launches.backend(Reach.LOCAL).verify_down(launch).down


def test_an_id_that_no_full_ledger_has_is_a_misspelt_one(planner, clouds, running):
    answer = planner("launches", "down", "20261123-120000-fffffe", "--json")
    assert (answer.code, clouds.asked) == (2, [])


@pytest.mark.parametrize("how", UNREADABLE)
def test_reap_shows_what_runs_without_the_ledger(planner, clouds, running, how):
    launch, launches = running
    clouds.leftovers = [Leftover(name="i-1", where="us-east-1", run_id="20261123-000000-aaaaaa", detail="running")]
    spoil(launches.ledger, how)
    answer = planner("launches", "reap", "--json")
    assert answer.code == 4
    found = {entry["run_id"]: entry for entry in answer.document["found"] if entry["where"] != "the ledger"}
    assert found[launch.run_id]["alarm"]
    assert (found["20261123-000000-aaaaaa"]["verdict"], found["20261123-000000-aaaaaa"]["alarm"]) == (
        "not in this ledger",
        True,
    )
    assert any(entry["where"] == "the ledger" and entry["alarm"] for entry in answer.document["found"])
    assert "planner launches down" in answer.err


def test_reap_ends_without_the_ledger_what_its_own_label_says_is_over_and_nothing_else(planner, clouds, running):
    launch, launches = running
    over = Leftover(name="i-1", where="us-east-1", run_id="20261122-000000-aaaaaa", detail="running", alarm=True)
    clouds.leftovers = [over, over.model_copy(update={"run_id": "20261123-000000-bbbbbb", "alarm": False})]
    spoil(launches.ledger, "no database")
    answer = planner("launches", "reap", "--yes", "--json")
    assert answer.code == 4
    assert clouds.asked == ["down 20261122-000000-aaaaaa"]
    assert launches.backend(Reach.LOCAL).verify_down(launch).down is False


def test_what_a_readable_ledger_does_not_know_is_taken_down_only_where_it_was_this_workspace_s(
    planner, clouds, running
):
    """A ledger restored from an older copy: the folder of the launch is still there."""
    _, launches = running
    (launches.folder / "20261122-000000-aaaaaa").mkdir()
    mine = Leftover(name="i-1", where="us-east-1", run_id="20261122-000000-aaaaaa", detail="running", alarm=True)
    clouds.leftovers = [mine, mine.model_copy(update={"run_id": "20261122-000000-bbbbbb"})]
    answer = planner("launches", "reap", "--everywhere", "--yes", "--json")
    assert clouds.asked == ["down 20261122-000000-aaaaaa"]
    alarms = {entry["run_id"]: entry["alarm"] for entry in answer.document["found"] if entry["name"] == "i-1"}
    assert alarms == {"20261122-000000-aaaaaa": False, "20261122-000000-bbbbbb": True}
    assert answer.code == 4
