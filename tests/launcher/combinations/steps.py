"""Effects of faults on a launch in memory: each step changes the cloud, SkyPilot or the client's side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.launcher.simulated.cloud import CloudMachine

if TYPE_CHECKING:
    from tests.launcher.combinations.world import FaultyWorld

BEHIND_S = 240.0
"""Delay of lists: less than the five minutes without which nothing could be proven."""
Step = Callable[["FaultyWorld"], object]


def wrong(name: str) -> Step:
    """Return the step with which the cloud's answers become wrong in this way."""
    return lambda world: world.cloud.wrong.add(name)


def right(name: str) -> Step:
    """Return the step with which that ceases."""
    return lambda world: world.cloud.wrong.discard(name)


def lists_empty(world: FaultyWorld) -> None:
    """Let the lists be behind from now on."""
    world.cloud.blind_until_s = world.cloud.now_s + BEHIND_S


def cloud(**changes: object) -> Step:
    """Return the step that changes the cloud."""

    def step(world: FaultyWorld) -> None:
        for name, value in changes.items():
            setattr(world.cloud, name, value)

    return step


def sky(**changes: object) -> Step:
    """Return the step that changes SkyPilot."""

    def step(world: FaultyWorld) -> None:
        for name, value in changes.items():
            setattr(world.sky, name, value)

    return step


def side(**changes: object) -> Step:
    """Return the step that changes the client's side."""

    def step(world: FaultyWorld) -> None:
        for name, value in changes.items():
            setattr(world, name, value)

    return step


def both(first: Step, second: Step) -> Step:
    """Return two steps as one."""
    return lambda world: (first(world), second(world))


def dies(*places: str) -> Step:
    """Return the step after which the client dies at the next of these places."""
    return lambda world: world.dies_at.update(places)


def turns(hours: int) -> Step:
    """Return the step that sets the clock."""
    return lambda world: world.clock.turn(hours=hours)


def unlabelled(world: FaultyWorld) -> None:
    """Take the labels of every machine away."""
    for instance in world.cloud.instances:
        instance.labelled = False


def rotated(world: FaultyWorld) -> None:
    """Let the account have another key, which is the one here."""
    world.cloud.keys, world.cloud.key_here = {"key-2"}, "key-2"


def fails_over(world: FaultyWorld) -> None:
    """Let a machine come and end again, and SkyPilot seek another one, which comes 40 s after the watchdog."""
    world.sky.seeks_on = True
    world.cloud.instances.append(CloudMachine("i-first", came_s=20.0, ended_s=80.0))
    world.cloud.boots_for_s = 640.0


def taken_away(world: FaultyWorld) -> None:
    """Let the provider end what runs."""
    for machine in world.cloud.running:
        world.cloud.take(machine)


def one_more(world: FaultyWorld) -> None:
    """Let another machine come with the label of the launch, after the proof."""
    another = CloudMachine("i-late", came_s=world.cloud.now_s)
    world.cloud.instances.append(another)
    world.after_proof.append(another)


def stands_beside(world: FaultyWorld) -> None:
    """Start another machine of the launch by SkyPilot that is missing from SkyPilot's list."""
    world.cloud.instances.append(CloudMachine("i-beside", came_s=world.cloud.now_s))


def asleep(seconds: float) -> Step:
    """Return the step after which no client looks for so long."""

    def step(world: FaultyWorld) -> None:
        world.stopped, world.away_until_s = True, world.cloud.now_s + seconds

    return step


def user_takes_down(world: FaultyWorld) -> None:
    """Let the watching client be stopped, and the person say `down`."""
    world.stopped, world.verb = True, "down"
