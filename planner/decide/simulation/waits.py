"""How long a run waits before it starts: in a queue, or for a machine that can be had some day."""

from __future__ import annotations

import math

import numpy as np

from planner.decide.simulation.draws import Array
from planner.errors import InputError


def _check(busy: float, where: str) -> None:
    if not 0 <= busy < 1:
        raise InputError(
            f"{where} is asked for {busy:.3g} of what it can do: its queue grows without end.",
            fix="Give it less work or more nodes: a queue has a length only below 1.",
        )


def wait_single(rng: np.random.Generator, *, service_hours: float, busy: float, size: tuple[int, ...]) -> Array:
    """Draw waits for one machine whose jobs come at random and take `service_hours` each (M/D/1), in hours.

    wait = sum of N uniform shares of a job; N geometric: P(N = n) = (1 - busy) busy^n
    mean = busy x service / (2 (1 - busy))

    Source: Pollaczek-Khinchine formula; Kleinrock, Queueing Systems I, 1975, section 5.7.
    """
    _check(busy, "one machine")
    ahead = rng.geometric(1 - busy, size).ravel() - 1
    ends = np.concatenate([[0.0], np.cumsum(rng.random(int(ahead.sum())))])
    waits = np.diff(ends[np.concatenate([[0], np.cumsum(ahead)])])
    return np.asarray(service_hours * waits.reshape(size))


def chance_to_wait(*, servers: int, busy: float) -> float:
    """Return the chance that all of `servers` machines are taken when a job comes (Erlang's C formula).

    C = B / (1 - busy (1 - B));  B by the recursion B(n) = a B(n - 1) / (n + a B(n - 1)), a = servers x busy

    Source: Kleinrock, Queueing Systems I, 1975, section 3.5.
    """
    _check(busy, f"a queue of {servers} machines")
    load, blocked = servers * busy, 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    return blocked / (1 - busy * (1 - blocked))


def wait_shared(
    rng: np.random.Generator, *, service_hours: float, servers: int, busy: float, size: tuple[int, ...]
) -> Array:
    """Draw waits for `servers` machines whose jobs come at random and take exponential times (M/M/c), in hours.

    wait = 0, or with the chance C an exponential time of mean service / (servers (1 - busy))
    """
    waits = rng.random(size) < chance_to_wait(servers=servers, busy=busy)
    return np.asarray(np.where(waits, rng.exponential(service_hours / (servers * (1 - busy)), size), 0.0))


def until_had(rng: np.random.Generator, *, chance_a_try: float, hours_a_try: float, size: tuple[int, ...]) -> Array:
    """Draw hours until a machine can be had that every `hours_a_try` is there with `chance_a_try`: geometric.

    mean = hours x (1 - p) / p;  nothing where the first try succeeds

    A machine that was never seen to be had (p = 0) is waited for without end.
    """
    if chance_a_try <= 0:
        return np.full(size, math.inf)
    return np.asarray(hours_a_try * (rng.geometric(min(1.0, chance_a_try), size) - 1.0))
