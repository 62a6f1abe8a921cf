"""From measurements of image networks to a calibration: one fit with everything, and held-out fits for the ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import Cell, draw_anchors, errors_with_anchors, informative_anchors, part_of
from planner.speed.calibration.hold_out import OWN_FOLD_ROWS, SMALL_FOLDS, Fold, fold_without_twins
from planner.speed.calibration.text_calibration import calibration_of
from planner.speed.estimator.doubt import doubt_with_own_runs, points_of
from planner.speed.estimator.expected_error import OWN_RUNS, KnownLabels, count_evidence
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.image_estimator import features, model_images
from planner.speed.estimator.image_fit import ImageSample, fit_images, image_sample
from planner.speed.estimator.own_runs import UpdatePoints
from planner.speed.estimator.ranges import spreads, wider
from planner.speed.physics.observation import Observation

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

METHOD = "images 8"
"""Raised when the physics or the fit changes, so that old calibrations are not mistaken for new ones."""
SPLITS = ("source", "accelerator")
"""What is left out, to see how far predictions of each group miss."""
ANCHORS = 3
ROUNDS = 8
"""Of a fit that starts from the one with everything."""


class HeldOutImages(NamedTuple):
    """One fold's rows, predicted by a fit that did not see them."""

    rows: Array
    errors: Array
    """ln(measured seconds / predicted)."""
    place: UpdatePoints
    doubt: Array
    groups: tuple[str, ...]
    fit: Fit
    known: KnownLabels
    trained_on: Array


def fit_image_calibration(observations: Sequence[Observation], *, today: date, ranges: bool = True) -> Calibration:
    """Calibrate on observations. The result depends on them alone: same rows, same digits."""
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
    """Divide the observations: a source, accelerator, generation (family), network (model) or scale at a time."""
    import numpy as np

    label = {"source": "source", "accelerator": "accelerator", "family": "generation", "model": "workload"}
    if split in label:
        keys = [getattr(one.labels, label[split]) for one in observations]
    elif split == "scale":
        keys = ["large" if one.config["dp"] > LARGEST_TRAINED else "small" for one in observations]
    else:
        keys = [f"{one.config['number_bytes']:g} {one.config['vector_rate']:g}" for one in observations]
    if split == "source":
        small = sorted({key for key in keys if keys.count(key) < OWN_FOLD_ROWS})
        shared = {key: f"small sources {place % SMALL_FOLDS}" for place, key in enumerate(small)}
        keys = [shared.get(key, key) for key in keys]
    names, everything = np.array(keys), np.arange(len(observations))
    asked = ["large"] if split == "scale" else sorted(set(keys))
    return [
        fold_without_twins(everything[names == key], everything[names != key], observations)
        for key in asked
        if key in keys
    ]


def known_of_images(data: ImageSample) -> KnownLabels:
    """Return what a sample has evidence of: labels and settings."""
    return count_evidence(data.labels, data.configs.gpus, points=points_of(data.labels, features(data.configs)))


LARGEST_TRAINED = 8
"""The scale split: trained on one node, tested on several; published image tables have few larger ones."""


def predict_held_out_images(data: ImageSample, fold: Fold, whole: Fit) -> HeldOutImages:
    """Predict one fold's rows by a fit on the others."""
    trained_on, asked = data.at(fold.train), data.at(fold.test)
    fit = fit_images(trained_on, start=whole, rounds=ROUNDS)
    known = known_of_images(trained_on)
    modelled = model_images(fit, asked.configs, asked.labels, known)
    errors = asked.log_seconds - modelled.log_step
    return HeldOutImages(fold.test, errors, modelled.place, modelled.doubt, modelled.groups, fit, known, fold.train)


def spreads_of(held_out: Sequence[HeldOutImages], observations: Sequence[Observation]) -> dict[str, Spread]:
    """Return the widths of ranges that held-out rows ask for, group by group, and with three runs of one's own."""
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
    """Return the widths with nothing known, and with the runs that are chosen of each fold."""
    import numpy as np

    rows = [one.rows for one in held_out]
    errors, doubts = [one.errors for one in held_out], [one.doubt for one in held_out]
    groups = [group for one in held_out for group in one.groups]
    for one in held_out:
        cells = choose(one.place, [observations[int(row)] for row in one.rows])
        for asked, left, then_expected in errors_with_anchors(one.place, one.errors, cells):
            rows.append(one.rows[asked])
            errors.append(left)
            doubts.append(doubt_with_own_runs(then_expected, [one.place.labels[int(place)] for place in asked]))
            groups += [OWN_RUNS] * len(asked)
    all_rows = np.concatenate(rows)
    sources = [observations[int(row)].labels.source for row in all_rows]
    return spreads(np.concatenate(errors), np.concatenate(doubts), groups, sources)
