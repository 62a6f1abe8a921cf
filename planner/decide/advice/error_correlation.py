"""How the errors of a plan's speeds go together: a machine that is slower than thought says something of the others."""

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
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.network_kind import NetworkKind, kind_of
from planner.speed.estimator.own_runs import covariance
from planner.speed.estimator.text_estimator import fitted
from planner.speed.physics.observation import Observation
from planner.speed.throughput.extrapolation import RATIO_FACTOR
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import Prediction


def correlation(job: Job, paced: Sequence[Paced], widths: Sequence[float], catalog: Catalog) -> Array:
    """Return the correlation of the logarithmic errors of the machines' speeds.

    Estimated ones: as the estimator's own error does, given the runs that correct it already. Carried over from a run
    by ratios: those of one accelerator share the ratio's error. The same machine at another price is one machine.
    Others err by themselves. `widths`: standard deviations of the speeds.
    """
    count = len(paced)
    together = np.eye(count)
    asked = {number: query for number, one in enumerate(paced) if (query := asked_of(job, one, catalog)) is not None}
    for sample in ("tokens", "image"):
        places = [number for number, query in asked.items() if query.sample == sample]
        if places:
            queries = [asked[number] for number in places]
            calibration = catalog.calibration_for(sample)
            assert calibration is not None, "it made the predictions"
            own = list({one.id: one for query in queries for one in query.own}.values())
            observations = [query.observation for query in queries]
            together[np.ix_(places, places)] = of_estimates(
                kind_of(queries[0], calibration), fitted(calibration), observations, own
            )
    ratio = math.log(RATIO_FACTOR) / TAIL
    for one in range(count):
        for other in range(one):
            if _machine(paced[one]) == _machine(paced[other]):
                shared = 1.0
            elif one in asked or other in asked or not _same_ratio(paced[one], paced[other]):
                continue
            else:
                shared = min(1.0, ratio**2 / max(widths[one] * widths[other], 1e-9))
            together[one, other] = together[other, one] = shared
    return together


def asked_of(job: Job, one: Paced, catalog: Catalog) -> EstimatorQuery | None:
    """Return what the estimator was asked for a machine; None where its speed is no estimate."""
    speed = one.speed
    if speed is None or speed.samples_per_s is None or speed.basis is not Basis.MODELLED or job.mfu is not None:
        return None
    if one.candidate.option.step is not None:
        return None
    predicted = predict(job, one.candidate, catalog, speed.fit)
    return predicted.asked if isinstance(predicted, Prediction) else None


def of_estimates(kind: NetworkKind, learnt: Fit, asked: Sequence[Observation], own: Sequence[Observation]) -> Array:
    """Return C / (sd sd'), C the covariance of the estimator's errors, less what `own` known runs tell already."""
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


def _machine(one: Paced) -> tuple[object, ...]:
    candidate = one.candidate
    return (candidate.node.id, candidate.nodes, candidate.accelerators_per_node, candidate.strategy, candidate.split)


def _same_ratio(one: Paced, other: Paced) -> bool:
    """Whether both were carried over from a run by the ratio of the same two accelerators."""
    if one.candidate.accelerator.id != other.candidate.accelerator.id or one.speed is None or other.speed is None:
        return False
    return one.speed.basis is other.speed.basis is Basis.MODELLED
