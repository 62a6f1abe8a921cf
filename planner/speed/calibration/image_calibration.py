"""Calibration on measurements of image networks: one fit to all rows, and held-out fits for the ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import Cell, draw_anchors, errors_with_anchors, informative_anchors, part_of
from planner.speed.calibration.hold_out import Fold, HeldOut, folds_by_key, predict_held_out, shared_by_small
from planner.speed.calibration.text_calibration import calibration_of
from planner.speed.estimator.doubt import doubt_with_own_runs
from planner.speed.estimator.expected_error import OWN_RUNS
from planner.speed.estimator.image_fit import OF_IMAGES
from planner.speed.estimator.own_runs import UpdatePoints
from planner.speed.estimator.ranges import spreads, wider
from planner.speed.physics.observation import Observation

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


def fit_image_calibration(observations: Sequence[Observation], *, today: date, ranges: bool = True) -> Calibration:
    """Return the calibration of observations. Equal rows give equal digits."""
    data = OF_IMAGES.sample(observations)
    whole = OF_IMAGES.fit(data)
    folds = [fold for split in SPLITS for fold in image_folds(split, observations)] if ranges else []
    held_out = [predict_held_out(OF_IMAGES, data, fold, whole, rounds=ROUNDS) for fold in folds]
    widths = spreads_of(held_out, observations) if held_out else {"all": Spread(rows=0, times_80=2.3, times_90=3.0)}
    return calibration_of(METHOD, observations, whole, OF_IMAGES.known(data), widths, today=today)


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


def spreads_of(held_out: Sequence[HeldOut], observations: Sequence[Observation]) -> dict[str, Spread]:
    """Return the spreads of held-out predictions by group, including those that three own runs correct."""
    random = _spreads_with(held_out, observations, lambda _, rows: draw_anchors(rows, anchors=ANCHORS))
    if OWN_RUNS not in random:
        return random
    informative = _spreads_with(
        held_out, observations, lambda place, rows: informative_anchors(rows, part_of(place, rows), anchors=ANCHORS)
    )
    return random | wider({OWN_RUNS: random[OWN_RUNS]}, informative)


def _spreads_with(
    held_out: Sequence[HeldOut],
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
