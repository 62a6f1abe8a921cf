"""Proof that a launch is gone: ids listed as ended, or absent for long enough; never one empty list."""

from __future__ import annotations

from datetime import timedelta

import pytest

from planner.launcher.drive.gone import BY_ABSENCE, BY_HOST, BY_ID, BY_LABEL, judge, witness_in
from planner.launcher.plan.instant import Instant
from planner.launcher.plan.sighting import ANYTHING, KnownMachine, Sight, Sighting, observed
from planner.launcher.plan.target import Target
from tests.launcher.launches import NOON, launch_of

P4D = launch_of(Target(provider="aws", name="p4d.24xlarge", devices_per_node=8))
TWO = launch_of(Target(provider="aws", name="p4d.24xlarge", devices_per_node=8, nodes=2))
POD = launch_of(Target(provider="k8s", name="lab", devices_per_node=8))
HOST = launch_of(Target(provider="host", name="a"))
ALIVE, ENDING, DEAD, ABSENT = Sight.ALIVE, Sight.ENDING, Sight.DEAD, Sight.ABSENT


@pytest.fixture(autouse=True)
def _five_minutes(monkeypatch, _settled_at_once):
    monkeypatch.setattr("planner.launcher.drive.gone.SETTLED_AFTER_S", 300.0)


def looked_at(*looks: tuple[float, Sight], id: str = "i-1", boot: str = "b") -> KnownMachine:
    """Return what is known after these looks, each at the given second."""
    known = None
    for at_s, sight in looks:
        instant, now = Instant(boot=boot, s=at_s), NOON + timedelta(seconds=at_s)
        known = observed(known, Sighting(id=id, sight=sight, said=sight.value), instant=instant, now=now)
    assert known is not None
    return known


NOTHING_LONG = looked_at((0, ABSENT), (300, ABSENT), id=ANYTHING)
NOTHING_NOW = looked_at((0, ALIVE), (300, ABSENT), id=ANYTHING)


@pytest.mark.parametrize(
    ("launch", "known", "job_seen", "witness"),
    [
        pytest.param(P4D, [looked_at((0, ALIVE), (1, DEAD)), NOTHING_NOW], True, BY_ID, id="listed as ended"),
        pytest.param(
            P4D, [looked_at((0, ALIVE), (1, DEAD), (2, ABSENT)), NOTHING_NOW], True, BY_ID, id="and not listed any more"
        ),
        pytest.param(P4D, [looked_at((0, ALIVE), (1, ABSENT)), NOTHING_LONG], True, None, id="absent at one look"),
        pytest.param(
            P4D, [looked_at((0, ABSENT), (299, ABSENT)), NOTHING_LONG], True, None, id="absent for under five minutes"
        ),
        pytest.param(P4D, [looked_at((0, ABSENT), (300, ABSENT)), NOTHING_NOW], True, BY_ABSENCE, id="absent for five"),
        pytest.param(
            P4D,
            [looked_at((0, ABSENT), (200, ALIVE), (201, ABSENT), (499, ABSENT)), NOTHING_LONG],
            True,
            None,
            id="listed in between",
        ),
        pytest.param(P4D, [looked_at((0, ALIVE)), NOTHING_LONG], True, None, id="alive by id alone"),
        pytest.param(P4D, [NOTHING_LONG], True, BY_LABEL, id="no id was ever seen"),
        pytest.param(P4D, [NOTHING_NOW], True, None, id="no id, and the label was there a moment ago"),
        pytest.param(P4D, [], True, None, id="no provider was asked"),
        pytest.param(TWO, [looked_at((0, DEAD)), NOTHING_NOW], True, None, id="one of two nodes was never seen"),
        pytest.param(TWO, [looked_at((0, DEAD)), NOTHING_LONG], True, BY_LABEL, id="and nothing came for five minutes"),
        pytest.param(P4D, [looked_at((0, DEAD)), NOTHING_NOW], False, None, id="no job was seen: another may come"),
        pytest.param(POD, [looked_at((0, ABSENT)), NOTHING_NOW], True, BY_ABSENCE, id="a pod: its list is exact"),
        pytest.param(HOST, [], True, BY_HOST, id="a host has said it itself"),
    ],
)
def test_only_ids_or_time_prove_it(launch, known, job_seen, witness):
    verdict = judge(launch, known, job_seen=job_seen)
    assert verdict.gone is (witness is not None), verdict
    assert witness_in(f"EC2: none; proven {verdict.said}") == witness


def test_absence_after_a_refusal_to_end_proves_nothing():
    known = [looked_at((0, ABSENT), (300, ABSENT)), NOTHING_LONG]
    assert not judge(P4D, known, job_seen=True, asked=False).gone
    assert judge(P4D, [looked_at((0, DEAD)), NOTHING_NOW], job_seen=True, asked=False).gone, "it is listed as ended"


@pytest.mark.parametrize(
    ("seconds", "pending", "stuck"),
    [
        pytest.param(10.0, True, False, id="just now"),
        pytest.param(400.0, False, False, id="too long to wait for"),
        pytest.param(1801.0, False, True, id="over half an hour: an alarm"),
    ],
)
def test_a_machine_that_is_being_ended_is_not_gone(seconds, pending, stuck):
    verdict = judge(P4D, [looked_at((0, ENDING), (seconds, ENDING)), NOTHING_LONG], job_seen=True)
    assert (verdict.gone, verdict.pending, verdict.stuck) == (False, pending, stuck)
    assert ("ask the provider" in verdict.said) is stuck


def test_time_is_that_since_the_boot_and_across_boots_the_provider_s():
    first = looked_at((0, ABSENT))
    other = Instant(boot="another", s=10_000.0)
    unknown = observed(first, Sighting(id="i-1", sight=ABSENT), instant=other, now=NOON + timedelta(hours=30))
    assert unknown.lasted_s == 0.0, "the clock here proves nothing"
    told = Sighting(id="i-1", sight=ABSENT, at=NOON)
    known = observed(None, told, instant=Instant(boot="b", s=0.0), now=NOON)
    later = told.model_copy(update={"at": NOON + timedelta(seconds=301)})
    assert observed(known, later, instant=other, now=NOON).lasted_s == 301.0
