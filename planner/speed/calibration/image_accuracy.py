"""Predictions of measurements of image networks by calibrations without them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.hold_out import folds_that_ask
from planner.speed.calibration.image_calibration import (
    fit_image_calibration,
    image_folds,
    predict_held_out_images,
    spreads_of,
)
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, fold_of_all, predict_folds, trained_fold
from planner.speed.estimator.image_fit import fit_images, image_sample
from planner.speed.estimator.network_kind import kind_of_images
from planner.speed.physics.observation import Observation


def train_image_folds(
    asked: Sequence[Observation],
    evidence: Sequence[Observation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[TrainedFold]:
    """Return calibrations that predict the rows `asked`, each without the rows of its fold.

    Without `leave_out`, one calibration is fitted to the evidence without the rows asked and their duplicates. With it,
    a row is predicted by the evidence and the other rows, except those of its own source (accelerator, generation,
    network, scale, precision). The width of its range comes from the other folds.
    """
    others = without(evidence, asked)
    if leave_out is None:
        calibration = shipped if len(others) == len(evidence) else fit_image_calibration(others, today=today)
        return fold_of_all(calibration, asked=len(asked), trained_on=len(others))
    pool = [*asked, *others]
    data = image_sample(pool)
    whole = fit_images(data)
    folds = folds_that_ask(image_folds(leave_out, pool), pool, asked=len(asked))
    held_out = [predict_held_out_images(data, fold, whole) for fold in folds]
    trained = []
    for number, (fold, predicted) in enumerate(zip(folds, held_out, strict=True)):
        spreads = spreads_of(held_out[:number] + held_out[number + 1 :] or held_out, pool)
        trained.append(trained_fold(fold, predicted.fit, predicted.known, spreads, asked=len(asked), today=today))
    return trained


def predict_image_rows(
    asked: Sequence[Observation], folds: Sequence[TrainedFold], *, anchors: int, first: int = 0
) -> list[ScoredRow]:
    """Predict the rows of every fold with its calibration, in the order of the table.

    `first` is the place of the first row in a pool in which other rows precede it.
    """
    return predict_folds(asked, folds, kind_of_images, anchors=anchors, first=first)
