"""Hold a campaign's hours and cost in each sample, and compute the chances and quantiles that an answer states."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from planner.decide.outcomes.draws import SAMPLES, SEED, Array, Mask, at_scores, scores
from planner.model.answer.campaign import SimulatedCampaign, SimulatedSpread
from planner.model.currency import Currency
from planner.model.quantity import Quantity
from planner.quantity.cents import rate_of
from planner.quantity.interval import Interval
from planner.quantity.time_units import SECONDS_PER_HOUR

TENTHS = (0.1, 0.5, 0.9)
ROUNDING_HOURS = 1 / SECONDS_PER_HOUR
"""One second, the resolution of a plan's times. A run that ends with its window or the deadline is in time."""
ROUNDING_SHARE = 1e-9
"""Relative difference below which amounts count as equal."""


@dataclass(frozen=True)
class Outcomes:
    """The hours to the end of a campaign's last run and the USD that remain to pay, in each sample."""

    hours: Array | None
    """Hours from the campaign's start to its end; None if unknown."""
    usd: Array | None
    """USD that remain to pay; None if unknown."""
    in_windows: Mask
    """True in samples where every run ended before its machines were taken away, and within its block or allocation."""

    def chance_held(self) -> float:
        """Return the chance that blocks, windows and allocations hold every run."""
        return share_of(self.in_windows, self.hours)

    def chance_by(self, hours: float) -> float:
        """Return the chance that the campaign ends within these hours, with each run in its window."""
        return share_of(self._in_time(hours), self.hours)

    def chance_within(self, budget: Array) -> float:
        """Return the chance that the campaign costs at most its budget, with each run in its window.

        Work in a window that ends too early would have to be paid for again.
        """
        return share_of(self._in_budget(budget) & self.in_windows, self.usd)

    def chance_of_both(self, *, hours: float, budget: Array) -> float:
        """Return the chance that the campaign ends in time, each run in its window, and within its budget."""
        return share_of(self.keeps(hours=hours, budget=budget), self.hours, self.usd)

    def keeps(self, *, hours: float, budget: Array) -> Mask:
        """Return whether each sample ends in time, each run in its window, and within its budget."""
        return np.asarray(self._in_time(hours) & self._in_budget(budget))

    def hours_at(self, chance: float) -> float:
        """Return the hours within which the campaign ends with this chance, even if its windows are too short."""
        assert self.hours is not None, "they are known"
        return _sample_quantile(self.hours, chance)

    def done_within(self, chance: float) -> float:
        """Return the hours within which the campaign ends with this chance; infinite if its windows are too short."""
        assert self.hours is not None, "they are known"
        return _sample_quantile(np.where(self.in_windows, self.hours, np.inf), chance)

    def usd_at(self, chance: float) -> float:
        """Return the USD that the campaign stays below with this chance."""
        assert self.usd is not None, "it is known"
        return _sample_quantile(self.usd, chance)

    def local_at(self, currency: Currency, chance: float) -> float:
        """Return the amount of a currency that the campaign stays below with this chance, at drawn rates.

        The rate has the same draws as a budget in that currency (`drawn_budget`), so the two agree.
        """
        assert self.usd is not None, "it is known"
        return _sample_quantile(self.usd / at_scores(rate_of(currency).inverse(), scores("budget")), chance)

    def summary(
        self, *, until: float | None, budget: Quantity | None, day: Callable[[float], date]
    ) -> SimulatedCampaign:
        """Return the chances of the limits and the 10th, 50th and 90th percentile of hours, cost and last day.

        `until` is the deadline in hours, and `day` maps an hour of the campaign to its calendar day.
        """
        assert self.hours is not None, "they are known"
        assert self.usd is not None, "it is known"
        limited, usd = until is not None or budget is not None, drawn_budget(budget)
        hours = [_sample_quantile(self.hours, chance) for chance in TENTHS]
        return SimulatedCampaign(
            replications=SAMPLES,
            seed=SEED,
            chance_deadline=None if until is None else self.chance_by(until),
            chance_budget=None if budget is None else self.chance_within(usd),
            chance=self.chance_of_both(hours=math.inf if until is None else until, budget=usd) if limited else None,
            usd=_spread([_sample_quantile(self.usd, chance) for chance in TENTHS]),
            hours=_spread(hours),
            finish=tuple(map(day, hours)),
        )

    def _in_budget(self, budget: Array) -> Mask:
        assert self.usd is not None, "it is known"
        return np.asarray(self.usd <= budget * (1 + ROUNDING_SHARE) + ROUNDING_SHARE)

    def _in_time(self, hours: float) -> Mask:
        if self.hours is None or math.isinf(hours):
            return self.in_windows
        return np.asarray((self.hours <= hours + ROUNDING_HOURS) & self.in_windows)


def share_of(holds: Mask, *samples: Array | None) -> float:
    """Return the share of the samples in which a condition holds.

    For uncertain samples it is at least half a sample away from 0 and 1: no number of samples proves a certainty.
    """
    share = float(np.mean(holds))
    certain = all(sample is None or float(np.ptp(sample)) <= ROUNDING_SHARE for sample in samples)
    return share if certain else min(max(share, 0.5 / SAMPLES), 1 - 0.5 / SAMPLES)


def drawn_budget(budget: Quantity | None) -> Array:
    """Return the budget in each sample, drawn from its range; infinite without a budget."""
    if budget is None:
        return np.full(SAMPLES, np.inf)
    return at_scores(Interval(budget.value, budget.low, budget.high), scores("budget"))


def _sample_quantile(samples: Array, chance: float) -> float:
    """Return the smallest sample that at least this share of all samples does not exceed."""
    place = max(0, math.ceil(chance * len(samples)) - 1)
    return float(np.partition(samples, place)[place])


def _spread(percentiles: Sequence[float]) -> SimulatedSpread:
    return SimulatedSpread(**dict(zip(("p10", "p50", "p90"), percentiles, strict=True)))
