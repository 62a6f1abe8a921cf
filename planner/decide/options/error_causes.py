"""Causes of the error of an option's hours, by names that other options may share."""

from __future__ import annotations

import math

from planner.model.answer.training_time import TrainingTime
from planner.model.plan.convergence import Practice
from planner.model.quantity import Basis
from planner.quantity.interval import TAIL, Interval, log_deviation
from planner.scenario.candidate import Candidate
from planner.speed.estimator.shared_causes import Causes
from planner.speed.throughput.extrapolation import RATIO_FACTOR
from planner.speed.throughput.speed import Speed

PRACTICE = "practice"
"""Beginning of the names of causes from people's practice. A twenty-minute run tells nothing about them."""


def error_causes(candidate: Candidate, speed: Speed, time: TrainingTime | None, practice: Practice) -> Causes:
    """Return the causes of the error of an option's hours, each with the standard deviation of the logarithm.

    The plan's practice is common to all options. Causes that the estimator names are shared; the rest of the speed's
    error belongs to its accelerators in this layout, wherever they are rented. Speeds that are scaled from a run to one
    accelerator share the error of that ratio.
    """
    if speed.samples_per_s is None:
        return ()
    whole = log_deviation(speed.samples_per_s)
    shared = [(name, share * whole) for name, share in speed.causes]
    if not shared and speed.basis is Basis.MODELLED:
        shared = [(f"ratio to {candidate.accelerator.id}", min(whole, math.log(RATIO_FACTOR) / TAIL))]
    own = math.sqrt(max(0.0, whole**2 - sum(sd**2 for _, sd in shared)))
    causes = [*shared, (_machine(candidate), own)]
    factor = None if time is None else next((each.factor for each in time.practices if each.practice is practice), None)
    if factor is not None:
        causes.append((f"{PRACTICE} {practice.value}", log_deviation(Interval(factor.value, factor.low, factor.high))))
    return tuple((name, sd) for name, sd in causes if sd > 0)


def of_speed(causes: Causes) -> Causes:
    """Return the causes that a measurement of the speed shows."""
    return tuple((name, sd) for name, sd in causes if not name.startswith(PRACTICE))


def _machine(candidate: Candidate) -> str:
    accelerators = f"{candidate.nodes} x {candidate.accelerators_per_node} {candidate.accelerator.id}"
    return f"{accelerators}, {candidate.strategy.value}, {candidate.split}"
