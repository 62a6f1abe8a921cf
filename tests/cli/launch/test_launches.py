"""`planner launches`: what the ledger knows against what runs; the bill; the live view."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta

import pytest

from planner.cli.launching.launch_view import LiveView
from planner.cli.streams import lasting_output
from planner.cli.visible_output import visible_output
from planner.launcher.ledger.entry import LaunchOutcome, State
from planner.launcher.plan.backend import Launch, LaunchPhase, NodeStatus
from planner.launcher.plan.instant import Instant, boot_instant
from planner.launcher.plan.target import Reach, Target
from planner.use_cases.launching.account_budget import used_usd
from planner.use_cases.launching.launches import Launches
from planner.use_cases.launching.launches_reap import reap
from tests.launcher.launches import NOON, asleep, launch_of, rate

LOCAL = Target(provider="local", name="local", devices_per_node=1)
P4D = Target(provider="aws", name="p4d.24xlarge", accelerator="A100-40GB-SXM", devices_per_node=8, region="us-east-1")


@pytest.fixture
def launches():
    return Launches()


def test_backends_are_made_once_for_each_reach_and_an_unknown_reach_has_none(launches, monkeypatch):
    monkeypatch.setattr("planner.use_cases.launching.launch_target.check_sky", lambda: None)
    backends = {reach: launches.backend(reach) for reach in Reach}
    assert len({id(backend) for backend in backends.values()}) == len(Reach)
    assert launches.backend(Reach.SSH) is backends[Reach.SSH]
    with pytest.raises(AssertionError, match="carrier"):
        launches.backend("carrier")
    launches.close()


def sleeping(run_id: str) -> Launch:
    """Return a launch on this machine whose job only sleeps."""
    return asleep(launch_of(LOCAL, run_id=run_id, now=datetime.now(tz=UTC)))


@pytest.mark.slow
@pytest.mark.parametrize("alarmed_before", [True, False])
def test_what_should_be_gone_is_an_alarm_and_is_taken_down_when_asked(planner, launches, alarmed_before):
    """Evidence that somebody closed the entry by hand, or that a teardown reported wrongly."""
    launch = sleeping(f"reap-{os.getpid()}-{alarmed_before}")
    launches.ledger.plan([launch])
    launches.driver(launch).step(launch.run_id, submit=True)
    assert [entry["verdict"] for entry in found(planner("launches", "reap", "--json"), launch)] == ["as planned"]
    launches.ledger.move(launch.run_id, State.DOWN_VERIFIED, at=datetime.now(tz=UTC))

    if alarmed_before:
        alarmed = planner("launches", "reap", "--json")
        assert alarmed.code == 4
        assert [entry["verdict"] for entry in found(alarmed, launch)] == ["should be gone"]
        assert launches.ledger.entry(launch.run_id).state is State.LOST
    reaped = planner("launches", "reap", "--yes", "--json")
    assert reaped.code == 0, reaped.err
    assert [entry["evidence"]["down"] for entry in found(reaped, launch)] == ([] if alarmed_before else [True])
    assert launches.ledger.entry(launch.run_id).state is State.DOWN_VERIFIED
    assert found(planner("launches", "reap", "--json"), launch) == []


def found(answer, launch):
    """Return what was found of this launch: other tests may launch on this machine at the same time."""
    return [entry for entry in answer.document["found"] if entry["run_id"] == launch.run_id]


def test_a_launch_that_its_client_forgot_is_settled_by_reap(planner, launches):
    launch = sleeping(f"forgot-{os.getpid()}")
    launches.ledger.plan([launch])
    launches.driver(launch).step(launch.run_id, submit=True)

    past = Launches(
        now=lambda: datetime.now(tz=UTC) + timedelta(hours=1),
        instant=lambda: Instant(boot=boot_instant().boot, s=boot_instant().s + 3600),
    )
    settled = reap(past, take_down=False).settled
    assert [(entry.state, entry.outcome) for entry in settled] == [(State.DOWN_VERIFIED, LaunchOutcome.TRUNCATED)]


@pytest.mark.slow
def test_a_launch_whose_host_is_gone_from_the_file_keeps_no_other_one_running(planner, launches):
    """The first cannot be asked any more; the second is taken down, and the first is an alarm."""
    away = Target(provider="host", name="away", devices_per_node=1)
    lost = launch_of(away, run_id=f"away-{os.getpid()}", now=NOON)
    launch = sleeping(f"near-{os.getpid()}")
    launches.ledger.plan([lost, launch])
    launches.ledger.move(lost.run_id, State.SUBMITTED, at=NOON)
    launches.driver(launch).step(launch.run_id, submit=True)

    reaped = planner("launches", "reap", "--json")
    assert reaped.code == 4
    (alarm,) = found(reaped, lost)
    assert (alarm["alarm"], alarm["verdict"]) == (True, "cannot be asked")
    assert "put it back" in alarm["detail"]
    assert [state["run_id"] for state in reaped.document["settled"]] == [launch.run_id]

    down = planner("launches", "down", "--all", "--json")
    assert down.code == 4
    states = {launch["run_id"]: launch["state"] for launch in down.document["launches"]}
    assert states == {lost.run_id: "SUBMITTED", launch.run_id: "DOWN_VERIFIED"}
    assert "It stood in hosts.yaml" in down.err


def test_down_takes_an_open_launch_down_and_a_misspelt_id_none(planner, launches):
    launch = sleeping(f"down-{os.getpid()}")
    launches.ledger.plan([launch])
    launches.driver(launch).step(launch.run_id, submit=True)
    assert planner("launches", "down", launch.run_id, "nonsense").code == 2
    assert launches.ledger.entry(launch.run_id).open
    answer = planner("launches", "down", launch.run_id, "--json")
    assert answer.code == 0, answer.err
    assert [launch["state"] for launch in answer.document["launches"]] == ["DOWN_VERIFIED"]
    assert planner("launches", "down").code == 2


def ended(launches, target, *, usd, minutes):
    launch = launch_of(target, run_id="20261121-120000-aaaaaa", price=rate(usd))
    launches.ledger.plan([launch])
    launches.ledger.move(launch.run_id, State.SUBMITTED, at=NOON)
    launches.ledger.move(
        launch.run_id, State.DOWN_VERIFIED, at=NOON + timedelta(minutes=minutes), outcome=LaunchOutcome.FAILED
    )
    return launch


def test_the_bill_puts_worst_case_and_ledger_side_by_side(planner, launches):
    """10 USD/h: at worst 65 minutes, 10.83 USD; the ledger saw 30, so 5 USD, or a quarter less."""
    ended(launches, P4D, usd=10.0, minutes=30)
    (line,) = planner("launches", "bill", "--json").document["lines"]
    assert line["worst_case_usd"] == pytest.approx(10.0 * 65 / 60)
    assert (line["ledger"]["value"], line["ledger"]["low"]) == (pytest.approx(5.0), pytest.approx(3.75))
    assert (line["provider_usd"], line["provider_note"]) == (None, "not asked; add --ask")


def test_what_is_over_uses_the_budget_by_what_it_cost_and_what_is_open_by_its_worst_case(launches):
    ended(launches, P4D, usd=10.0, minutes=30)
    launches.ledger.plan([launch_of(P4D, run_id="open", price=rate(10.0))])
    assert used_usd(launches.ledger.entries()) == pytest.approx(5.0 + 10.0 * 65 / 60)


def test_the_list_reads_well(planner, launches, golden):
    ended(launches, P4D, usd=10.0, minutes=30)
    golden.check("launches-list.tsv", planner("launches", "list", "--format", "tsv").out)
    golden.check("launches-show.txt", planner("launches", "show", "20261121-120000-aaaaaa").out.replace(
        str(launches.folder), "FOLDER"
    ))  # fmt: skip


def test_an_unknown_launch_is_said_with_the_nearest(planner, launches):
    ended(launches, P4D, usd=10.0, minutes=30)
    answer = planner("launches", "show", "20261121-120000-aaaaab")
    assert (answer.code, "Did you mean 20261121-120000-aaaaaa?" in answer.err) == (2, True)


def test_a_workspace_without_launches_has_none(planner):
    assert planner("launches", "list", "--json").document["launches"] == []
    assert planner("launches", "collect").code == 0


def test_a_narrow_terminal_never_wraps_a_line_of_the_view(launches, capsys, monkeypatch):
    """A line that wraps takes two rows, and the next drawing would go up too few."""
    launches.ledger.plan([launch_of(LOCAL)])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    status = NodeStatus(phase=LaunchPhase.UNKNOWN, detail="ssh cannot reach it:\nConnection timed out " * 5)
    view = LiveView(launches.ledger.entries, lambda: {"r1": status}, now=lambda: NOON)
    view()
    lines = capsys.readouterr().err.replace("\r\x1b[2K", "").splitlines()
    assert [len(line) for line in lines] == [39]


@pytest.mark.parametrize(
    ("terminal", "expected"),
    [
        pytest.param(False, ["local  r1  SUBMITTED  running"], id="a log has each line once"),
        pytest.param(
            True, ["local  r1  SUBMITTED  12.0 min  running  measure step 7", "\x1b[1A"], id="a terminal is redrawn"
        ),
    ],
)
def test_the_live_view_has_one_line_for_each_launch(launches, capsys, monkeypatch, terminal, expected):
    launches.ledger.plan([launch_of(LOCAL)])
    launches.ledger.move("r1", State.SUBMITTED, at=NOON)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    status = NodeStatus(phase=LaunchPhase.RUNNING, progress="measure step 7")
    view = LiveView(launches.ledger.entries, lambda: {"r1": status}, now=lambda: NOON + timedelta(minutes=12))
    view()
    view()
    drawn = capsys.readouterr().err
    assert all(text in drawn for text in expected)
    assert drawn.count("local  r1") == (2 if terminal else 1)


def test_the_live_view_steers_the_terminal_and_what_a_node_says_does_not(launches, capsys, monkeypatch):
    launches.ledger.plan([launch_of(LOCAL)])
    launches.ledger.move("r1", State.SUBMITTED, at=NOON)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status = NodeStatus(phase=LaunchPhase.RUNNING, progress="step\x1b[2J")
    view = LiveView(launches.ledger.entries, lambda: {"r1": status}, now=lambda: NOON)
    with visible_output(), lasting_output():
        view()
        view()
    drawn = capsys.readouterr().err
    assert "\x1b[1A\r\x1b[2K" in drawn
    assert "step\\x1b[2J" in drawn
    assert "\x1b[2J" not in drawn
