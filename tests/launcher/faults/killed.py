"""Rows: the client ends, is killed or stands still, at a state of the ledger or between two."""

from __future__ import annotations

from tests.launcher.faults.acts import boots, launching, left, meanwhile, output, sky, stopped
from tests.launcher.faults.fault import Fault
from tests.launcher.faults.world import H100_AT_LAMBDA

BACKEND = "planner.launcher.backends.sky.backend:SkyBackend"
COLLECT, DOWN, REAP = "launches collect", "launches down --all", "launches reap --yes"
GONE = "DOWN_VERIFIED"
FAILING = ("ResourcesUnavailableError", "no capacity")

KILLED = (
    Fault(
        "no-fault", "none", "nowhere", "the job is collected and its machine is gone", launching(), 0, GONE,
        "completed",
    ),
    Fault(
        "killed-planned", "client killed at PLANNED", "client", "nothing was submitted, and nothing is later",
        left("PLANNED", COLLECT), 4, GONE, "never_submitted",
    ),
    Fault(
        "killed-planned-reap", "... then `reap`", "client", "the intent is closed", left("PLANNED", REAP), 0, GONE,
        "never_submitted",
    ),
    Fault(
        "killed-submitting", "client killed just before it submits", "client",
        "the next client finds nothing for as long as something may come", left(f"{BACKEND}.submit", COLLECT), 4,
        GONE, "lost",
    ),
    Fault(
        "killed-submitted", "client killed at SUBMITTED", "client",
        "the next client looks, then takes down and verifies", left("SUBMITTED", COLLECT), 4, GONE, "lost",
    ),
    Fault(
        "killed-running", "client killed at RUNNING", "client", "the next client collects and takes down",
        left("RUNNING", COLLECT), 0, GONE, "completed",
    ),
    Fault(
        "killed-running-down", "... then `down --all`", "client", "what there is comes home, then it goes down",
        left("RUNNING", DOWN), 0, GONE, "cancelled",
    ),
    Fault(
        "killed-running-reap", "... then `reap`", "client", "the job that is over is collected, its machine goes",
        left("RUNNING", REAP, REAP), 0, GONE, "completed",
    ),
    Fault(
        "killed-running-lambda", "... on a machine of Lambda", "client", "the next client collects and takes down",
        left("RUNNING", COLLECT, on=H100_AT_LAMBDA), 0, GONE, "completed",
    ),
    Fault(
        "killed-collecting", "client killed as it collects", "client", "the next client collects",
        left(f"{BACKEND}.collect", COLLECT), 0, GONE, "completed",
    ),
    Fault(
        "killed-collected", "client killed at COLLECTED", "client", "the next client takes down and verifies",
        left("COLLECTED", COLLECT), 0, GONE, "completed",
    ),
    Fault(
        "killed-collected-reap", "... then `reap`", "client", "it takes down and verifies", left("COLLECTED", REAP),
        0, GONE, "completed",
    ),
    Fault(
        "killed-before-down", "client killed before it takes down", "client",
        "the next client takes down and verifies", left(f"{BACKEND}.down", COLLECT), 0, GONE, "completed",
    ),
    Fault(
        "killed-before-proof", "client killed between taking down and the proof", "client",
        "the next client proves it", left(f"{BACKEND}.verify_down", COLLECT), 0, GONE, "completed",
    ),
    Fault(
        "killed-lost", "client killed at LOST", "client", "the next client takes down and verifies",
        left("LOST", COLLECT, first=(boots(fails=FAILING, machine=False, results=False), sky("reach",
            error=("ClusterDoesNotExist", "none")), sky("tail_logs", error=("ValueError", "no log")))), 4, GONE,
        "refused",
    ),
    Fault(
        "killed-over", "client killed at DOWN_VERIFIED", "client", "`collect ID` makes the record",
        left(GONE, "launches collect ID"), 0, GONE, "completed",
    ),
    Fault(
        "terminated", "client ended by SIGTERM at RUNNING", "client", "the next client collects and takes down",
        left("RUNNING", COLLECT, does="term"), 0, GONE, "completed",
    ),
    Fault(
        "interrupted", "Ctrl-C at RUNNING", "client",
        "the job goes on under its own caps, and it is said how to stop it", left("RUNNING", does="int"), 130,
        "RUNNING|COLLECTED|DOWN_VERIFIED", said="planner launches",
    ),
    Fault(
        "interrupted-planned", "Ctrl-C before the submission", "client", "nothing is submitted",
        left("PLANNED", does="int"), 130, "PLANNED",
    ),
    Fault(
        "hung-up", "terminal hangs up at RUNNING", "client", "the watch goes on to its end",
        left("RUNNING", does="hup"), 0, GONE, "completed",
    ),
    Fault(
        "stdout-closed", "output closed from the start", "client", "the watch goes on to its end", output(">&-"), 0,
        GONE, "completed",
    ),
    Fault(
        "stdout-unread", "output into a pipe without a reader", "client", "the watch goes on to its end",
        output("> >(exec true)"), 0, GONE, "completed",
    ),
    Fault(
        "output-full", "output to a full disk", "client", "the watch goes on to its end",
        output("> /dev/full 2> /dev/full"), 0, GONE, "completed",
    ),
    Fault(
        "stopped", "client stands still (Ctrl-Z), another one takes down", "client",
        "the machine goes down; the first client finds it done", stopped, 0, GONE, "cancelled|completed",
    ),
    Fault(
        "down-while-submitting", "`down` by another client while one submits", "client",
        "the one waits for the other; what was submitted is taken down",
        meanwhile("launch", *DOWN.split(), then=launching()), 0, GONE,
    ),
)  # fmt: skip
