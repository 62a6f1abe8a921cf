"""Distribution of completion lengths: the mean is known, some are much longer, and a limit stops all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

NORMAL = NormalDist()
SPREAD = 0.6
"""Standard deviation of ln(length) before the limit stops an answer. Source: logs that state mean, limit and the share
that was stopped (docs/decisions/2026-11-27-preferences-and-rollouts.md)."""
USUAL_MOST = 4.0
"""Ratio of the limit to the mean, if the limit is not stated."""
HALVINGS = 60
ALL_STOPPED = 0.995
"""Ratio of the mean to the limit from which every answer counts as stopped at the limit."""


@dataclass(frozen=True)
class CompletionLengths:
    """Log-normal lengths in tokens, stopped at `most`. `mean` is the mean of the stopped lengths."""

    mean: float
    most: float
    spread: float = SPREAD

    def quantile(self, share: float) -> float:
        """Return the length that a `share` of the completions does not exceed."""
        if self.mean >= ALL_STOPPED * self.most:
            return self.mean
        return min(self.most, math.exp(_centre(self) + self.spread * NORMAL.inv_cdf(share)))

    def of_batch(self, count: int) -> list[float]:
        """Return the lengths of `count` typical completions, the shortest first: quantiles at (i + 1/2) / count.

        The quantiles of a few completions miss the mean, so they are scaled to it. None exceeds the limit.
        """
        lengths = [self.quantile((place + 0.5) / count) for place in range(count)]
        factor = self.mean * count / sum(lengths)
        return [min(self.most, length * factor) for length in lengths]

    def longest(self, count: float) -> float:
        """Return the expected longest of `count` completions: the quantile at 1 - 1 / (2 count)."""
        return self.quantile(1 - 0.5 / max(1.0, count))

    def scaled(self, factor: float) -> CompletionLengths:
        """Return completions that are `factor` times as long, with a limit scaled alike."""
        return CompletionLengths(self.mean * factor, self.most * factor, self.spread)


@cache
def _centre(lengths: CompletionLengths) -> float:
    """Return the mean of ln(length) before the limit, by bisection on the mean of the stopped lengths.

    E[min(X, c)] = exp(m + s^2 / 2) Phi((ln c - m - s^2) / s) + c (1 - Phi((ln c - m) / s)) for X log-normal.
    """
    limit, s = math.log(lengths.most), lengths.spread
    low, high = math.log(lengths.mean) - s * s, limit + 6 * s
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        within = math.exp(middle + s * s / 2) * NORMAL.cdf((limit - middle - s * s) / s)
        stopped = lengths.most * (1 - NORMAL.cdf((limit - middle) / s))
        low, high = (low, middle) if within + stopped > lengths.mean else (middle, high)
    return low
