"""Steps of the rows that break launching: preparations, and the command whose exit code counts."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from tests.launcher.faults.forks import ForkedCommand
from tests.launcher.faults.sky_server import Boot, Instead
from tests.launcher.faults.world import LAUNCH, P4D, Done, WorldOfFaults

Act = Callable[[WorldOfFaults], Done]
Prepare = Callable[[WorldOfFaults], object]


def launching(*prepared: Prepare, options: tuple[str, ...] = (), on: tuple[str, ...] = P4D, **how: str) -> Act:
    """Return a step that prepares and then launches to the end; `how` is passed to `WorldOfFaults.begin`."""

    def act(world: WorldOfFaults) -> Done:
        for prepare in prepared:
            prepare(world)
        return world.launch(*options, on=on, **how)

    return act


def left(
    at: str,
    *commands: str,
    does: str = "kill",
    first: tuple[Prepare, ...] = (),
    then: tuple[Prepare, ...] = (),
    on: tuple[str, ...] = P4D,
    options: tuple[str, ...] = (),
    **environment: str,
) -> Act:
    """Return a step that launches, does `does` to the client at a state, prepares, and runs commands.

    The exit code of the last command counts.
    """

    def act(world: WorldOfFaults) -> Done:
        for prepare in first:
            prepare(world)
        done = world.launch(*options, on=on, at=at, does=does)
        for prepare in then:
            prepare(world)
        for command in commands:
            ids = [entry.launch.run_id for entry in world.entries()] or world.ids
            done = world.cli(*command.replace("ID", " ".join(ids)).split(), **environment)
        return done

    return act


def sky(do: str, **instead: Any) -> Prepare:
    """Return a preparation that changes SkyPilot's answer to one question."""
    return lambda world: world.sky.instead.update({do: Instead(**instead)})


def boots(**what: Any) -> Prepare:
    """Return a preparation that changes the result of a submission."""
    return lambda world: setattr(world.sky, "boot", Boot(**what))


def ec2(code: str, status: int = 403, **which: Any) -> Prepare:
    """Return a preparation that makes AWS refuse the product's requests."""
    return lambda world: world.aws.ask("refuse", **({"code": code, "status": status, "after": 0} | which))


def lambda_refuses(status: int) -> Prepare:
    """Return a preparation that makes Lambda refuse every request."""
    return lambda world: world.lambda_labs.ask("refuse", code="global/refused", status=status)


def lambda_keeps(world: WorldOfFaults) -> object:
    """Make Lambda refuse to terminate its machines."""
    names = [f"{machine.cluster}-0a1b2c3d-head" for machine in world.machines]
    return world.lambda_labs.ask("keep", names=names)


def sets(**environment: str) -> Prepare:
    """Return a preparation that sets environment variables of all later commands; an empty one is removed."""

    def prepare(world: WorldOfFaults) -> None:
        for name, value in environment.items():
            world.environment.pop(name, None)
            if value:
                world.environment[name] = value

    return prepare


def waits(**seconds: float) -> Prepare:
    """Return a preparation that sets lengths of waits, by the names of their constants."""
    places = {
        "SETTLED_AFTER_S": "planner.launcher.drive.gone",
        "ANSWER_TIMEOUT_S": "planner.launcher.backends.sky.process",
        "SILENCE_S": "planner.time_limits",
        "OPERATION_S": "planner.time_limits",
    }
    return lambda world: world.settings.update({f"{places[name]}:{name}": value for name, value in seconds.items()})


def writes(path: str, text: str | bytes) -> Prepare:
    """Return a preparation that writes a file below the home folder."""

    def prepare(world: WorldOfFaults) -> None:
        file = world.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    return prepare


def result(text: bytes) -> Prepare:
    """Return a preparation that replaces the good result.json of the node."""
    return lambda world: setattr(world, "result", text)


def machines_end(world: WorldOfFaults) -> None:
    """End every machine at the provider; SkyPilot finds out when it is asked."""
    for machine in world.machines:
        world.end(machine.id)
    sky("queue", error=("ClusterNotUpError", "the cluster does not answer"))(world)


def sky_forgets(world: WorldOfFaults) -> None:
    """Empty SkyPilot's list and requests, as after the start of another server."""
    world.sky.clusters.clear()
    world.sky.requests.clear()


