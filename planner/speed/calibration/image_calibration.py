"""Calibration on measurements of image networks: one fit to all rows, and held-out fits for the ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import Cell, draw_anchors, errors_with_anchors, informative_anchors, part_of
from planner.speed.calibration.hold_out import Fold, folds_by_key, shared_by_small
from planner.speed.calibration.text_calibration import calibration_of
from planner.speed.estimator.doubt import doubt_with_own_runs, points_of
from planner.speed.estimator.expected_error import OWN_RUNS, KnownLabels, count_evidence
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.image_fit import ImageSample, features, fit_images, image_sample, model_images
from planner.speed.estimator.own_runs import UpdatePoints
from planner.speed.estimator.ranges import spreads, wider
from planner.speed.physics.observation import Observation

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

METHOD = "images 8"
"""Version of the method. Increase it when the physics or the fit changes, to tell old calibrations from new ones."""
SPLITS = ("source", "accelerator")
"""Splits whose held-out errors determine the ranges."""
LABELS = {"source": "source", "accelerator": "accelerator", "family": "generation", "model": "workload"}
"""Label that the test rows of a fold share, by split."""
LARGEST_TRAINED = 8
"""Largest training in accelerators that the scale split trains on: one node. Published image tables have few larger
ones."""
ANCHORS = 3
"""Number of runs that stand for the user's own."""
ROUNDS = 8
"""Rounds of a fit that starts from the fit to all rows."""


class HeldOutImages(NamedTuple):
    """Predictions of a fold's rows by a fit without them."""

    rows: Array
    errors: Array
    """ln(measured seconds / predicted)."""
    place: UpdatePoints
    doubt: Array
    groups: tuple[str, ...]
    fit: Fit
    known: KnownLabels


def fit_image_calibration(observations: Sequence[Observation], *, today: date, ranges: bool = True) -> Calibration:
    """Return the calibration of observations. Equal rows give equal digits."""
    data = image_sample(observations)
    whole = fit_images(data)
    known = known_of_images(data)
    held_out = (
        [predict_held_out_images(data, fold, whole) for split in SPLITS for fold in image_folds(split, observations)]
        if ranges
        else []
    )
    widths = spreads_of(held_out, observations) if held_out else {"all": Spread(rows=0, times_80=2.3, times_90=3.0)}
    return calibration_of(METHOD, observations, whole, known, widths, today=today)


def image_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Return the folds of one split: source, accelerator, family (generation), model (network), scale or precision."""
    if split == "scale":
        sizes = ["large" if row.config["dp"] > LARGEST_TRAINED else "small" for row in observations]
        return folds_by_key(sizes, observations, tested=("large",))
    if split not in LABELS:
        formats = [f"{row.config['number_bytes']:g} {row.config['vector_rate']:g}" for row in observations]
        return folds_by_key(formats, observations)
    keys = [getattr(row.labels, LABELS[split]) for row in observations]
    return folds_by_key(shared_by_small(keys) if split == "source" else keys, observations)


def known_of_images(data: ImageSample) -> KnownLabels:
    """Return the labels and settings that a sample has evidence of."""
    return count_evidence(data.labels, data.configs.gpus, points=points_of(data.labels, features(data.configs)))


def predict_held_out_images(data: ImageSample, fold: Fold, whole: Fit) -> HeldOutImages:
    """Predict the test rows of a fold by a fit to its training rows."""
    trained_on, asked = data.at(fold.train), data.at(fold.test)
    fit = fit_images(trained_on, start=whole, rounds=ROUNDS)
    known = known_of_images(trained_on)
    modelled = model_images(fit, asked.configs, asked.labels, known)
    errors = asked.log_seconds - modelled.log_step
    return HeldOutImages(fold.test, errors, modelled.place, modelled.doubt, modelled.groups, fit, known)


def spreads_of(held_out: Sequence[HeldOutImages], observations: Sequence[Observation]) -> dict[str, Spread]:
    """Return the spreads of held-out predictions by group, including those that three own runs correct."""
    random = _spreads_with(held_out, observations, lambda _, rows: draw_anchors(rows, anchors=ANCHORS))
    if OWN_RUNS not in random:
        return random
    informative = _spreads_with(
        held_out, observations, lambda place, rows: informative_anchors(rows, part_of(place, rows), anchors=ANCHORS)
    )
    return random | wider({OWN_RUNS: random[OWN_RUNS]}, informative)


def _spreads_with(
    held_out: Sequence[HeldOutImages],
    observations: Sequence[Observation],
    choose: Callable[[UpdatePoints, Sequence[Observation]], Sequence[Cell]],
) -> dict[str, Spread]:
    """Return the spreads of predictions without known runs, and with the runs that `choose` selects in each fold."""
    import numpy as np

    rows = [fold.rows for fold in held_out]
    errors, doubts = [fold.errors for fold in held_out], [fold.doubt for fold in held_out]
    groups = [group for fold in held_out for group in fold.groups]
    for fold in held_out:
        cells = choose(fold.place, [observations[int(row)] for row in fold.rows])
        for asked, remaining, expected in errors_with_anchors(fold.place, fold.errors, cells):
            rows.append(fold.rows[asked])
            errors.append(remaining)
            doubts.append(doubt_with_own_runs(expected, [fold.place.labels[int(place)] for place in asked]))
            groups += [OWN_RUNS] * len(asked)
    all_rows = np.concatenate(rows)
    sources = [observations[int(row)].labels.source for row in all_rows]
    return spreads(np.concatenate(errors), np.concatenate(doubts), groups, sources)
