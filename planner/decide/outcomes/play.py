"""Simulate campaigns: when they end and what they cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from planner.cost.cloud.cost_by_hours import credits_at, usd_at
from planner.decide.outcomes.draws import SAMPLES, Array, at_scores, generator, in_strata, mixed, scores
from planner.decide.outcomes.learnt import Learnt
from planner.decide.outcomes.outcomes import ROUNDING_HOURS, Outcomes
from planner.decide.outcomes.run_times import run_times
from planner.duration.between_turns import hours_between
from planner.duration.goodput import Interruptions, losses
from planner.duration.waits import drawn_wait, waits_of_sets
from planner.model.answer.campaign import BetweenTurns, CostByHours, LastingCredit
from planner.model.plan.option_times import Queue, Tries
from planner.quantity.interval import MOST, TAIL, Interval

MOST_LANES = 5_000
"""Largest number of equal lanes that are simulated. More lanes would hardly change when the last one ends."""
DRAWS_OF_A_WAIT = 16
"""Draws of a queue's wait per sample."""
NEVER_INTERRUPTED = Interruptions()
NOTHING, AS_EXPECTED = Interval.exact(0.0), Interval.exact(1.0)


@dataclass(frozen=True)
class Batch:
    """Equal runs, one after another."""

    runs: int
    steps_hours: float
    """Hours of one run at the most likely speed."""
    phase: int = 0
    """A phase starts on all lanes when the previous phase has ended."""


@dataclass(frozen=True)
class PlayedLane:
    """One set of machines in one window. Its times are hours after the campaign's start."""

    batches: tuple[Batch, ...]
    opens: float = 0.0
    """Earliest opening time. The lane also waits for the option's machines."""
    closes: float = math.inf
    most_hours: float = math.inf
    """Usable hours of the block that is bought for it."""
    billed_hours: float = 0.0
    """Likely hours that count on the bill of a term (`PlayedOption.rent`)."""


@dataclass(frozen=True, kw_only=True)
class PlayedOption:
    """Part of a campaign that runs on one option."""

    option: str
    lanes: tuple[PlayedLane, ...]
    ordered_at: float = 0.0
    """Hours after the campaign's start at which its machines are ordered; negative before the start."""
    wait: Interval | Queue | Tries = NOTHING
    """Hours from the order until the machines are available, drawn once per sample."""
    launch_hours: float = 0.0
    """Hours of every run before its first step."""
    lost: Interruptions = NEVER_INTERRUPTED
    speed_error: Interval = AS_EXPECTED
    """Range of the factor on the hours. In one sample, all runs have the same factor."""
    causes: tuple[tuple[str, float], ...] = ()
    """Causes of the speed error: name and standard deviation. Options share causes of the same name."""
    convergence: float = 0.0
    """Half of the 90 % range of one run's steps from seed and data order alone, as a share of the steps."""
    usd: float = 0.0
    """Cost at the most likely hours."""
    hourly_share: float = 1.0
    """Share of `usd` that is rent, or electricity, and grows with the hours. The rest is fixed."""
    price_error: Interval = AS_EXPECTED
    price_cause: str = ""
    """Name of the price error's cause, which options of one price list share; empty: the option's own."""
    rent: CostByHours | None = None
    """Rent of each lane by its billed hours; without it the rent of all lanes grows with their hours."""
    payer: str = ""
    """Provider whose credits pay its bill."""
    most_hours: float = math.inf
    """Usable hours of all lanes together, for example of a grant."""
    between: BetweenTurns | None = None
    """Turns of other users. The option's runs, which are all equal, start in any gap that is long enough."""


def runs_of_lane(number: int, runs: int, lanes: int) -> int:
    """Return the number of runs on one of several equal lanes, counted from 0.

    Numbers differ by at most one; lanes with one more run come first.
    """
    return runs // lanes + (number < runs % lanes)


def side_by_side(runs: int, lanes: int, *, steps_hours: float, opens: float = 0.0) -> tuple[PlayedLane, ...]:
    """Return equal runs on several lanes (`runs_of_lane`), at most on the first `MOST_LANES`."""
    counts = [runs_of_lane(number, runs, lanes) for number in range(min(lanes, runs, MOST_LANES))]
    return tuple(PlayedLane((Batch(count, steps_hours),), opens) for count in counts)


