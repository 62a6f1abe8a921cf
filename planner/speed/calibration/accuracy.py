"""Calibrations that predict measurements of text and image networks, each without them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.hold_out import HeldOut, folds_that_ask, predict_held_out, text_folds
from planner.speed.calibration.image_calibration import ROUNDS as IMAGE_ROUNDS
from planner.speed.calibration.image_calibration import fit_image_calibration, image_folds, spreads_of
from planner.speed.calibration.same_measurement import without
from planner.speed.calibration.scored_rows import TrainedFold, fold_of_all, trained_folds
from planner.speed.calibration.text_calibration import ROUNDS, refitted
from planner.speed.estimator.expected_error import OWN_GROUPS
from planner.speed.estimator.image_fit import OF_IMAGES
from planner.speed.estimator.ranges import spreads
from planner.speed.estimator.text_estimator import OF_TEXT
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
    data = OF_TEXT.sample(pool)
    in_fit = np.array([row.in_fit for row in pool])
    whole = OF_TEXT.fit(data.at(in_fit))
    with_own_runs = {name: spread for name, spread in shipped.spreads.items() if name in OWN_GROUPS}

    def widths(held_out: Sequence[HeldOut]) -> dict[str, Spread]:
        rows, errors, doubts = (
            np.concatenate([getattr(fold, name) for fold in held_out]) for name in ("rows", "errors", "doubt")
        )
        stated = in_fit[rows]
        groups = np.array([group for fold in held_out for group in fold.groups], dtype=object)
        sources = [pool[int(row)].labels.source for row in rows[stated]]
        return spreads(errors[stated], doubts[stated], groups[stated].tolist(), sources) | with_own_runs

    folds = folds_that_ask(text_folds(split, pool), pool, asked=len(observations))
    held_out = [predict_held_out(OF_TEXT, data, fold, whole, rounds=ROUNDS) for fold in folds]
    return trained_folds(folds, held_out, widths, asked=len(observations), today=today)


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
    data = OF_IMAGES.sample(pool)
    whole = OF_IMAGES.fit(data)
    folds = folds_that_ask(image_folds(leave_out, pool), pool, asked=len(observations))
    held_out = [predict_held_out(OF_IMAGES, data, fold, whole, rounds=IMAGE_ROUNDS) for fold in folds]
    return trained_folds(folds, held_out, partial(spreads_of, observations=pool), asked=len(observations), today=today)
