"""A lock of planner 0.1.0: it is read, ranked by today's rules, and what they moved is a cause of its own."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

OLD = Path(__file__).parent / "old_locks"


@pytest.fixture
def station(tmp_path):
    """Unpack the lock that 0.1.0 wrote beside its plan; return the plan's path."""
    plan = tmp_path / "station.yaml"
    plan.write_bytes((OLD / "station.yaml").read_bytes())
    (tmp_path / "station.lock.json").write_bytes(gzip.decompress((OLD / "station.lock.json.gz").read_bytes()))
    return plan


def test_it_recommended_a_server_that_nobody_owned(station):
    assert (
        json.loads(station.with_name("station.lock.json").read_text("utf-8"))["comparison"]["recommended"] == "h200-x2"
    )


def test_the_station_that_stands_there_is_kept(planner, station):
    """The server's 114,800 USD are over the budget of 20,000; the station's electricity is not."""
    answer = planner("compare", station, "--locked", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["recommended"] == "dgx-station-v100"
    assert "Planner 0.1.0 froze these inputs on 2026-11-23; they are ranked by today's rules." in answer.err


def test_the_estimates_stand_as_they_were(planner, station):
    stored = json.loads(station.with_name("station.lock.json").read_text("utf-8"))["estimate"]
    now = json.loads(planner("estimate", station, "--locked", "--json").out)
    assert [option["training_hours"] for option in now["options"]] == [
        option["training_hours"] for option in stored["options"]
    ]


def test_what_the_rules_moved_has_a_cause_of_its_own(planner, station):
    new = station.with_name("new.yaml")
    new.write_bytes(station.read_bytes())
    assert planner("estimate", new, "--freeze").code == 0
    locks = [str(plan).replace(".yaml", ".lock.json") for plan in (station, new)]
    moved = json.loads(planner("diff", *locks, "--json").out)
    assert (moved["recommended_old"], moved["recommended_new"]) == ("h200-x2", "dgx-station-v100")
    assert {"cause": "rule", "what": "recommended", "old": "h200-x2", "new": "dgx-station-v100"} in moved["inputs"]