def error_of_steps(hours: Interval, launch_hours: float) -> Interval:
    """Return the range of the factor on the hours of the steps, given the range of all hours and certain launches.

    high = (high hours - launch) / (hours - launch), low likewise
    """
    steps = hours.value - launch_hours
    if steps <= 0:
        return AS_EXPECTED
    return Interval(1.0, max(1 / MOST, (hours.low - launch_hours) / steps), (hours.high - launch_hours) / steps)


def play(
    options: Sequence[PlayedOption],
    *,
    credits: Mapping[str, Sequence[LastingCredit]] | None = None,
    learnt: Learnt | None = None,
) -> Outcomes:
    """Return when a campaign ends and what it costs in each sample.

    hours of n runs = speed error x interrupted hours of (n + sqrt(n) x spread) x steps + n x launch
    cost            = price error x usd x (1 - hourly share + hourly share x growth)
    growth          = sum over lanes of the rent of their hours / the same at the most likely hours
    to pay          = sum over payers of max(0, cost - credits that last until its last run ends)

    A campaign ends with its last run. If other users have turns, `hours_between` computes the end of an option's last
    run from its mean run. The steps of equal runs are drawn together: segments between checkpoints add up, so one draw
    of their sum has the distribution of the sum of single draws. An option's id determines all of its draws. `learnt`
    is the result of a measurement, which updates the options that share a cause of error with the measured one.
    """
    size = (SAMPLES,)
    speed_factors = [at_scores(option.speed_error, _speed_scores(option, learnt)) for option in options]
    free_at = [_opened(option) for option in options]
    opened_at = [lanes[0] for lanes in free_at]
    lane_hours = [[np.zeros(size) for _ in option.lanes] for option in options]
    last_end, in_windows = np.zeros(size), np.ones(size, dtype=bool)
    for phase in sorted({batch.phase for option in options for lane in option.lanes for batch in lane.batches}):
        phase_start, last_end = last_end, last_end.copy()
        for index, option in enumerate(options):
            for number, lane in enumerate(option.lanes):
                batches = [batch for batch in lane.batches if batch.phase == phase]
                if batches:
                    load = speed_factors[index] * _busy_hours(
                        option.option, f"{number}.{phase}", tuple(batches), option.lost, option.convergence
                    )
                    load += sum(batch.runs for batch in batches) * option.launch_hours
                    lane_hours[index][number] += load
                    free_at[index][number] = np.maximum(free_at[index][number], phase_start) + load
                    last_end = last_end if option.between else np.maximum(last_end, free_at[index][number])
                    in_windows &= free_at[index][number] <= lane.closes + ROUNDING_HOURS
    option_hours = [np.sum(lanes, axis=0) for lanes in lane_hours]
    ends = [np.max(lanes, axis=0) for lanes in free_at]
    for index, (option, lanes, hours, opened) in enumerate(
        zip(options, lane_hours, option_hours, opened_at, strict=True)
    ):
        if option.between is not None:
            ends[index] = opened + hours_between(option.between, hours / option.between.runs)
            last_end = np.maximum(last_end, ends[index])
        in_windows &= hours <= option.most_hours + ROUNDING_HOURS
        for lane, hours_of_lane in zip(option.lanes, lanes, strict=True):
            in_windows &= hours_of_lane <= lane.most_hours + ROUNDING_HOURS
    usd = [_usd(option, hours) for option, hours in zip(options, lane_hours, strict=True)]
    return Outcomes(last_end, _to_pay(options, usd, ends, credits or {}), in_windows)


def _speed_scores(option: PlayedOption, learnt: Learnt | None) -> Array:
    drawn = mixed(option.causes) if option.causes else scores(option.option, "speed")
    return drawn if learnt is None else learnt.moved(drawn, option.option, option.causes)


