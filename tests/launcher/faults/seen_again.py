"""Rows: clients that stand still for too long, and machines that appear late, after the end or under other tags."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from functools import partial

from tests.launcher.faults.acts import Act, Prepare, boots, ec2, left, sky, sky_forgets, stop, waits
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.forks import ForkedCommand
from tests.launcher.faults.killed import DOWN, GONE, REAP
from tests.launcher.faults.states import never_ends
from tests.launcher.faults.world import H100_AT_LAMBDA, LAUNCH, P4D, Done, WorldOfFaults

OPEN = "COLLECTED"
LYING = sky("down", answer=True)
GONE_FROM_SKY = sky("status", answer=[])
LATER = {"FAULT_CLOCK_H": "30", "FAULT_AWAKE_H": "30"}


def another_job(world: WorldOfFaults) -> None:
    """Let another person's job on the cluster be newer than ours, and over."""
    (name,) = world.sky.clusters
    ours, theirs = {"job_id": 1, "job_name": name}, {"job_id": 2, "job_name": "theirs"}
    sky("queue", answer=[ours | {"status": "RUNNING"}, theirs | {"status": "SUCCEEDED"}])(world)


def comes_back(world: WorldOfFaults) -> None:
    """Start such a machine again after the proof, like a group that replaces its machines."""
    machine = world.machines[0]
    commands = ["post_provision_runcmd shutdown"]
    world.start(
        machine.cloud,
        machine.kind,
        region=machine.region,
        cluster=machine.cluster,
        labels=machine.labels,
        settings=commands,
        autostop=True,
    )


def protected(world: WorldOfFaults) -> None:
    """Protect the machines against termination."""
    for machine in world.machines:
        world.clients(machine.region).modify_instance_attribute(
            InstanceId=machine.id, DisableApiTermination={"Value": True}
        )


def unprotected(world: WorldOfFaults) -> None:
    """Remove the protection of the machines."""
    for machine in world.machines:
        world.clients(machine.region).modify_instance_attribute(
            InstanceId=machine.id, DisableApiTermination={"Value": False}
        )


def untagged(world: WorldOfFaults) -> None:
    """Remove our label."""
    for machine in world.machines:
        world.clients(machine.region).delete_tags(Resources=[machine.id], Tags=[{"Key": "planner-run"}])


def still_protected(world: WorldOfFaults) -> Done:
    """Take down protected machines, and remove their protection afterwards, as a person would in the console."""
    done = left(OPEN, DOWN, then=(protected, LYING))(world)
    unprotected(world)
    return done


def when(world: WorldOfFaults, question: str, times: int) -> None:
    """Wait until SkyPilot has been asked a question `times` times."""
    until_s = time.monotonic() + 60.0
    while world.sky.asked.count(question) < times and time.monotonic() < until_s:
        time.sleep(0.05)


def end_of(process: ForkedCommand) -> Done:
    """Wait for the end of a client."""
    out, err = process.communicate(timeout=120)
    return Done(process.returncode, out, err)


def stands_still(*words: str, on: tuple[str, ...] = P4D, then: tuple[Prepare, ...] = ()) -> Act:
    """Return a step that stops a client while its job runs, and runs another client 30 hours later."""

    def act(world: WorldOfFaults) -> Done:
        never_ends(world)
        process = world.begin(*LAUNCH, *on)
        when(world, "queue", 2)
        stop(process, world)
        for prepare in then:
            prepare(world)
        try:
            return world.cli(*words, **LATER)
        finally:
            process.kill()
            end_of(process)

    return act


def wakes_after_the_proof(world: WorldOfFaults) -> Done:
    """Stop a client as it submits, run another one's `down`, which stops waiting, and let the first go on."""
    world.settings["planner.launcher.drive.drive:SUBMISSION_PATIENCE_S"] = 1.0
    process = world.begin(*LAUNCH, *P4D)
    world.sky.meanwhile["status"] = lambda: stop(process, world)
    process.wait_until_stopped()
    assert world.cli(*DOWN.split()).code == 0
    os.kill(process.pid, signal.SIGCONT)
    return end_of(process)


def twice_interrupted(world: WorldOfFaults) -> Done:
    """Press Ctrl-C three times while SkyPilot does not answer a submission that it has already carried out."""
    sky("launch", worker={"hang": 20}, done=True)(world)
    process = world.begin(*LAUNCH, *P4D)
    when(world, "launch", 1)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
        time.sleep(0.7)
    return end_of(process)


