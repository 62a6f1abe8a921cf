"""Campaigns played through many times: when they end and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from planner.cost.cloud.cost_by_hours import credits_at, usd_at
from planner.decide.simulation.draws import Array, Mask, from_range, generator
from planner.decide.simulation.run_times import run_times
from planner.duration.between_turns import hours_between
from planner.duration.goodput import Interruptions, losses
from planner.duration.waits import drawn_wait
from planner.model.answer.between_turns import BetweenTurns
from planner.model.answer.cost_by_hours import CostByHours, LastingCredit
from planner.model.plan.option_times import Queue, Tries
from planner.quantity.chance import TAIL
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR

REPLICATIONS = 10_000
LEAST_REPLICATIONS, MOST_DRAWS = 1_000, 2_000_000
"""A plan of very many lanes is played through less often."""
MOST_LANES = 5_000
"""Of equal runs side by side, those that are played: the last of more ends hardly later, and each costs the same."""
SEED = 26
NEVER_INTERRUPTED = Interruptions()
NOTHING, AS_EXPECTED = Interval.exact(0.0), Interval.exact(1.0)
TENTHS = (0.1, 0.5, 0.9)
ROUNDING_HOURS = 1 / SECONDS_PER_HOUR
"""Moments of a plan are to the second: a run that ends with its window, or with the deadline, is in time."""
ROUNDING_SHARE = 1e-9
"""Of an amount: two that differ by less are equal."""


@dataclass(frozen=True)
class Batch:
    """Equal runs, one after another."""

    runs: int
    steps_hours: float
    """Of one run, at the speed that is most likely."""
    phase: int = 0
    """A phase begins on all lanes when the phase before has ended."""


@dataclass(frozen=True)
class PlayedLane:
    """One set of machines in one window; hours count from the campaign's first."""

    batches: tuple[Batch, ...]
    opens: float = 0.0
    """At the earliest: it also waits for the option's machines."""
    closes: float = math.inf
    most_hours: float = math.inf
    """Hours for which its machines can be used: a block that was bought."""


@dataclass(frozen=True, kw_only=True)
class PlayedOption:
    """What one option does of a campaign."""

    option: str
    lanes: tuple[PlayedLane, ...]
    asked_at: float = 0.0
    """Hours from the campaign's first, negative before it, when its machines are asked for."""
    wait: Interval | Queue | Tries = NOTHING
    """Hours from then until they can be had; drawn once."""
    launch_hours: float = 0.0
    """Of every run before its first step."""
    lost: Interruptions = NEVER_INTERRUPTED
    speed_error: Interval = AS_EXPECTED
    """Factor on the hours, common to all runs: a machine that is slower than thought is so for all of them."""
    convergence: float = 0.0
    """Half of the 90 % range of one run's steps, as a share of them, by seed and data order alone."""
    usd: float = 0.0
    """At the most likely hours."""
    hourly_share: float = 1.0
    """Of `usd` that grows with the hours; the rest is paid once."""
    price_error: Interval = AS_EXPECTED
    cost: CostByHours | None = None
    """In place of the hourly share: the bill at every length. Its own price is the one that counts, by `usd`."""
    likely_hours: float = 1.0
    """The length, in the terms of `cost`, that costs `usd`."""
    payer: str = ""
    """Whose credits pay its bill."""
    most_hours: float = math.inf
    """Hours for which its machines can be used, those of all lanes together: an allocation."""
    between: BetweenTurns | None = None
    """Where others take turns with its machines: its runs, all equal, begin in whichever gap holds them."""


@dataclass(frozen=True)
class Played:
    """Hours to the end of the last run, and USD that remain to pay, of each replication."""

    finish_hours: Array
    usd: Array
    in_windows: Mask
    """Whether every run ended before its machines were taken away, within the block or allocation that holds it."""

    def chance_by(self, hours: float) -> float:
        """Return the share of campaigns that end within so many hours, each run in its window."""
        return float(np.mean(self._in_time(hours)))

    def chance_within(self, usd: float | Array) -> float:
        """Return the share of campaigns that cost at most so much."""
        return float(np.mean(self._in_budget(usd)))

    def chance_of_both(self, *, hours: float, usd: float | Array) -> float:
        """Return the share that ends in time, each run in its window, and stays in the budget."""
        return float(np.mean(self._in_time(hours) & self._in_budget(usd)))

    def hours_at(self, chances: Sequence[float] = TENTHS) -> tuple[float, ...]:
        """Return the hours within which these shares of the campaigns end."""
        return tuple(float(hours) for hours in np.quantile(self.finish_hours, chances))

    def done_within(self, chance: float) -> float:
        """Return the hours within which this share of all campaigns is done; infinite where too few are.

        A campaign with a run that its window, block or allocation does not hold is never done.
        """
        ends = np.where(self.in_windows, self.finish_hours, np.inf)
        return float(np.quantile(ends, chance, method="inverted_cdf"))

    def usd_at(self, chances: Sequence[float] = TENTHS) -> tuple[float, ...]:
        """Return the USD under which these shares of the campaigns stay."""
        return tuple(float(usd) for usd in np.quantile(self.usd, chances))

    def _in_budget(self, usd: float | Array) -> Mask:
        return np.asarray(self.usd <= usd * (1 + ROUNDING_SHARE) + ROUNDING_SHARE)

    def _in_time(self, hours: float) -> Mask:
        return np.asarray((self.finish_hours <= hours + ROUNDING_HOURS) & self.in_windows)


