"""Predictions of measurements of image networks that their calibration was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.hold_out import Fold
from planner.speed.calibration.image_calibration import (
    fit_image_calibration,
    image_folds,
    predict_held_out_images,
    spreads_of,
)
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, predict_folds
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
    """Calibrate for rows, each fold without its own.

    Without `leave_out`, no row asked, nor a duplicate of one, is trained on. With it, a row is predicted by the
    evidence and by the other rows, save those of its own source (accelerator, its generation, network, scale,
    precision); the widths of its range come from the other folds.
    """
    import numpy as np

    left = without(evidence, asked)
    pool = [*asked, *left]
    if leave_out is None:
        calibration = shipped if len(left) == len(evidence) else fit_image_calibration(left, today=today)
        return [TrainedFold(tuple(range(len(asked))), calibration, tuple(range(len(asked), len(pool))))]
    data = image_sample(pool)
    whole = fit_images(data)
    in_fit = np.array([one.in_fit for one in pool])
    folds = [
        Fold(fold.test, fold.train[in_fit[fold.train]])
        for fold in image_folds(leave_out, pool)
        if (fold.test < len(asked)).any()
    ]
    held_out = [predict_held_out_images(data, fold, whole) for fold in folds]
    trained = []
    for number, one in enumerate(held_out):
        others = [each for place, each in enumerate(held_out) if place != number] or held_out
        calibration = Calibration(
            made_on=today, method="held out", rows=len(one.trained_on), rows_sha256="-", constants=one.fit.constants,
            effects=one.fit.effects, seen=one.known.seen, largest=one.known.largest, points=one.known.points,
            spreads=spreads_of(others, pool),
        )  # fmt: skip
        places = tuple(int(row) for row in one.rows if row < len(asked))
        trained.append(TrainedFold(places, calibration, tuple(int(row) for row in one.trained_on)))
    return trained


def predict_image_rows(
    asked: Sequence[Observation], folds: Sequence[TrainedFold], *, anchors: int, first: int = 0
) -> list[ScoredRow]:
    """Predict the rows of every fold with its calibration, in the order of the table.

    `first` is the place of the first row in a pool of rows and evidence, where other rows stand before it.
    """
    return predict_folds(asked, folds, kind_of_images, anchors=anchors, first=first)
