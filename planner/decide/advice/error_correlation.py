"""Correlate the errors of a plan's speeds: a machine that is slower than estimated tells about the others."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from planner.decide.options.estimate_plan import Paced
from planner.decide.outcomes.draws import Array
from planner.model.catalog import Catalog
from planner.model.quantity import Basis
from planner.quantity.chance import TAIL
from planner.scenario.job import Job
from planner.speed.estimator.estimator_query import EstimatorQuery
from planner.speed.estimator.expected_error import NOISE
from planner.speed.estimator.network_kind import NetworkKind, kind_of
from planner.speed.estimator.own_runs import covariance
from planner.speed.estimator.text_estimator import fitted
from planner.speed.estimator.text_fit import Fit
from planner.speed.physics.observation import Observation
from planner.speed.throughput.extrapolation import RATIO_FACTOR
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction


def correlation(job: Job, paced: Sequence[Paced], widths: Sequence[float], catalog: Catalog) -> Array:
    """Return the correlation of the logarithmic errors of the machines' speeds.

    Estimated speeds correlate as the estimator's errors do, given the runs that correct it already. Speeds that are
    scaled from a run share the error of the ratio of one accelerator. The same machine at another price is one machine.
    Other errors are independent. `widths`: standard deviations of the speeds.
    """
    count = len(paced)
    together = np.eye(count)
    asked = {number: query for number, pace in enumerate(paced) if (query := asked_of(job, pace, catalog)) is not None}
    for sample in ("tokens", "image"):
        places = [number for number, query in asked.items() if query.sample == sample]
        if places:
            queries = [asked[number] for number in places]
            calibration = catalog.calibration_for(sample)
            assert calibration is not None, "it made the predictions"
            own = list({run.id: run for query in queries for run in query.own}.values())
            observations = [query.observation for query in queries]
            together[np.ix_(places, places)] = of_estimates(
                kind_of(queries[0], calibration), fitted(calibration), observations, own
            )
    ratio = math.log(RATIO_FACTOR) / TAIL
    for first in range(count):
        for other in range(first):
            if _machine(paced[first]) == _machine(paced[other]):
                shared = 1.0
            elif first in asked or other in asked or not _same_ratio(paced[first], paced[other]):
                continue
            else:
                shared = min(1.0, ratio**2 / max(widths[first] * widths[other], 1e-9))
            together[first, other] = together[other, first] = shared
    return together


def asked_of(job: Job, pace: Paced, catalog: Catalog) -> EstimatorQuery | None:
    """Return the estimator's query for a machine; None if its speed is not estimated."""
    speed = pace.speed
    if speed is None or speed.samples_per_s is None or speed.basis is not Basis.MODELLED or job.mfu is not None:
        return None
    if pace.candidate.option.step is not None:
        return None
    predicted = predict(job, pace.candidate, catalog, speed.fit)
    return predicted.asked if isinstance(predicted, Prediction) else None


def of_estimates(kind: NetworkKind, learnt: Fit, asked: Sequence[Observation], own: Sequence[Observation]) -> Array:
    """Return C / (sd sd'), C being the covariance of the estimator's errors given the `own` runs."""
    place = kind.model(learnt, asked).place
    left = covariance(place, place)
    if own:
        anchors = kind.model(learnt, own).place
        towards = covariance(place, anchors)
        between = covariance(anchors, anchors) + NOISE**2 * np.eye(len(own))
        left = left - towards @ np.linalg.solve(between, towards.T)
    expected = np.sqrt(np.maximum(np.diag(left), NOISE**2))
    shared = np.clip(left / np.outer(expected, expected), 0.0, 1.0)
    np.fill_diagonal(shared, 1.0)
    return np.asarray(shared)


def _machine(pace: Paced) -> tuple[object, ...]:
    candidate = pace.candidate
    return (candidate.node.id, candidate.nodes, candidate.accelerators_per_node, candidate.strategy, candidate.split)


def _same_ratio(pace: Paced, other: Paced) -> bool:
    """Return whether both were scaled from a run by the ratio of the same two accelerators."""
    if pace.candidate.accelerator.id != other.candidate.accelerator.id or pace.speed is None or other.speed is None:
        return False
    return pace.speed.basis is other.speed.basis is Basis.MODELLED