def side_by_side(runs: int, lanes: int, *, steps_hours: float, opens: float = 0.0) -> tuple[PlayedLane, ...]:
    """Return equal runs on so many lanes, at most `MOST_LANES`: each has as many as any other, or one more.

    Those with one more come first, so that they are among the lanes that are played.
    """
    counts = [runs // lanes + (number < runs % lanes) for number in range(min(lanes, runs, MOST_LANES))]
    return tuple(PlayedLane((Batch(count, steps_hours),), opens) for count in counts)


def play(
    options: Sequence[PlayedOption], *, credits: Mapping[str, Sequence[LastingCredit]] | None = None,
    replications: int | None = None, seed: int = SEED,
) -> Played:  # fmt: skip
    """Play a campaign through: its end is that of the last run, its cost that of all options.

    hours of n runs = speed error x interrupted hours of (n + sqrt(n) x spread) x steps + n x launch
    cost            = price error x usd x (1 - hourly share + hourly share x hours / most likely hours)
                      or, of a term, price error x bill at these hours (`cost`)
    to pay          = sum over payers of max(0, cost - credits that last until its last run ends)

    Where others take turns, the last of an option's runs ends as `hours_between` says for the mean run.

    Each lane runs what it was given. The steps of equal runs are drawn together: segments between checkpoints add up,
    so their sum is distributed as that of as many draws. The seed and an option's id determine all of its draws.
    """
    batches = sum(len(lane.batches) for one in options for lane in one.lanes)
    size = (replications or max(LEAST_REPLICATIONS, min(REPLICATIONS, MOST_DRAWS // max(1, batches))),)
    speed = [from_range(generator(seed, one.option), one.speed_error, size) for one in options]
    free = [_opened(one, seed, size) for one in options]
    begun = [lanes[0] for lanes in free]
    used = [[np.zeros(size) for _ in one.lanes] for one in options]
    last, in_windows = np.zeros(size), np.ones(size, dtype=bool)
    for phase in sorted({batch.phase for one in options for lane in one.lanes for batch in lane.batches}):
        before, last = last, last.copy()
        for place, one in enumerate(options):
            for number, lane in enumerate(one.lanes):
                own = generator(seed, one.option, f"{number}.{phase}")
                hours = [_hours(own, one, batch, speed[place]) for batch in lane.batches if batch.phase == phase]
                if hours:
                    load = np.sum(hours, axis=0)
                    used[place][number] += load
                    free[place][number] = np.maximum(free[place][number], before) + load
                    last = last if one.between else np.maximum(last, free[place][number])
                    in_windows &= free[place][number] <= lane.closes + ROUNDING_HOURS
    busy = [np.sum(lanes, axis=0) for lanes in used]
    ends = [np.max(lanes, axis=0) for lanes in free]
    for place, (one, lanes, hours, opened) in enumerate(zip(options, used, busy, begun, strict=True)):
        if one.between is not None:
            ends[place] = opened + hours_between(one.between, hours / one.between.runs)
            last = np.maximum(last, ends[place])
        in_windows &= hours <= one.most_hours + ROUNDING_HOURS
        for lane, of_lane in zip(one.lanes, lanes, strict=True):
            in_windows &= of_lane <= lane.most_hours + ROUNDING_HOURS
    usd = [_usd(one, hours, seed) for one, hours in zip(options, busy, strict=True)]
    return Played(last, _to_pay(options, usd, ends, credits or {}, size), in_windows)


def _opened(one: PlayedOption, seed: int, size: tuple[int, ...]) -> list[Array]:
    rng = generator(seed, one.option, "wait")
    wait = from_range(rng, one.wait, size) if isinstance(one.wait, Interval) else drawn_wait(rng, one.wait, size)
    return [np.maximum(lane.opens, one.asked_at + wait) for lane in one.lanes]


def _hours(rng: np.random.Generator, one: PlayedOption, batch: Batch, speed: Array) -> Array:
    steps = np.full(speed.shape, batch.runs * batch.steps_hours)
    if one.convergence:
        spread = math.sqrt(batch.runs) * one.convergence / TAIL * rng.standard_normal(speed.shape)
        steps = batch.steps_hours * np.maximum(0.1 * batch.runs, batch.runs + spread)
    return np.asarray(speed * run_times(rng, steps, one.lost).hours + batch.runs * one.launch_hours)


def _usd(one: PlayedOption, hours: Array, seed: int) -> Array:
    batches = [batch for lane in one.lanes for batch in lane.batches]
    steps, runs = sum(each.runs * each.steps_hours for each in batches), sum(each.runs for each in batches)
    expected = steps * losses(one.lost).total + runs * one.launch_hours
    grown = hours / expected if expected > 0 else np.ones(hours.shape)
    price = from_range(generator(seed, one.option, "price"), one.price_error, hours.shape)
    if one.cost is not None:
        likely = usd_at(one.cost, np.array([one.likely_hours]))
        return np.asarray(price * one.usd * usd_at(one.cost, grown * one.likely_hours) / likely)
    return np.asarray(price * one.usd * (1 - one.hourly_share + one.hourly_share * grown))


def _to_pay(
    options: Sequence[PlayedOption], usd: Sequence[Array], ends: Sequence[Array],
    credits: Mapping[str, Sequence[LastingCredit]], size: tuple[int, ...],
) -> Array:  # fmt: skip
    of_payer: dict[str, Array] = {}
    until: dict[str, Array] = {}
    for one, cost, end in zip(options, usd, ends, strict=True):
        of_payer[one.payer] = of_payer.get(one.payer, np.zeros(size)) + cost
        until[one.payer] = np.maximum(until.get(one.payer, np.zeros(size)), end)
    total = np.zeros(size)
    for payer, cost in of_payer.items():
        total += np.maximum(0.0, cost - credits_at(credits.get(payer, ()), until[payer]))
    return total
