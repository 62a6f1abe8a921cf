"""Rows: SkyPilot, or the process that holds it, answers wrongly, late or not at all."""

from __future__ import annotations

from tests.launcher.faults.acts import launching, left, machines_end, sky, sky_forgets, waits
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.killed import COLLECT, DOWN, GONE, REAP
from tests.launcher.faults.world import H100_AT_LAMBDA, WorldOfFaults

ERROR = ("ValueError", "a fault of SkyPilot's own")
LIES = '{"id": 1, "ok": {"launch": null, "cluster": null, "job": {"status": "SUCCEEDED"}}}'


def still_listed(world: WorldOfFaults) -> None:
    """Let SkyPilot list a cluster that is gone."""
    (cluster,) = world.sky.clusters.values()
    sky("status", answer=[cluster["record"]])(world)
    sky("queue", answer=[{"job_id": 1, "status": "SUCCEEDED"}])(world)


ANSWERS = (
    Fault(
        "prints", "a library prints on SkyPilot's output", "worker", "what is printed is no answer",
        launching(*(sky(do, worker={"print": "noise"}) for do in ("launch", "status", "queue", "down"))), 0, GONE,
        "completed",
    ),
    Fault(
        "prints-an-answer", "a library prints what looks like an answer", "worker", "it is none",
        launching(sky("status", worker={"print": LIES}), sky("queue", worker={"print": LIES})), 0, GONE, "completed",
    ),
    Fault(
        "ends-submitting", "worker dies as it submits, and SkyPilot has it already", "worker",
        "taken down, and looked for until nothing can come",
        launching(sky("launch", worker={"end": 9}, done=True, times=1)), 4, GONE, "refused",
    ),
    Fault(
        "ends-submitting-lambda", "... at Lambda", "worker", "the same",
        launching(sky("launch", worker={"end": 9}, done=True, times=1), on=H100_AT_LAMBDA), 4, GONE, "refused",
    ),
    Fault(
        "ends-looking", "worker dies as it looks, three times", "worker",
        "started again; nothing is taken for granted",
        left("RUNNING", COLLECT, then=(sky("status", worker={"end": 9}, times=3),)), 0, GONE, "completed",
    ),
    Fault(
        "ends-at-down", "worker dies as it takes down", "worker", "the cloud ends the machine; asked again",
        launching(sky("down", worker={"end": 1}, times=1)), 0, GONE, "completed",
    ),
    Fault(
        "hangs-looking", "worker hangs as it looks", "worker", "ended after its time, started again",
        launching(waits(ANSWER_TIMEOUT_S=3.0), sky("queue", worker={"hang": 30}, times=1)), 0, GONE, "completed",
    ),
    Fault(
        "hangs-at-down", "worker hangs as it takes down", "worker", "the cloud ends the machine",
        launching(waits(ANSWER_TIMEOUT_S=3.0), sky("down", worker={"hang": 30}, times=1)), 0, GONE, "completed",
    ),
    Fault(
        "silent-at-launch", "SkyPilot fails when it is asked before the submission", "SkyPilot",
        "nothing is submitted; looked for all the same", launching(sky("status", error=ERROR, times=1)), 4, GONE,
        "refused",
    ),
    Fault(
        "look-fails", "SkyPilot fails three times when asked", "SkyPilot", "the state is unknown, and asked again",
        left("RUNNING", COLLECT, then=(sky("status", error=ERROR, times=3),)), 0, GONE, "completed",
    ),
    Fault(
        "requests-fail", "SkyPilot's list of requests cannot be read, three times", "SkyPilot",
        "unknown, and asked again", left("RUNNING", COLLECT, then=(sky("api_status", error=ERROR, times=3),)), 0,
        GONE, "completed",
    ),
    Fault(
        "exits", "a part of SkyPilot ends its process", "SkyPilot", "an error like any other",
        launching(sky("queue", error=("SystemExit", "1"), times=2)), 0, GONE, "completed",
    ),
    Fault(
        "unknown-word", "SkyPilot answers with an unknown word", "SkyPilot",
        "unknown; nothing is taken down for it, nothing is trusted",
        launching(sky("queue", answer=[{"job_id": 1, "status": "ON_HOLIDAY"}], times=3)), 0, GONE, "completed",
    ),
    Fault(
        "no-list", "SkyPilot's answer is no list", "SkyPilot", "unknown, and asked again",
        left("RUNNING", COLLECT, then=(sky("status", answer={"not": "a list"}, times=2),)), 0, GONE, "completed",
    ),
    Fault(
        "forgets", "SkyPilot forgets the cluster while it runs", "SkyPilot",
        "the cloud is asked: the machine is ended there", left("RUNNING", COLLECT, then=(sky_forgets,)), 4, GONE,
    ),
    Fault(
        "forgets-lambda", "... at Lambda", "SkyPilot", "the same",
        left("RUNNING", COLLECT, then=(sky_forgets,), on=H100_AT_LAMBDA), 4, GONE,
    ),
    Fault(
        "forgets-down", "... then `down`", "SkyPilot", "the same", left("RUNNING", DOWN, then=(sky_forgets,)), 0,
        GONE, "cancelled",
    ),
    Fault(
        "down-fails", "SkyPilot cannot take down", "SkyPilot", "the cloud ends the machine",
        launching(sky("down", error=ERROR)), 0, GONE, "completed",
    ),
    Fault(
        "down-lies", "SkyPilot says done, and the machine runs", "SkyPilot", "the cloud ends the machine",
        launching(sky("down", answer=True)), 0, GONE, "completed",
    ),
    Fault(
        "down-lies-lambda", "... at Lambda", "SkyPilot", "the same",
        launching(sky("down", answer=True), on=H100_AT_LAMBDA), 0, GONE, "completed",
    ),
    Fault(
        "still-listed", "SkyPilot lists a cluster that the cloud does not have", "SkyPilot",
        "one of the two asks somebody else: nothing is proven", left("COLLECTED", DOWN, then=(still_listed,)), 4,
        "COLLECTED", "completed",
    ),
    Fault(
        "still-listed-reap", "... then `reap`", "SkyPilot", "an alarm",
        left("COLLECTED", REAP, then=(still_listed,)), 4, "COLLECTED", "completed",
    ),
    Fault(
        "list-fails-reap", "SkyPilot cannot list its clusters", "SkyPilot", "`reap` is alarmed",
        left("RUNNING", "launches reap", then=(sky("status", error=ERROR),)), 4, "RUNNING",
    ),
    Fault(
        "machine-ended", "machine ended by its provider (spot taken away, node lost)", "EC2",
        "lost; nothing is left", left("RUNNING", COLLECT, then=(machines_end,), options=("--nodes", "1")), 4, GONE,
    ),
    Fault(
        "machine-ended-lambda", "... at Lambda", "Lambda", "the same",
        left("RUNNING", COLLECT, then=(machines_end,), on=H100_AT_LAMBDA), 4, GONE,
    ),
)  # fmt: skip
