"""Predictions of measurements of text and image networks by calibrations without them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.hold_out import folds_that_ask, predict_held_out, text_folds
from planner.speed.calibration.image_calibration import (
    fit_image_calibration,
    image_folds,
    predict_held_out_images,
    spreads_of,
)
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, fold_of_all, predict_folds, trained_fold
from planner.speed.calibration.text_calibration import refitted
from planner.speed.estimator.expected_error import OWN_GROUPS
from planner.speed.estimator.image_fit import fit_images, image_sample
from planner.speed.estimator.network_kind import kind_of_images, kind_of_text
from planner.speed.estimator.ranges import spreads
from planner.speed.estimator.text_fit import fit_text, text_sample
from planner.speed.physics.observation import Observation

LEAVE_OUT = ("source", "family", "model", "scale", "precision")


def train_text_folds(
    observations: Sequence[Observation],
    evidence: Sequence[Observation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[TrainedFold]:
    """Return calibrations that predict `observations`, each without the rows of its fold.

    Without `leave_out`, one calibration is fitted to the evidence without the rows asked. With it, a row is predicted
    by the evidence and the other rows, except those of its own source (family, model, precision). For scale, large
    rows are predicted by small ones.
    """
    others = without(evidence, observations)
    if leave_out is not None:
        return _folds(observations, others, leave_out, shipped, today=today)
    calibration = shipped if len(others) == len(evidence) else refitted(shipped, others, today=today)
    return fold_of_all(calibration, asked=len(observations), trained_on=len(others))


def predict_text_rows(
    observations: Sequence[Observation], folds: Sequence[TrainedFold], *, anchors: int
) -> list[ScoredRow]:
    """Predict the rows of every fold with its calibration, in the order of the table."""
    return predict_folds(observations, folds, kind_of_text, anchors=anchors)


def _folds(
    observations: Sequence[Observation],
    others: Sequence[Observation],
    split: str,
    shipped: Calibration,
    *,
    today: date,
) -> list[TrainedFold]:
    """Return, per fold, the rows asked and a calibration without them.

    The ranges of a fold come from the held-out errors of the other folds, so its own rows do not affect them. Ranges
    with own runs are the shipped ones, which come from held-out sources too.
    """
    import numpy as np

    pool = [*observations, *others]
    data = text_sample(pool)
    in_fit = np.array([row.in_fit for row in pool])
    whole = fit_text(data.at(in_fit))
    folds = folds_that_ask(text_folds(split, pool), pool, asked=len(observations))
    held_out = [predict_held_out(data, [fold], whole) for fold in folds]
    with_own_runs = {name: spread for name, spread in shipped.spreads.items() if name in OWN_GROUPS}
    trained = []
    for number, fold in enumerate(folds):
        other_folds = held_out[:number] + held_out[number + 1 :] or held_out
        rows = np.concatenate([other.rows for other in other_folds])
        stated = in_fit[rows]
        errors = np.concatenate([data.log_seconds[other.rows] - other.log_predicted for other in other_folds])
        doubts = np.concatenate([other.doubt for other in other_folds])
        groups = np.array([group for other in other_folds for group in other.groups], dtype=object)
        sources = [pool[int(row)].labels.source for row in rows[stated]]
        widths = spreads(errors[stated], doubts[stated], groups[stated].tolist(), sources) | with_own_runs
        fold_fit, known = held_out[number].fits[0]
        trained.append(trained_fold(fold, fold_fit, known, widths, asked=len(observations), today=today))
    return trained


def train_image_folds(
    observations: Sequence[Observation],
    evidence: Sequence[Observation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[TrainedFold]:
    """Return calibrations that predict `observations`, each without the rows of its fold.

    Without `leave_out`, one calibration is fitted to the evidence without the rows asked and their duplicates. With it,
    a row is predicted by the evidence and the other rows, except those of its own source (accelerator, generation,
    network, scale, precision). The width of its range comes from the other folds.
    """
    others = without(evidence, observations)
    if leave_out is None:
        calibration = shipped if len(others) == len(evidence) else fit_image_calibration(others, today=today)
        return fold_of_all(calibration, asked=len(observations), trained_on=len(others))
    pool = [*observations, *others]
    data = image_sample(pool)
    whole = fit_images(data)
    folds = folds_that_ask(image_folds(leave_out, pool), pool, asked=len(observations))
    held_out = [predict_held_out_images(data, fold, whole) for fold in folds]
    trained = []
    for number, (fold, predicted) in enumerate(zip(folds, held_out, strict=True)):
        widths = spreads_of(held_out[:number] + held_out[number + 1 :] or held_out, pool)
        trained.append(trained_fold(fold, predicted.fit, predicted.known, widths, asked=len(observations), today=today))
    return trained


def predict_image_rows(
    observations: Sequence[Observation], folds: Sequence[TrainedFold], *, anchors: int, first: int = 0
) -> list[ScoredRow]:
    """Predict the rows of every fold with its calibration, in the order of the table.

    `first` is the place of the first row in a pool in which other rows precede it.
    """
    return predict_folds(observations, folds, kind_of_images, anchors=anchors, first=first)
