"""Rows: the client dies at a state of the ledger, or between two."""

from __future__ import annotations

from collections.abc import Callable

from tests.launcher.faults.fault import Fault
from tests.launcher.faults.world import Done, World


def then(*commands: str, killed_at: str) -> Callable[[World], Done]:
    """Kill the client at a state, then run commands; the last one's code counts."""

    def act(world: World) -> Done:
        world.launch(killed_at=killed_at)
        done = None
        for command in commands:
            done = world.cli(*command.split())
        assert done is not None
        return done

    return act


def nothing_fails(world: World) -> Done:
    return world.launch()


KILLED = (
    Fault(
        "no-fault",
        "none",
        "nowhere",
        "the job is collected and its machine is gone",
        nothing_fails,
        0,
        "DOWN_VERIFIED",
        "completed",
        quick=True,
    ),
    Fault(
        "killed-planned",
        "client killed at PLANNED",
        "client",
        "nothing was submitted, and nothing is later",
        then("launches collect", killed_at="PLANNED"),
        4,
        "DOWN_VERIFIED",
        "never_submitted",
    ),
    Fault(
        "killed-submitted",
        "client killed at SUBMITTED",
        "client",
        "the next client looks, then takes down and verifies",
        then("launches collect", killed_at="SUBMITTED"),
        4,
        "DOWN_VERIFIED",
    ),
    Fault(
        "killed-running",
        "client killed at RUNNING",
        "client",
        "the next client collects and takes down",
        then("launches collect", killed_at="RUNNING"),
        0,
        "DOWN_VERIFIED",
        "completed",
        quick=True,
    ),
    Fault(
        "killed-collected",
        "client killed at COLLECTED",
        "client",
        "the next client takes down and verifies",
        then("launches collect", killed_at="COLLECTED"),
        0,
        "DOWN_VERIFIED",
        "completed",
    ),
)