def locked_for_a_while(world: WorldOfFaults) -> Done:
    """Lock the ledger for longer than a client waits."""
    never_ends(world)
    process = world.begin(*LAUNCH, *P4D)
    when(world, "queue", 1)
    with closing(sqlite3.connect(world.home / "ledger.sqlite", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(3.0)
    for cluster in world.sky.clusters.values():
        cluster["comes_to"] = "SUCCEEDED"
    return end_of(process)


def another_comes_late(world: WorldOfFaults) -> Done:
    """Deliver another machine than ordered, and the ordered one when that is gone."""
    for prepare in (boots(instance_type="p5.48xlarge"), waits(SETTLED_AFTER_S=6.0)):
        prepare(world)
    process = world.begin(*LAUNCH, *P4D)
    when(world, "down", 1)
    machine = world.machines[0]
    start = partial(
        world.start, "aws", "p4d.24xlarge", region="us-east-1", cluster=machine.cluster, labels=machine.labels
    )
    start(settings=["post_provision_runcmd shutdown"], autostop=True)
    return end_of(process)


SEEN_AGAIN = (
    Fault(
        "stands-still-reap", "a client stands still for 30 hours, then `reap`", "client", "taken down all the same",
        stands_still(*REAP.split()), 0, GONE, "truncated",
    ),
    Fault(
        "stands-still-forgotten", "... at Lambda, and SkyPilot has forgotten the cluster", "client", "the same",
        stands_still(*REAP.split(), on=H100_AT_LAMBDA, then=(sky_forgets,)), 0, GONE, "lost|truncated",
    ),
    Fault(
        "stands-still-collect", "... then `collect`", "client", "it does not wait for the other one",
        stands_still("launches", "collect"), 4, GONE, "truncated",
    ),
    Fault(
        "stands-still-submitting", "a client stands still as it submits; after another one's `down` it wakes up",
        "client", "the launch is open again, until nothing is left of it", wakes_after_the_proof, 4, GONE,
        "cancelled",
    ),
    Fault(
        "interrupted-twice", "Ctrl-C three times while SkyPilot hangs", "client", "said how to stop it",
        twice_interrupted, 130, "SUBMITTED", said="planner launches down", runs_on=True,
    ),
    Fault(
        "back-reap", "such a machine is started again after the proof, then `reap`", "EC2",
        "an alarm; the launch is open again", left(GONE, "launches reap", does="term", then=(comes_back,)), 4, "LOST",
        "completed",
    ),
    Fault(
        "back-reap-yes", "... then `reap --yes`", "EC2", "taken down",
        left(GONE, REAP, does="term", then=(comes_back,)), 0, GONE, "completed",
    ),
    Fault(
        "back-down", "... then `down ID`", "EC2", "asked for again, and taken down",
        left(GONE, "launches down ID", does="term", then=(comes_back,)), 0, GONE, "completed",
    ),
    Fault(
        "back-unasked", "`down ID` of a launch that is over, EC2 may not be asked", "EC2", "exit 4",
        left(GONE, "launches down ID", does="term", then=(ec2("UnauthorizedOperation", only="DescribeInstances"),)), 4,
        GONE, "completed",
    ),
    Fault(
        "mismatch-late", "another machine than ordered comes, and later the ordered one", "SkyPilot",
        "both are ended", another_comes_late, 4, GONE, "mismatch",
    ),
    Fault(
        "untagged", "somebody takes our label away, SkyPilot's `down` lies and forgets", "EC2",
        "found by SkyPilot's own tag", left(OPEN, DOWN, then=(untagged, LYING, GONE_FROM_SKY)), 0, GONE, "completed",
    ),
    Fault(
        "protected", "somebody protects the machine against its end", "EC2", "exit 4: it may still run",
        still_protected, 4, OPEN, "completed", said="may still run",
    ),
    Fault(
        "another-job", "somebody runs a job of his own on the cluster", "SkyPilot", "ours runs on",
        left("RUNNING", "launches collect --no-wait", first=(never_ends,), then=(another_job,)), 0,
        "RUNNING", runs_on=True,
    ),
    Fault(
        "locked-a-while", "the ledger is locked for some seconds", "ledger", "watched from memory meanwhile",
        locked_for_a_while, 0, GONE, "completed",
    ),
    Fault(
        "sts-throttled", "AWS does not say whose keys these are, after the launch", "EC2", "nothing is proven",
        left(OPEN, DOWN, then=(ec2("Throttling", 400, only="GetCallerIdentity"),)), 4, OPEN, "completed",
    ),
)  # fmt: skip