def _opened(option: PlayedOption) -> list[Array]:
    """Return the hours after the start at which each lane opens, in each sample. In a queue each set has its wait."""
    names = (option.option, "wait")
    if isinstance(option.wait, Interval):
        wait = at_scores(option.wait, scores(*names))
    else:
        wait = in_strata(drawn_wait(generator(*names), option.wait, (DRAWS_OF_A_WAIT * SAMPLES,)), *names)
    waits = [wait] * len(option.lanes)
    if isinstance(option.wait, Queue):
        waits = waits_of_sets(generator(*names, "sets"), option.wait, wait, len(option.lanes))
    return [np.maximum(lane.opens, option.ordered_at + each) for lane, each in zip(option.lanes, waits, strict=True)]


@lru_cache(maxsize=1_024)
def _busy_hours(option: str, lane: str, batches: tuple[Batch, ...], lost: Interruptions, convergence: float) -> Array:
    """Return the hours of a lane's batches in each sample, at the most likely speed and without launches."""
    rng, hours = generator(option, lane), np.zeros(SAMPLES)
    for number, batch in enumerate(batches):
        steps = np.full(SAMPLES, batch.runs * batch.steps_hours)
        if convergence:
            normal = scores(option, lane, f"steps {number}")
            spread = math.sqrt(batch.runs) * convergence / TAIL * normal
            steps = batch.steps_hours * np.maximum(0.1 * batch.runs, batch.runs + spread)
        hours += run_times(rng, steps, lost).hours
    hours.setflags(write=False)
    return hours


def _usd(option: PlayedOption, used: Sequence[Array]) -> Array:
    price = at_scores(option.price_error, scores(option.price_cause or option.option, "price"))
    return np.asarray(price * option.usd * (1 - option.hourly_share + option.hourly_share * _growth(option, used)))


def _growth(option: PlayedOption, used: Sequence[Array]) -> Array:
    """Return the factor by which the rent grows if its lanes are used for these hours: each pays for its own."""
    expected = [_expected_hours(option, lane) for lane in option.lanes]
    if option.rent is None:
        likely, grown = sum(expected), np.sum(used, axis=0)
    else:
        rents = [
            usd_at(option.rent, _billed_hours(lane, hours, most_likely))
            for lane, hours, most_likely in zip(option.lanes, used, expected, strict=True)
        ]
        likely = float(np.sum(usd_at(option.rent, np.array([lane.billed_hours for lane in option.lanes]))))
        grown = np.sum(rents, axis=0)
    return np.asarray(grown / likely) if likely > 0 else np.ones(SAMPLES)


def _billed_hours(lane: PlayedLane, hours: Array, most_likely: float) -> Array:
    """Return the hours on the bill of a lane that is used for these hours.

    billed = likely billed + (hours - most likely hours) x min(1, likely billed / most likely hours)

    The idle tails of its runs, which are billed too, do not grow. Of unlike runs, a row's lanes are played as long as
    the longest and are billed for fewer hours.
    """
    share = min(1.0, lane.billed_hours / most_likely) if most_likely > 0 else 0.0
    return lane.billed_hours + (hours - most_likely) * share


def _expected_hours(option: PlayedOption, lane: PlayedLane) -> float:
    """Return the most likely hours of a lane, with launches and interruptions."""
    steps, runs = sum(each.runs * each.steps_hours for each in lane.batches), sum(each.runs for each in lane.batches)
    return steps * losses(option.lost).total + runs * option.launch_hours


def _to_pay(
    options: Sequence[PlayedOption], usd: Sequence[Array], ends: Sequence[Array],
    credits: Mapping[str, Sequence[LastingCredit]],
) -> Array:  # fmt: skip
    usd_by_payer: dict[str, Array] = {}
    end_by_payer: dict[str, Array] = {}
    for option, cost, last_end in zip(options, usd, ends, strict=True):
        usd_by_payer[option.payer] = usd_by_payer.get(option.payer, np.zeros(SAMPLES)) + cost
        end_by_payer[option.payer] = np.maximum(end_by_payer.get(option.payer, np.zeros(SAMPLES)), last_end)
    total = np.zeros(SAMPLES)
    for payer, cost in usd_by_payer.items():
        total += np.maximum(0.0, cost - credits_at(credits.get(payer, ()), end_by_payer[payer]))
    return total
