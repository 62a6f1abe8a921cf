"""Billed time, whether a job was seen, and how often a watch writes the same down."""

from __future__ import annotations

import pytest

from planner.launcher.drive.context import DriveContext, billed_seconds
from planner.launcher.drive.gone import job_was_seen
from planner.launcher.ledger.entry import Event
from planner.launcher.ledger.ledger import Ledger
from planner.launcher.plan.target import Target
from tests.launcher.clock import Clock
from tests.launcher.launches import NOON, launch_of
from tests.launcher.scripted_backend import ScriptedBackend


@pytest.mark.parametrize(
    ("elapsed_s", "seen_up_s", "billed_s"),
    [
        pytest.param(300.0, None, 300.0, id="proven within the worst case"),
        pytest.param(7200.0, None, 720.0, id="proven late, ended by its own cap"),
        pytest.param(7200.0, 3600.0, 3600.0, id="seen up beyond the worst case"),
        pytest.param(315.0, 990.0, 990.0, id="seen up later than a wrong clock says that the proof came"),
    ],
)
def test_a_launch_counts_until_it_was_last_seen_up(elapsed_s, seen_up_s, billed_s):
    assert billed_seconds(elapsed_s=elapsed_s, seen_up_s=seen_up_s, worst_s=720.0) == billed_s


@pytest.mark.parametrize(
    ("kind", "text", "seen"),
    [
        ("RUNNING", "", True),
        ("COLLECTING", "the job is over: completed", True),
        ("COLLECTING", "the job is over: failed", True),
        ("COLLECTING", "the job is over: truncated", False),
        ("COLLECTING", "the job is over: lost", False),
        ("SUBMITTED", "", False),
    ],
)
def test_only_the_job_itself_shows_that_every_machine_had_come(kind, text, seen):
    assert job_was_seen([Event(at=NOON, kind=kind, text=text)]) is seen


def test_two_things_that_every_look_finds_are_written_once(tmp_path):
    clock, ledger = Clock(), Ledger(tmp_path / "ledger.sqlite")
    ledger.plan([launch_of(Target(provider="local", name="local"))])
    context = DriveContext(
        ledger=ledger, backend=ScriptedBackend(), folder=tmp_path, now=clock, instant=clock.instant
    )  # fmt: skip
    for _ in range(3):
        context._note_once("r1", "PROBLEM", "down failed")
        context._note_once("r1", "STILL_UP", "1 running")
    context._note_once("r1", "STILL_UP", "2 running")
    assert [event.kind for event in ledger.events("r1")] == ["PLANNED", "PROBLEM", "STILL_UP", "STILL_UP"]
