"""Value of sample information: by how much one measurement is expected to lower the regret of a decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.draws import Array, Counts, Mask
from planner.decide.outcomes.learnt import Learnt, PlannedMeasurement
from planner.model.answer.option_estimate import CampaignOption


@dataclass(frozen=True)
class Action:
    """What may be done: one option for all runs, or a mix."""

    options: frozenset[str]
    usd: Array
    """What it costs in each sample."""
    keeps: Mask
    """Whether it keeps the limits in each sample."""


class Rule(Protocol):
    """The rule of an answer, which decides again after a result."""

    @property
    def slices(self) -> int:
        """Return how many results are told apart."""

    @property
    def first(self) -> str:
        """Return the name of what is done without a result."""

    @property
    def actions(self) -> Mapping[str, Action]:
        """Return what may be done, by name; more may come with each result."""

    def measurable(self) -> Iterable[tuple[CampaignOption, Paced]]:
        """Return the options that may be measured."""

    def after(self, learnt: Learnt, *, speed: bool) -> str:
        """Return the name of what is done after a result; `speed`: the option's own speed was measured."""


@dataclass(frozen=True)
class SampleValue:
    """Value of one measurement before its result is known."""

    worth: float
    """Expected regret before less that after, in the unit of the regret. Below 0 if the rule is cautious: it pays for
    certainty."""
    chance_to_change: float
    """That other options are used after it."""
    instead: frozenset[str] | None
    """The options that are most often used in place of the first."""


Picked = Sequence[tuple[Counts, str]]
"""Samples of each slice of results, with what is done after it."""


def picked(rule: Rule, measurement: PlannedMeasurement, *, speed: bool = True) -> Picked:
    """Return what the rule decides after each slice of a measurement's results."""
    return [(samples, rule.after(learnt, speed=speed)) for samples, learnt in measurement.slices(rule.slices)]


def sample_values(rule: Rule, measured: Sequence[Picked]) -> tuple[float, list[SampleValue]]:
    """Return the regret of the decision as it stands, and the expected value of each measurement.

    worth = E[regret of the decision as it stands] - E[regret of the decision after the result]

    Each slice of equally likely results is decided on by the rule, and costs what it does in its own samples.
    Source: Raiffa and Schlaifer, Applied Statistical Decision Theory, 1961, chapter 4.
    """
    regret = _regrets(rule.actions)
    stands = regret[rule.first]
    return float(stands.mean()), [_value(rule, regret, slices) for slices in measured]


def _value(rule: Rule, regret: Mapping[str, Array], slices: Picked) -> SampleValue:
    stands, first = regret[rule.first], rule.actions[rule.first].options
    saved, changed, instead = 0.0, 0, Counter[frozenset[str]]()
    for samples, name in slices:
        saved += float((stands[samples] - regret[name][samples]).sum())
        options = rule.actions[name].options
        if options != first:
            changed += len(samples)
            instead[options] += len(samples)
    most = instead.most_common(1)
    return SampleValue(saved / len(stands), changed / len(stands), most[0][0] if most else None)


def _regrets(actions: Mapping[str, Action]) -> dict[str, Array]:
    usd = np.stack([action.usd for action in actions.values()], axis=1)
    keeps = np.stack([action.keeps for action in actions.values()], axis=1)
    return dict(zip(actions, regret_of(usd, keeps).T, strict=True))


def regret_of(usd: Array, keeps: Mask) -> Array:
    """Return the regret of every action in every sample: what it costs more than the best one that keeps the limits.

    One that misses them has cost its money for nothing, and the best one's beside it. Where none keeps them nothing is
    regretted: no choice would have helped.
    """
    best = np.where(keeps, usd, np.inf).min(axis=1, keepdims=True)
    known = np.isfinite(best)
    base = np.where(known, best, 0.0)
    return np.asarray(np.where(known, np.where(keeps, usd - base, usd), 0.0))
