"""Files that a node sends: links and our own names are refused, and files that came before a failure stay."""

from __future__ import annotations

import os

import pytest

from planner.errors import NodeError
from planner.launcher.collect.incoming import incoming, is_allowed, left_out_of
from planner.launcher.collect.results import collected


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("start-1/result.json", True),
        ("start-1/result.json.steps.jsonl", True),
        ("start-12/probes.json", True),
        ("job.log", True),
        ("driver.lock", False),
        ("node-1/start-1/result.json", False),
        ("node-1", False),
        ("../ledger.sqlite", False),
        ("start-1/../../ledger.sqlite", False),
        ("/etc/passwd", False),
        (".incoming/x", False),
        ("start-1/.part", False),
        ("a\x1b[2J", False),
        ("a\nb", False),
        ("a/b/c/d/e", False),
        ("a" * 200, False),
        ("", False),
    ],
)
def test_names_that_may_come_in(name, allowed):
    assert is_allowed(name) is allowed


def test_our_own_log_is_not_replaced():
    assert not is_allowed("job.log", own=("job.log",))
    assert is_allowed("start-1/job.log", own=("job.log",))


def test_links_and_devices_stay_out_and_files_come_whole(tmp_path):
    secret, into = tmp_path / "secret", tmp_path / "launch"
    secret.write_text("mine")
    into.mkdir()
    (into / "driver.lock").write_text("held")
    with incoming(into) as staged:
        (staged / "start-1").mkdir()
        (staged / "start-1" / "result.json").write_text("{}")
        (staged / "start-1" / "link.json").symlink_to(secret)
        (staged / "start-2").symlink_to(tmp_path, target_is_directory=True)
        os.mkfifo(staged / "fifo.log")
        (staged / "driver.lock").write_text("")
    found = sorted(path.relative_to(into).as_posix() for path in into.rglob("*"))
    assert found == ["driver.lock", "start-1", "start-1/result.json"]
    assert (into / "driver.lock").read_text() == "held"


def test_files_that_came_before_a_failure_stay(tmp_path):
    with pytest.raises(NodeError, match="cut off"), incoming(tmp_path) as staged:  # noqa: PT012  as a copy does
        (staged / "job.log").write_text("a step")
        raise NodeError("the connection was cut off")
    assert [path.name for path in tmp_path.iterdir()] == ["job.log"]


def test_a_client_that_was_killed_leaves_nothing_in_the_way(tmp_path):
    (tmp_path / ".incoming").mkdir()
    (tmp_path / ".incoming" / "old.log").write_text("half")
    with incoming(tmp_path) as staged:
        assert list(staged.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(NodeError, match=r"file: cannot be written"), incoming(place):
        pytest.fail("nothing can be copied there")


def test_files_of_another_kind_are_left_out_and_named(tmp_path):
    """A folder in the place of the log and a file in that of a start: the good start stays."""
    (tmp_path / "job.log").write_text("SkyPilot's")
    for _ in range(2):  # what was named once is named after the next copy too
        with incoming(tmp_path, own=("job.log",)) as staged:
            (staged / "job.log").mkdir()
            (staged / "job.log" / "x").write_text("x")
            (staged / "start-1").mkdir()
            (staged / "start-1" / "result.json").write_text("{}")
            (staged / "start-2").write_text("a file")
    assert (tmp_path / "job.log").read_text() == "SkyPilot's"
    assert (tmp_path / "start-1" / "result.json").read_text() == "{}"
    assert not (tmp_path / "start-2").exists()
    assert left_out_of(tmp_path) == ["job.log/x", "start-2"]
    assert collected(tmp_path, run_id="r", nodes=1).left_out == ("job.log/x", "start-2")


def test_a_folder_in_a_file_s_place_keeps_nothing_else_from_coming(tmp_path):
    (tmp_path / "notes.txt").mkdir()
    with incoming(tmp_path) as staged:
        (staged / "notes.txt").write_text("mine")
        (staged / "zeta.txt").write_text("last")
    assert (tmp_path / "zeta.txt").read_text() == "last"
    assert left_out_of(tmp_path) == ["notes.txt"]
