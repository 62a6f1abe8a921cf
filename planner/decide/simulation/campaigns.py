"""Campaigns played through many times: when they end and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.decide.simulation.draws import Array, by_chance, from_range, generator
from planner.decide.simulation.run_times import run_times
from planner.duration.goodput import Interruptions, losses
from planner.quantity.interval import Interval

REPLICATIONS = 10_000
SEED = 26
NEVER_INTERRUPTED = Interruptions()
NOTHING, AS_EXPECTED = Interval.exact(0.0), Interval.exact(1.0)
TENTHS = (0.1, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class Stream:
    """Runs of one kind on one option, `lanes` of them at a time; hours count from the campaign's first."""

    option: str
    """Placements of one option share its errors: a machine that is slower than thought is so for all of its runs."""
    runs: int
    lanes: int
    steps_hours: float
    """Of one run, at the speed that is most likely."""
    start_hours: float = 0.0
    wait: Interval = NOTHING
    """Hours beyond `start_hours` until the machine is there: a lead time, a queue; drawn once."""
    launch_hours: float = 0.0
    """Of every run before its first step."""
    lost: Interruptions = NEVER_INTERRUPTED
    speed_error: Interval = AS_EXPECTED
    """Factor on the hours, common to all runs of the option."""
    convergence: float = 0.0
    """Half of the 90 % range of one run's steps, as a share of them, by seed and data order alone."""
    usd: float = 0.0
    """At the most likely hours."""
    hourly_share: float = 1.0
    """Of `usd` that grows with the hours; the rest is paid once."""
    price_error: Interval = AS_EXPECTED


@dataclass(frozen=True)
class Played:
    """Hours to the end of the last run, and USD, of each replication."""

    finish_hours: Array
    usd: Array

    def chance_by(self, hours: float) -> float:
        """Return the share of campaigns that end within so many hours."""
        return float(np.mean(self.finish_hours <= hours))

    def chance_within(self, usd: float) -> float:
        """Return the share of campaigns that cost at most so much."""
        return float(np.mean(self.usd <= usd))

    def chance_of_both(self, *, hours: float, usd: float) -> float:
        """Return the share that ends in time and stays in the budget."""
        return float(np.mean((self.finish_hours <= hours) & (self.usd <= usd)))

    def hours_at(self, chances: Sequence[float] = TENTHS) -> tuple[float, ...]:
        """Return the hours within which these shares of the campaigns end."""
        return tuple(float(hours) for hours in np.quantile(self.finish_hours, chances))

    def usd_at(self, chances: Sequence[float] = TENTHS) -> tuple[float, ...]:
        """Return the USD under which these shares of the campaigns stay."""
        return tuple(float(usd) for usd in np.quantile(self.usd, chances))


def play(streams: Sequence[Stream], *, replications: int = REPLICATIONS, seed: int = SEED) -> Played:
    """Play a campaign through: its end is that of the last run, its cost that of all placements.

    hours of a run = speed error x (interrupted hours of its steps x convergence) + launch
    cost           = price error x usd x (1 - hourly share + hourly share x hours of all runs / their most likely hours)

    A run begins when a lane is free. The seed and an option's id determine all of its draws.
    """
    finish, usd = np.zeros(replications), np.zeros(replications)
    for number, stream in enumerate(streams):
        if stream.runs == 0:
            continue
        common, own = generator(seed, stream.option), generator(seed, stream.option, str(number))
        speed = from_range(common, stream.speed_error, (replications,))
        price = from_range(common, stream.price_error, (replications,))
        begins = stream.start_hours + from_range(common, stream.wait, (replications,))
        hours = speed[:, None] * _hours(own, stream, replications) + stream.launch_hours
        finish = np.maximum(finish, begins + _span(hours, stream.lanes))
        share = hours.sum(axis=1) / (stream.runs * (_expected_hours(stream) + stream.launch_hours))
        usd += price * stream.usd * (1 - stream.hourly_share + stream.hourly_share * share)
    return Played(finish, usd)


def _hours(rng: np.random.Generator, stream: Stream, replications: int) -> Array:
    size = (replications, stream.runs)
    return run_times(rng, stream.steps_hours * by_chance(rng, stream.convergence, size), stream.lost).hours


def _expected_hours(stream: Stream) -> float:
    return stream.steps_hours * losses(stream.lost).total


def _span(hours: Array, lanes: int) -> Array:
    """Return when the last run ends, from the first's begin: each run takes the lane that is free first."""
    if lanes == 1:
        return np.asarray(hours.sum(axis=1))
    free = np.zeros((hours.shape[0], min(lanes, hours.shape[1])))
    rows = np.arange(hours.shape[0])
    for run in hours.T:
        free[rows, free.argmin(axis=1)] += run
    return np.asarray(free.max(axis=1))
