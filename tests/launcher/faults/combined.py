"""Rows: two faults at once, faults at other moments, several clients and workspaces, odd surroundings."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

from tests.launcher.faults.acts import (
    Act,
    after,
    at_once,
    boots,
    command,
    damages_a_line,
    ec2,
    launching,
    left,
    sets,
    sky,
    waits,
    writes,
    writing_locked,
)
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import BACKEND, COLLECT, DOWN, FAILING, GONE, REAP
from tests.launcher.faults.states import never_ends
from tests.launcher.faults.world import H100_AT_LAMBDA, LAUNCH, P4D, Done, WorldOfFaults

OPEN = "COLLECTED"
LYING = sky("down", answer=True)
LOOK_ONCE = "launches collect --no-wait"
UNASKED = ec2("UnauthorizedOperation", only="DescribeInstances")
NO_YAML = writes("workspace/hosts.yaml", "hosts: [")
SLOW = waits(SETTLED_AFTER_S=6.0)


def recorded(**resources: Any) -> Callable[[WorldOfFaults], None]:
    """Return a preparation that changes SkyPilot's record of the cluster."""

    def prepare(world: WorldOfFaults) -> None:
        for cluster in world.sky.clusters.values():
            cluster["record"]["handle"]["launched_resources"].update(resources)

    return prepare


def no_autostop_known(world: WorldOfFaults) -> None:
    """Remove from SkyPilot's record when the cluster stops itself."""
    for cluster in world.sky.clusters.values():
        cluster["record"].update(autostop=None, to_down=None, launched_at=None)


def late_ones_come(world: WorldOfFaults) -> None:
    """Deliver machines that were no longer asked for."""
    for _, come in world.sky.waiting:
        come()
    world.sky.waiting.clear()


def come_soon(world: WorldOfFaults) -> None:
    """Let late machines come some questions from now."""
    world.sky.waiting = [(len(world.sky.asked) + 10, come) for _, come in world.sky.waiting]


def listed_as_they_come(world: WorldOfFaults) -> Done:
    """List launches; late machines come some questions later."""
    come_soon(world)
    return world.cli("launches", "list")


def and_they_come(act: Act) -> Act:
    """Return the step, after which late machines come."""

    def done_and_come(world: WorldOfFaults) -> Done:
        done = act(world)
        late_ones_come(world)
        return done

    return done_and_come


def machines_stop(world: WorldOfFaults) -> None:
    """Stop the machines, which keeps their disks."""
    for machine in world.machines:
        world.clients(machine.region).stop_instances(InstanceIds=[machine.id])


def ledger_of_the_past(world: WorldOfFaults) -> None:
    """Turn the ledger into one of an older planner."""
    with closing(sqlite3.connect(world.home / "ledger.sqlite")) as connection, connection:
        for column in ("submitted_instant", "seen_up_s", "counted_s"):
            connection.execute(f"ALTER TABLE launches DROP COLUMN {column}")
        connection.execute("PRAGMA user_version = 0")


def three_at_once(world: WorldOfFaults) -> Done:
    """Run three clients at once, each with another command."""
    left("RUNNING")(world)
    done = at_once(tuple(DOWN.split()), tuple(COLLECT.split()), tuple(REAP.split()))(world)
    assert all("Traceback" not in answer.err and "fault of the planner" not in answer.err for answer in done), done
    return done[0]


def documented(act: Act, key: str) -> Act:
    """Return the step with a check that it prints one document, which has this key."""

    def checked(world: WorldOfFaults) -> Done:
        done = act(world)
        assert key in done.document, done
        return done

    return checked


def ended_at(state: str, does: str, *words: str) -> Act:
    """Return a step that runs a command and does `does` to it at a state of the ledger."""
    return lambda world: world.cli(*words, at=state, does=does)