def forgets(*names: str) -> Prepare:
    """Return a preparation that deletes files of the home folder; later commands still know the ids."""

    def prepare(world: WorldOfFaults) -> None:
        world.ids = [entry.launch.run_id for entry in world.entries()]
        for name in names:
            (world.folder / name).unlink()

    return prepare


def damages(world: WorldOfFaults) -> None:
    """Overwrite the ledger with something else."""
    world.ids = [entry.launch.run_id for entry in world.entries()]
    (world.home / "ledger.sqlite").write_bytes(b"no ledger " * 1000)


def damages_a_line(world: WorldOfFaults) -> None:
    """Replace one launch of the ledger by invalid JSON."""
    world.ids = [entry.launch.run_id for entry in world.entries()]
    with closing(sqlite3.connect(world.home / "ledger.sqlite")) as connection, connection:
        connection.execute("UPDATE launches SET launch = '{'")


def writing_locked(act: Act) -> Act:
    """Return the step under a lock that prevents writes to the ledger."""

    def locked(world: WorldOfFaults) -> Done:
        with closing(sqlite3.connect(world.home / "ledger.sqlite", isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            return act(world)

    return locked


def command(*words: str) -> Act:
    """Return a step that runs a command."""
    return lambda world: world.cli(*words)


def after(first: Act, then: Act) -> Act:
    """Return a step that does both; the exit code of the second counts."""

    def act(world: WorldOfFaults) -> Done:
        first(world)
        return then(world)

    return act


def output(shell: str) -> Act:
    """Return a step that launches with a redirection of the shell."""

    def act(world: WorldOfFaults) -> Done:
        words = [sys.executable, "-m", "planner.cli.main", *LAUNCH, *P4D]
        environment = world.environment | world.fault_settings()
        finished = subprocess.run(
            ["bash", "-c", f'"$@" {shell}', "bash", *words],
            env=environment, cwd=world.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
            check=False,
        )  # fmt: skip
        return Done(finished.returncode, finished.stdout, finished.stderr)

    return act


def at_once(*commands: tuple[str, ...]) -> Callable[[WorldOfFaults], list[Done]]:
    """Return a step that runs commands at the same time."""

    def act(world: WorldOfFaults) -> list[Done]:
        begun = [world.begin(*words) for words in commands]
        ended = [(process, process.communicate(timeout=120)) for process in begun]
        return [Done(process.returncode, *output) for process, output in ended]

    return act


def worst(act: Callable[[WorldOfFaults], list[Done]], codes: list[int]) -> Act:
    """Return a step that checks the exit codes of simultaneous commands, in any order; the highest counts."""

    def checked(world: WorldOfFaults) -> Done:
        done = sorted(act(world), key=lambda answer: answer.code)
        assert [answer.code for answer in done] == codes, done
        return done[-1]

    return checked


def meanwhile(do: str, *words: str, then: Act) -> Act:
    """Return a step in which another client begins a command while `then` asks SkyPilot something.

    Both are awaited; the exit code of the other client counts.
    """

    def act(world: WorldOfFaults) -> Done:
        other: list[ForkedCommand] = []
        world.sky.meanwhile[do] = lambda: other.append(world.begin(*words))
        then(world)
        (process,) = other
        out, err = process.communicate(timeout=120)
        return Done(process.returncode, out, err)

    return act


def stop(process: ForkedCommand, world: WorldOfFaults) -> None:
    """Stop a client, but not within a write to the ledger, because the ledger would then stay locked."""
    for _ in range(20):
        os.kill(process.pid, signal.SIGSTOP)
        with suppress(sqlite3.Error), closing(sqlite3.connect(world.home / "ledger.sqlite", timeout=0.2)) as ledger:
            ledger.execute("BEGIN IMMEDIATE")
            return
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.1)


def stopped(world: WorldOfFaults) -> Done:
    """Stop a client (Ctrl-Z, a sleeping laptop) while its launch runs, take down with another one, then wake it."""
    waiting = world.begin(*LAUNCH, *P4D)
    world.sky.meanwhile["queue"] = lambda: stop(waiting, world)
    watcher = world.begin("launches", "list")
    watcher.communicate(timeout=120)
    waiting.wait_until_stopped()
    done = world.cli("launches", "down", "--all")
    os.kill(waiting.pid, signal.SIGCONT)
    waiting.communicate(timeout=120)
    return done
