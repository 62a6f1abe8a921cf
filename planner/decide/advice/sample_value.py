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
    """One possible decision: one option for all runs, or a mix."""

    options: frozenset[str]
    usd: Array
    """Cost in each sample."""
    keeps: Mask
    """True for each sample in which it keeps the limits."""


class Rule(Protocol):
    """A rule that decides again after a result."""

    @property
    def slices(self) -> int:
        """Return the number of results to distinguish."""

    @property
    def first(self) -> str:
        """Return the name of the action that is chosen without a result."""

    @property
    def actions(self) -> Mapping[str, Action]:
        """Return the possible actions by name; each result may add more."""

    def measurable(self) -> Iterable[tuple[CampaignOption, Paced]]:
        """Return the options that can be measured."""

    def after(self, learnt: Learnt, *, speed: bool) -> str:
        """Return the name of the action after a result; `speed`: the option's own speed was measured."""


@dataclass(frozen=True)
class SampleValue:
    """Value of one measurement before its result is known."""

    worth: float
    """Expected regret before the result less the expected regret after it, in the unit of the regret.

    A cautious rule pays for certainty, so this may be below 0.
    """
    chance_to_change: float
    """Chance that other options are used after the result."""
    instead: frozenset[str] | None
    """Options that most often replace the first ones."""


Picked = Sequence[tuple[Counts, str]]
"""Samples of each slice of results, with the name of the action after it."""


def picked(rule: Rule, measurement: PlannedMeasurement, *, speed: bool = True) -> Picked:
    """Return the rule's action after each slice of a measurement's results."""
    return [(samples, rule.after(learnt, speed=speed)) for samples, learnt in measurement.slices(rule.slices)]


def sample_values(rule: Rule, measured: Sequence[Picked]) -> tuple[float, list[SampleValue]]:
    """Return the expected regret of today's decision, and the expected value of each measurement.

    worth = E[regret of today's decision] - E[regret of the decision after the result]

    The rule decides for each slice of equally likely results. Its action is then costed in the slice's own samples.
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
    """Return the regret of every action in every sample, both as samples x actions.

    The regret of an action that keeps the limits is its cost less that of the cheapest one that keeps them. An action
    that misses them has wasted its whole cost. If no action keeps them, the regret is 0: no choice would have helped.
    """
    best = np.where(keeps, usd, np.inf).min(axis=1, keepdims=True)
    known = np.isfinite(best)
    base = np.where(known, best, 0.0)
    return np.asarray(np.where(known, np.where(keeps, usd - base, usd), 0.0))
