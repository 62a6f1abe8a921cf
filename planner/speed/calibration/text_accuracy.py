"""Predictions of measurements of text networks that their calibration was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.hold_out import Fold, predict_held_out, text_folds
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import ScoredRow, TrainedFold, predict_folds
from planner.speed.calibration.text_calibration import refitted
from planner.speed.estimator.expected_error import OWN_GROUPS
from planner.speed.estimator.network_kind import kind_of_text
from planner.speed.estimator.ranges import spreads
from planner.speed.estimator.text_fit import fit_text, text_sample

if TYPE_CHECKING:
    from planner.speed.physics.observation import Observation

LEAVE_OUT = ("source", "family", "model", "scale", "precision")


def train_text_folds(
    asked: Sequence[Observation],
    evidence: Sequence[Observation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[TrainedFold]:
    """Calibrate for rows, each fold without its own.

    Without `leave_out`, no row of `asked` is trained on. With it, a row is predicted by evidence and by the other rows,
    save those of its own source (family, model, precision); of scale, large rows are predicted by small ones.
    """
    left = without(evidence, asked)
    if leave_out is not None:
        return _folds(asked, left, leave_out, shipped, today=today)
    calibration = shipped if len(left) == len(evidence) else refitted(shipped, left, today=today)
    return [TrainedFold(tuple(range(len(asked))), calibration, tuple(range(len(asked), len(asked) + len(left))))]


def predict_text_rows(asked: Sequence[Observation], folds: Sequence[TrainedFold], *, anchors: int) -> list[ScoredRow]:
    """Predict the rows of every fold with its calibration, in the order of the table."""
    return predict_folds(asked, folds, kind_of_text, anchors=anchors)


def _folds(
    asked: Sequence[Observation],
    left: Sequence[Observation],
    split: str,
    shipped: Calibration,
    *,
    today: date,
) -> list[TrainedFold]:
    """Return, per fold, the rows asked and a calibration fitted without them.

    The widths of a fold's ranges come from the held-out errors of the other folds, so its own rows have no part in
    them. Those with own runs are the shipped ones, which are of held-out sources too.
    """
    import numpy as np

    pool = [*asked, *left]
    data = text_sample(pool)
    in_fit = np.array([one.in_fit for one in pool])
    whole = fit_text(data.at(in_fit))
    folds = [
        Fold(fold.test, fold.train[in_fit[fold.train]])
        for fold in text_folds(split, pool)
        if (fold.test < len(asked)).any()
    ]
    held_out = [predict_held_out(data, [fold], whole) for fold in folds]
    trained = []
    for number, fold in enumerate(folds):
        others = [one for place, one in enumerate(held_out) if place != number] or [held_out[number]]
        rows = np.concatenate([one.rows for one in others])
        stated = in_fit[rows]
        errors = np.concatenate([data.log_seconds[one.rows] - one.log_predicted for one in others])
        doubts = np.concatenate([one.doubt for one in others])
        groups = np.array([group for one in others for group in one.groups], dtype=object)
        fold_fit, known = held_out[number].fits[0]
        calibration = Calibration(
            made_on=today,
            method="held out",
            rows=len(fold.train),
            rows_sha256="-",
            constants=fold_fit.constants,
            effects=fold_fit.effects,
            seen=known.seen,
            largest=known.largest,
            points=known.points,
            spreads=spreads(
                errors[stated],
                doubts[stated],
                groups[stated].tolist(),
                [pool[int(row)].labels.source for row in rows[stated]],
            )
            | {name: spread for name, spread in shipped.spreads.items() if name in OWN_GROUPS},
        )
        places = tuple(int(row) for row in fold.test if row < len(asked))
        trained.append(TrainedFold(places, calibration, tuple(int(row) for row in fold.train)))
    return trained
