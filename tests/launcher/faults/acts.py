"""How rows break launching: what is prepared, and which command's end counts."""

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

from tests.launcher.faults.sky_server import Boot, Instead
from tests.launcher.faults.world import LAUNCH, P4D, Done, WorldOfFaults

Act = Callable[[WorldOfFaults], Done]
Prepare = Callable[[WorldOfFaults], object]


def launching(*prepared: Prepare, options: tuple[str, ...] = (), on: tuple[str, ...] = P4D, **how: str) -> Act:
    """Prepare, then launch to the end; `how` as of `WorldOfFaults.begin`."""

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
    """Launch with `does` done to the client at a state; prepare, then run commands; the last one's code counts."""

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
    """SkyPilot answers a question otherwise."""
    return lambda world: world.sky.instead.update({do: Instead(**instead)})


def boots(**what: Any) -> Prepare:
    """A submission comes to something else."""
    return lambda world: setattr(world.sky, "boot", Boot(**what))


def ec2(code: str, status: int = 403, **which: Any) -> Prepare:
    """AWS refuses requests of the product."""
    return lambda world: world.aws.ask("refuse", **({"code": code, "status": status, "after": 0} | which))


def lambda_refuses(status: int) -> Prepare:
    """Lambda refuses every request."""
    return lambda world: world.lambda_labs.ask("refuse", code="global/refused", status=status)


def lambda_keeps(world: WorldOfFaults) -> object:
    """Lambda refuses to terminate what is there."""
    names = [f"{machine.cluster}-0a1b2c3d-head" for machine in world.machines]
    return world.lambda_labs.ask("keep", names=names)


def sets(**environment: str) -> Prepare:
    """Environment variables of every command from now on; an empty one is removed."""

    def prepare(world: WorldOfFaults) -> None:
        for name, value in environment.items():
            world.environment.pop(name, None)
            if value:
                world.environment[name] = value

    return prepare


def waits(**seconds: float) -> Prepare:
    """Lengths of waits, by the names of constants."""
    places = {
        "SETTLED_AFTER_S": "planner.launcher.drive.submission",
        "ANSWER_TIMEOUT_S": "planner.launcher.backends.sky.process",
        "SILENCE_S": "planner.time_limits",
        "OPERATION_S": "planner.time_limits",
    }
    return lambda world: world.settings.update({f"{places[name]}:{name}": value for name, value in seconds.items()})


def writes(path: str, text: str | bytes) -> Prepare:
    """A file below the home folder."""

    def prepare(world: WorldOfFaults) -> None:
        file = world.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    return prepare


def result(text: bytes) -> Prepare:
    """The node leaves something else than a good result.json."""
    return lambda world: setattr(world, "result", text)


def machines_end(world: WorldOfFaults) -> None:
    """The provider ends every machine, and SkyPilot finds out when it is asked."""
    for machine in world.machines:
        world.end(machine.id)
    sky("queue", error=("ClusterNotUpError", "the cluster does not answer"))(world)


def sky_forgets(world: WorldOfFaults) -> None:
    """SkyPilot's list and requests are empty, as after another server's start."""
    world.sky.clusters.clear()
    world.sky.requests.clear()


def forgets(*names: str) -> Prepare:
    """Files of the home folder are deleted; `ID`s are remembered for later commands."""

    def prepare(world: WorldOfFaults) -> None:
        world.ids = [entry.launch.run_id for entry in world.entries()]
        for name in names:
            (world.folder / name).unlink()

    return prepare


def damages(world: WorldOfFaults) -> None:
    """The ledger is overwritten with something else."""
    world.ids = [entry.launch.run_id for entry in world.entries()]
    (world.home / "ledger.sqlite").write_bytes(b"no ledger " * 1000)


def damages_a_line(world: WorldOfFaults) -> None:
    """One launch of the ledger is no JSON any more."""
    world.ids = [entry.launch.run_id for entry in world.entries()]
    with closing(sqlite3.connect(world.home / "ledger.sqlite")) as connection, connection:
        connection.execute("UPDATE launches SET launch = '{'")


def writing_locked(act: Act) -> Act:
    """Nobody else may write the ledger while it happens."""

    def locked(world: WorldOfFaults) -> Done:
        with closing(sqlite3.connect(world.home / "ledger.sqlite", isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            return act(world)

    return locked


def command(*words: str) -> Act:
    """Run a command."""
    return lambda world: world.cli(*words)


def after(first: Act, then: Act) -> Act:
    """Do both; the second one's end counts."""

    def act(world: WorldOfFaults) -> Done:
        first(world)
        return then(world)

    return act


def output(shell: str) -> Act:
    """Launch with a redirection of the shell."""

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
    """Run commands at the same time."""

    def act(world: WorldOfFaults) -> list[Done]:
        begun = [world.begin(*words) for words in commands]
        ended = [(process, process.communicate(timeout=120)) for process in begun]
        return [Done(process.returncode, *told) for process, told in ended]

    return act


def worst(act: Callable[[WorldOfFaults], list[Done]], codes: list[int]) -> Act:
    """Of commands that ran at the same time: these exit codes, in any order; the highest counts."""

    def checked(world: WorldOfFaults) -> Done:
        done = sorted(act(world), key=lambda answer: answer.code)
        assert [answer.code for answer in done] == codes, done
        return done[-1]

    return checked


def meanwhile(do: str, *words: str, then: Act) -> Act:
    """While SkyPilot is asked something, another client begins a command; the first one's end is awaited too."""

    def act(world: WorldOfFaults) -> Done:
        other: list[subprocess.Popen[str]] = []
        world.sky.meanwhile[do] = lambda: other.append(world.begin(*words))
        then(world)
        (process,) = other
        out, err = process.communicate(timeout=120)
        return Done(process.returncode, out, err)

    return act


def stop(process: subprocess.Popen[str], world: WorldOfFaults) -> None:
    """Stop a client, but not within a write to the ledger, which would keep everybody from it."""
    for _ in range(20):
        os.kill(process.pid, signal.SIGSTOP)
        with suppress(sqlite3.Error), closing(sqlite3.connect(world.home / "ledger.sqlite", timeout=0.2)) as ledger:
            ledger.execute("BEGIN IMMEDIATE")
            return
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.1)


def stopped(world: WorldOfFaults) -> Done:
    """A client is stopped (Ctrl-Z, a laptop that sleeps) while its launch runs; another one finishes; it wakes up."""
    waiting = world.begin(*LAUNCH, *P4D)
    world.sky.meanwhile["queue"] = lambda: stop(waiting, world)
    watcher = world.begin("launches", "list")
    watcher.communicate(timeout=120)
    os.waitid(os.P_PID, waiting.pid, os.WSTOPPED | os.WNOWAIT)
    done = world.cli("launches", "down", "--all")
    os.kill(waiting.pid, signal.SIGCONT)
    waiting.communicate(timeout=120)
    return done
