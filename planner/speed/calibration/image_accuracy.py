"""Predicts measurements of image networks that the estimator did not see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.hold_out import Fold
from planner.speed.calibration.image_calibration import image_folds, learn_images, miss, spreads_of
from planner.speed.calibration.text_accuracy import Scored, Taught, score, without
from planner.speed.estimator.image_fit import fit_images, image_sample
from planner.speed.estimator.network_kind import kind_of_images
from planner.speed.physics.planned_image_config import ImageObservation


def predict_image_rows(
    asked: Sequence[ImageObservation],
    evidence: Sequence[ImageObservation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    anchors: int,
    today: date,
    first: int = 0,
) -> list[Scored]:
    """Predict rows of a table; of each source, accelerator and framework, `anchors` rows are known.

    `first` is the place of the first row in a pool of rows and evidence, where other rows stand before it.
    """
    if not asked:
        return []
    folds = teach_images(asked, evidence, shipped, leave_out=leave_out, today=today)
    return score_image_rows(asked, folds, anchors=anchors, first=first)


def teach_images(
    asked: Sequence[ImageObservation],
    evidence: Sequence[ImageObservation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[Taught]:
    """Calibrate for rows.

    Without `leave_out`, no row asked, nor a duplicate of one, teaches. With it, a row is predicted by the evidence and
    by the other rows, save those of its own source (accelerator, its generation, network, scale, precision); the widths
    of its range come from the other folds.
    """
    import numpy as np

    left = [one for one in without(evidence, asked) if isinstance(one, ImageObservation)]
    pool = [*asked, *left]
    if leave_out is None:
        calibration = shipped if len(left) == len(evidence) else learn_images(left, today=today)
        return [Taught(tuple(range(len(asked))), calibration, tuple(range(len(asked), len(pool))))]
    data = image_sample(pool)
    whole = fit_images(data)
    teaches = np.array([one.teaches for one in pool])
    folds = [
        Fold(fold.test, fold.train[teaches[fold.train]])
        for fold in image_folds(leave_out, pool)
        if (fold.test < len(asked)).any()
    ]
    missed = [miss(data, fold, whole) for fold in folds]
    found = []
    for number, one in enumerate(missed):
        others = [each for place, each in enumerate(missed) if place != number] or missed
        calibration = Calibration(
            made_on=today, method="held out", rows=len(one.taught), rows_sha256="-", constants=one.fitted.constants,
            effects=one.fitted.effects, seen=one.known.seen, largest=one.known.largest,
            spreads=spreads_of(others, pool),
        )  # fmt: skip
        places = tuple(int(row) for row in one.rows if row < len(asked))
        found.append(Taught(places, calibration, tuple(int(row) for row in one.taught)))
    return found


def score_image_rows(
    asked: Sequence[ImageObservation], folds: Sequence[Taught], *, anchors: int, first: int = 0
) -> list[Scored]:
    """Predict the rows of every fold with its calibration, in the order of the table."""
    return score(asked, folds, kind_of_images, anchors=anchors, first=first)
