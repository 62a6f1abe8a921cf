"""From measurements to a calibration: one fit with everything, and fits that leave sources out for the ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import draw_anchors, errors_with_anchors, informative_anchors, part_of
from planner.speed.calibration.hold_out import ROUNDS, known_of, predict_held_out, text_folds
from planner.speed.estimator.doubt import doubt_with_own_runs
from planner.speed.estimator.expected_error import OWN_GROUPS, groups_with_own_runs
from planner.speed.estimator.own_runs import UpdatePoints, features, spans_nodes
from planner.speed.estimator.ranges import spreads, wider
from planner.speed.estimator.text_estimator import fitted
from planner.speed.estimator.text_fit import TextSample, fit_text, text_sample
from planner.speed.physics.observation import digest_items

if TYPE_CHECKING:
    from planner.speed.calibration.hold_out import Fold, HeldOut
    from planner.speed.estimator.expected_error import KnownLabels
    from planner.speed.estimator.fit_sample import Fit
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Observation

METHOD = "16"
"""Raised when the physics or the fit changes, so that old calibrations are not mistaken for new ones."""
SPLITS = ("source", "family", "scale", "precision")
"""What is left out, to see how far predictions of each group miss; never more than is left to train on."""
ANCHORS = (1, 3)
"""How many runs of the same machine and framework play a user's own."""
DIGITS = 9


Each = Callable[..., Iterable["HeldOut"]]
"""`map`, or that of a pool of processes."""


def fit_text_calibration(
    observations: Sequence[Observation], *, today: date, ranges: bool = True, each: Each = map
) -> Calibration:
    """Calibrate on observations. The result depends on them alone: same rows, same digits."""
    import numpy as np

    data = text_sample(observations)
    whole = fit_text(data)
    known = known_of(data)
    if ranges and observations:
        held_out = list(each(partial(_held_out, data, observations, whole), SPLITS))
        errors = [data.log_seconds[one.rows] - one.log_predicted for one in held_out]
        widths = spreads(
            np.concatenate(errors),
            np.concatenate([one.doubt for one in held_out]),
            [group for one in held_out for group in one.groups],
            [observations[int(row)].labels.source for one in held_out for row in one.rows],
        )
        random, informative = _with_anchors(data.at(held_out[0].rows).configs, observations, held_out[0], errors[0])
        widths |= wider(_own_spreads(data, observations, random), _own_spreads(data, observations, informative))
    else:
        widths = spreads(np.array([0.7]), np.array([0.3]), ["all"], ["-"])
    return calibration_of(METHOD, observations, whole, known, widths, today=today)


def calibration_of(
    method: str,
    observations: Sequence[Observation],
    fit: Fit,
    known: KnownLabels,
    spreads: dict[str, Spread],
    *,
    today: date,
) -> Calibration:
    """Return what was fitted to observations, as it is kept."""
    return Calibration(
        made_on=today,
        method=method,
        rows=len(observations),
        rows_sha256=fingerprint(observations),
        constants={name: round(value, DIGITS) for name, value in fit.constants.items()},
        effects={
            level: {name: round(value, DIGITS) for name, value in sorted(names.items())}
            for level, names in fit.effects.items()
        },
        seen=known.seen,
        largest=known.largest,
        spreads=spreads,
        points=known.points,
    )


def refitted(shipped: Calibration, observations: Sequence[Observation], *, today: date) -> Calibration:
    """Return a calibration without the few rows that are asked: fitted from where it stands, its ranges as they are.

    Ranges come from sources held out, and a row or two moves no quantile of hundreds of sources.
    """
    data = text_sample(observations)
    fit, known = fit_text(data, start=fitted(shipped), rounds=ROUNDS), known_of(data)
    return shipped.model_copy(
        update={
            "made_on": today, "method": "without the rows asked", "rows": len(observations), "rows_sha256": "-",
            "constants": fit.constants, "effects": fit.effects, "seen": known.seen, "largest": known.largest,
            "points": known.points,
        }
    )  # fmt: skip


def _held_out(data: TextSample, observations: Sequence[Observation], whole: Fit, split: str) -> HeldOut:
    return predict_held_out(data, fair_folds(split, observations), whole)


def fair_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Return the folds of a split that leave more than they take: without all 16-bit rows little could be known."""
    return [fold for fold in text_folds(split, observations) if len(fold.train) > len(fold.test)]


def fingerprint(observations: Sequence[Observation]) -> str:
    """Return a digest of everything that the fit reads."""
    digest = hashlib.sha256()
    for one in observations:
        content = (one.id, digest_items(one.config), one.labels, one.tokens_per_s_per_gpu)
        digest.update(repr((*content, one.operators) if one.operators else content).encode())
    return digest.hexdigest()


Corrected = list[tuple["Array", "Array", "Array"]]
"""Rows, errors left and errors then expected, cell by cell."""


def _with_anchors(
    configs: Configs, observations: Sequence[Observation], held_out: HeldOut, errors: Array
) -> tuple[Corrected, Corrected]:
    """Repeat the held-out predictions with one and three runs of the same machine and framework as anchors.

    Once with runs drawn at random, as a user happens to have them, once with the most informative ones, as a user makes
    who asks which to make.
    """
    rows = [observations[int(row)] for row in held_out.rows]
    labels = [row.labels for row in rows]
    place = UpdatePoints(labels, held_out.shares, features(configs), held_out.expected, spans_nodes(configs))
    random = [cell for count in ANCHORS for cell in draw_anchors(rows, anchors=count)]
    informative = [cell for count in ANCHORS for cell in informative_anchors(rows, part_of(place, rows), anchors=count)]
    corrected = [
        [(held_out.rows[asked], left, expected) for asked, left, expected in errors_with_anchors(place, errors, cells)]
        for cells in (random, informative)
    ]
    return corrected[0], corrected[1]


def _own_spreads(data: TextSample, observations: Sequence[Observation], corrected: Corrected) -> dict[str, Spread]:
    """Return the widths that corrected predictions ask for, group by group; none where nothing was corrected."""
    import numpy as np

    if not corrected:
        return {}
    rows, errors, expected = (np.concatenate(column) for column in zip(*corrected, strict=True))
    labels = [observations[int(row)].labels for row in rows]
    widths = spreads(
        errors,
        doubt_with_own_runs(expected, labels),
        groups_with_own_runs(data.configs.at(rows)),
        [label.source for label in labels],
    )
    return {name: spread for name, spread in widths.items() if name in OWN_GROUPS}