COMBINED = (
    Fault(
        "look-once-still-up", "EC2 may not be asked, then `collect --no-wait`", "EC2", "nothing is proven",
        left(OPEN, LOOK_ONCE, then=(UNASKED, LYING)), 4, OPEN, "completed",
    ),
    Fault(
        "look-once-running", "`collect --no-wait` while the job runs", "nowhere", "it runs on",
        left("RUNNING", LOOK_ONCE, first=(never_ends,)), 0, "RUNNING", runs_on=True,
    ),
    Fault(
        "line-damaged-collect", "one line of the ledger damaged, then `collect`", "ledger",
        "said; `reap` and `down` find it by its label", left("RUNNING", COLLECT, then=(damages_a_line,)), 4, None,
    ),
    Fault(
        "line-damaged-list", "one line of the ledger damaged, then `list`", "ledger", "said",
        left("RUNNING", "launches list", first=(never_ends,), then=(damages_a_line,)), 4, None, said="cannot be read",
    ),
    Fault(
        "hosts-broken-reap", "a hosts.yaml that cannot be read, then `reap`", "client",
        "an alarm; the clouds are asked all the same", left(OPEN, REAP, then=(NO_YAML,)), 4, GONE, "completed",
        said="hosts.yaml",
    ),
    Fault(
        "hosts-broken-down", "... then `down --all`", "client", "taken down", left("RUNNING", DOWN, then=(NO_YAML,)), 0,
        GONE, "cancelled",
    ),
    Fault(
        "late-clock", "a machine comes late, the next client's clock 30 hours forward", "clock",
        "looked for until none can come, and ended",
        and_they_come(left(f"{BACKEND}.verify_down", COLLECT, first=(SLOW, boots(fails=FAILING, after=10**6)),
            then=(come_soon,), on=H100_AT_LAMBDA, FAULT_CLOCK_H="30")), 4, GONE, "refused",
    ),
    Fault(
        "late-full", "a machine comes late, the disk is full", "disk", "looked for from memory, and ended",
        and_they_come(left("SUBMITTED", does="full", first=(SLOW, boots(fails=FAILING, after=16)), on=H100_AT_LAMBDA)),
        4, "SUBMITTED",
    ),
    Fault(
        "late-locked", "a machine comes late after `down`, the ledger is locked", "ledger",
        "looked for from memory, and ended",
        and_they_come(after(left(f"{BACKEND}.status", first=(SLOW, boots(fails=FAILING, after=10**6)),
            on=H100_AT_LAMBDA), after(listed_as_they_come, writing_locked(command("launches", "down", "--all"))))),
        4, "SUBMITTED",
    ),
    Fault(
        "late-down-interrupted", "Ctrl-C while `down` waits for a machine that may come", "client",
        "said how to look again", after(left(f"{BACKEND}.status", first=(SLOW, boots(fails=FAILING, machine=False))),
            ended_at("LOST", "int", *DOWN.split())), 130, "LOST", said="planner launches collect",
    ),
    Fault(
        "late-down-terminated", "`down` ended by SIGTERM while a machine may come", "client",
        "the next client finds and ends it", after(left(f"{BACKEND}.status", first=(SLOW, boots(fails=FAILING,
            after=14)), on=H100_AT_LAMBDA), after(ended_at("LOST", "term", *DOWN.split()), command(*COLLECT.split()))),
        4, GONE, "cancelled",
    ),
    Fault(
        "odd-price", "SkyPilot's price is infinite", "SkyPilot", "no price is taken from it",
        left("RUNNING", COLLECT, then=(recorded(usd=float("inf")),)), 0, GONE, "completed",
    ),
    Fault(
        "odd-record", "SkyPilot's list says nothing of its own end", "SkyPilot", "listed all the same",
        left("RUNNING", REAP, first=(never_ends,), then=(no_autostop_known,)), 0, "RUNNING", runs_on=True,
    ),
    Fault(
        "machine-stopped", "somebody stops the machine", "EC2", "it is terminated: its disk costs money",
        left("RUNNING", DOWN, then=(machines_stop, LYING)), 0, GONE, "cancelled",
    ),
    Fault(
        "older-ledger", "the ledger is an older planner's", "ledger", "read, and added to",
        left("RUNNING", COLLECT, then=(ledger_of_the_past,)), 0, GONE, "completed",
    ),
    Fault(
        "three-at-once", "`down`, `collect` and `reap` at once", "client", "taken down once", three_at_once, 0, GONE,
    ),
    Fault(
        "other-workspace", "`reap` in another workspace of the same account", "client", "shown, not touched",
        left("RUNNING", "launches reap --yes --everywhere", first=(never_ends,), PLANNER_HOME="another"), 0, "RUNNING",
        runs_on=True,
    ),
    Fault(
        "down-document", "EC2 may not be asked, then `down --all --json`", "EC2", "one document says what is open",
        documented(left(OPEN, f"{DOWN} --json", then=(UNASKED, LYING)), "launches"), 4, OPEN, "completed",
    ),
    Fault(
        "reap-document", "one line of the ledger damaged, then `reap --json`", "ledger", "one document has the alarm",
        documented(left("RUNNING", f"{REAP} --json", then=(damages_a_line,)), "found"), 4, None,
    ),
    Fault(
        "no-profile", "a profile of AWS that does not exist", "client", "unknown, exit 4",
        left(OPEN, DOWN, then=(sets(AWS_PROFILE="none-such"), LYING)), 4, OPEN, "completed",
    ),
    Fault(
        "proxy-broken", "a proxy's address that is none", "client", "nothing is proven",
        left(OPEN, DOWN, then=(sets(ALL_PROXY="http://[bad"), LYING), on=H100_AT_LAMBDA), 4, OPEN, "completed",
        said="Lambda does not answer",
    ),
    Fault(
        "surroundings", "another language, no place for parts of files, a workspace named from here", "client",
        "no difference", launching(sets(LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0",
            TMPDIR="/nonexistent"), PLANNER_HOME="workspace"), 0, GONE, "completed",
    ),
    Fault(
        "budget-nan", "a budget that is not a number", "budget", "refused",
        launching(writes("workspace/budget.yaml", "schema_version: 1\ntotal_usd: .nan\n")), 2, None,
    ),
    Fault(
        "budget-endless", "a budget without end", "budget", "refused",
        launching(writes("workspace/budget.yaml", "schema_version: 1\ntotal_usd: .inf\n")), 2, None,
    ),
    Fault(
        "budget-lowered", "the budget is lowered while a launch is open", "budget", "the next one is refused",
        left("RUNNING", " ".join([*LAUNCH, *P4D]), then=(writes("workspace/budget.yaml",
            "schema_version: 1\ntotal_usd: 20\n"),)), 3, "RUNNING",
    ),
)  # fmt: skip
