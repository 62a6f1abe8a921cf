"""Wait of the first run before it starts: in a queue, or for a machine that becomes available."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from planner.errors import InputError
from planner.model.plan.option_times import Queue, Tries
from planner.model.quantity import Basis, Quantity, Unit

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

DRAWS = 20_000
TINY = 1e-300
"""Load that counts as none, in logarithms."""
SEED = 26


def wait_of(queued: Queue | Tries) -> Quantity:
    """Return the mean wait in hours, with the 90 % range of the same draws that a simulation makes."""
    import numpy as np

    low, high = np.quantile(drawn_wait(np.random.default_rng(SEED), queued, (DRAWS,)), (0.05, 0.95))
    mean = mean_wait(queued)
    return Quantity(
        value=mean, low=min(mean, float(low)), high=max(mean, float(high)), unit=Unit.HOURS, basis=Basis.ASSUMED,
        source=f"the plan: {'queue' if isinstance(queued, Queue) else 'tries'}, {_in_words(queued)}",
    )  # fmt: skip


def mean_wait(queued: Queue | Tries) -> float:
    """Return the mean of `drawn_wait`.

    jobs ahead:  h (j - c + 1) / c;  M/D/1:  b h / (2 (1 - b));  M/M/c:  C h / (c (1 - b));  tries:  t (1 - p) / p
    """
    if isinstance(queued, Tries):
        return queued.every_hours * (queued.of - queued.had) / queued.had
    hours, machines = queued.job_hours, queued.machines
    if queued.jobs is not None:
        return hours * max(0, queued.jobs - machines + 1) / machines
    busy = queued.busy or 0.0
    if machines == 1:
        return busy * hours / (2 * (1 - busy))
    return chance_to_wait(servers=machines, busy=busy) * hours / (machines * (1 - busy))


def drawn_wait(rng: np.random.Generator, queued: Queue | Tries, size: tuple[int, ...]) -> Array:
    """Draw waits in hours."""
    if isinstance(queued, Tries):
        return until_had(rng, chance_a_try=queued.had / queued.of, hours_a_try=queued.every_hours, size=size)
    if queued.jobs is not None:
        return wait_behind(rng, jobs=queued.jobs, service_hours=queued.job_hours, servers=queued.machines, size=size)
    busy = queued.busy or 0.0
    if queued.machines == 1:
        return wait_single(rng, service_hours=queued.job_hours, busy=busy, size=size)
    return wait_shared(rng, service_hours=queued.job_hours, servers=queued.machines, busy=busy, size=size)


def wait_behind(
    rng: np.random.Generator, *, jobs: int, service_hours: float, servers: int, size: tuple[int, ...]
) -> Array:
    """Draw waits behind `jobs` jobs, including running ones, on `servers` machines. Jobs take exponential times.

    A machine is free for the next job when jobs - servers + 1 have ended, each after service / servers hours: Erlang's
    distribution. Source: Kleinrock, Queueing Systems I, 1975, section 4.2.
    """
    import numpy as np

    ending = jobs - servers + 1
    return rng.gamma(ending, service_hours / servers, size) if ending > 0 else np.zeros(size)


def waits_of_sets(rng: np.random.Generator, asked: Queue, first: Array, sets: int) -> list[Array]:
    """Return the waits of sets of machines that queue together, given drawn waits of the first set, in hours.

    wait(k) = wait(k - 1), or if no machine is free for set k: wait(k - 1) + exponential time of mean
              service / (servers - k)

    The first k sets keep their machines, so that others' jobs end on servers - k of them. If fewer jobs than servers
    are there, the next sets do not wait. Sets beyond the servers share a machine, as the plan says.
    Of a busy share b, the number n of jobs there is drawn: P(n) ~ (servers x b)^n / n!.
    """
    import numpy as np

    if sets == 1:
        return [first]
    hours, servers = asked.job_hours, asked.machines
    if asked.jobs is not None:
        there = np.full(first.shape, min(asked.jobs, servers))
    else:
        log_load = math.log(max(servers * (asked.busy or 0.0), TINY))
        logs = np.array([count * log_load - math.lgamma(count + 1) for count in range(servers)])
        weights = np.exp(logs - logs.max())
        drawn = rng.choice(servers, size=first.shape, p=weights / weights.sum())
        there = np.where(first > 0, servers, drawn)
    waits = [first]
    for place in range(1, sets):
        more = rng.exponential(hours / (servers - place), first.shape) if place < servers else 0.0
        waits.append(waits[-1] + np.where(there + place >= servers, more, 0.0))
    return waits


def wait_single(rng: np.random.Generator, *, service_hours: float, busy: float, size: tuple[int, ...]) -> Array:
    """Draw waits for one machine whose jobs come at random and take `service_hours` each (M/D/1), in hours.

    wait = sum of N uniform shares of a job; N geometric: P(N = n) = (1 - busy) busy^n
    mean = busy x service / (2 (1 - busy))

    Source: Pollaczek-Khinchine formula; Kleinrock, Queueing Systems I, 1975, section 5.7.
    """
    import numpy as np

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
    import numpy as np

    waits = rng.random(size) < chance_to_wait(servers=servers, busy=busy)
    return np.asarray(np.where(waits, rng.exponential(service_hours / (servers * (1 - busy)), size), 0.0))


def until_had(rng: np.random.Generator, *, chance_a_try: float, hours_a_try: float, size: tuple[int, ...]) -> Array:
    """Draw hours until a machine is available that appears every `hours_a_try` with `chance_a_try`: geometric.

    mean = hours x (1 - p) / p;  zero if the first try succeeds

    A machine that was never available (p = 0) is waited for without end.
    """
    import numpy as np

    if chance_a_try <= 0:
        return np.full(size, math.inf)
    return np.asarray(hours_a_try * (rng.geometric(min(1.0, chance_a_try), size) - 1.0))


def _in_words(queued: Queue | Tries) -> str:
    if isinstance(queued, Tries):
        return f"had {queued.had} times of {queued.of}, every {queued.every_hours:g} h"
    ahead = f"{queued.jobs} jobs ahead" if queued.jobs is not None else f"busy {queued.busy:g} of the time"
    return f"{ahead}, {queued.job_hours:g} h each, on {queued.machines} machines"


def _check(busy: float, where: str) -> None:
    if not 0 <= busy < 1:
        raise InputError(
            f"{where} is asked for {busy:.3g} of what it can do: its queue grows without end.",
            fix="Give it less work or more nodes: a queue has a length only below 1.",
        )
