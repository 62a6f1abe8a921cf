"""Calibration on measurements of text networks: one fit to all rows, and fits that leave rows out for the ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import draw_anchors, errors_with_anchors, informative_anchors, part_of
from planner.speed.calibration.hold_out import predict_held_out, text_folds
from planner.speed.estimator.doubt import doubt_with_own_runs
from planner.speed.estimator.expected_error import OWN_GROUPS, groups_with_own_runs
from planner.speed.estimator.own_runs import joined
from planner.speed.estimator.ranges import spreads, wider
from planner.speed.estimator.text_estimator import OF_TEXT, fitted
from planner.speed.estimator.text_fit import TextSample
from planner.speed.physics.observation import digest_items

if TYPE_CHECKING:
    from planner.speed.calibration.hold_out import Fold, HeldOut
    from planner.speed.estimator.expected_error import KnownLabels
    from planner.speed.estimator.fit_sample import Fit
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation

METHOD = "16"
"""Version of the method. Increase it when the physics or the fit changes, to tell old calibrations from new ones."""
SPLITS = ("source", "family", "scale", "precision")
"""Splits whose held-out errors determine the ranges."""
ROUNDS = 2
"""Rounds of a fit that starts from the fit to all rows."""
ANCHORS = (1, 3)
"""Numbers of runs of the same machine and framework that stand for the user's own."""
DIGITS = 9


Each = Callable[..., Iterable["list[HeldOut]"]]
"""Type of `map`, or of the map of a pool of processes."""


def fit_text_calibration(
    observations: Sequence[Observation], *, today: date, ranges: bool = True, each: Each = map
) -> Calibration:
    """Return the calibration of observations. Equal rows give equal digits."""
    import numpy as np

    data = OF_TEXT.sample(observations)
    whole = OF_TEXT.fit(data)
    if ranges and observations:
        by_split = list(each(partial(_held_out, data, observations, whole), SPLITS))
        held_out = [fold for split in by_split for fold in split]
        widths = spreads(
            np.concatenate([fold.errors for fold in held_out]),
            np.concatenate([fold.doubt for fold in held_out]),
            [group for fold in held_out for group in fold.groups],
            [observations[int(row)].labels.source for fold in held_out for row in fold.rows],
        )
        random, informative = _with_anchors(observations, by_split[0])
        widths |= wider(_own_spreads(data, observations, random), _own_spreads(data, observations, informative))
    else:
        widths = spreads(np.array([0.7]), np.array([0.3]), ["all"], ["-"])
    return calibration_of(METHOD, observations, whole, OF_TEXT.known(data), widths, today=today)


def calibration_of(
    method: str,
    observations: Sequence[Observation],
    fit: Fit,
    known: KnownLabels,
    spreads: dict[str, Spread],
    *,
    today: date,
) -> Calibration:
    """Return a fit as a calibration, with rounded constants and effects."""
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
    """Return a calibration of `observations`, which lack a few rows: fitted from the shipped one, with its ranges.

    Ranges come from held-out sources, and a few rows move no quantile of hundreds of sources.
    """
    data = OF_TEXT.sample(observations)
    fit, known = OF_TEXT.fit(data, fitted(shipped), rounds=ROUNDS), OF_TEXT.known(data)
    return shipped.model_copy(
        update={
            "made_on": today, "method": "without the rows asked", "rows": len(observations), "rows_sha256": "-",
            "constants": fit.constants, "effects": fit.effects, "seen": known.seen, "largest": known.largest,
            "points": known.points,
        }
    )  # fmt: skip


def _held_out(data: TextSample, observations: Sequence[Observation], whole: Fit, split: str) -> list[HeldOut]:
    folds = (fold for fold in fair_folds(split, observations) if len(fold.test))
    return [predict_held_out(OF_TEXT, data, fold, whole, rounds=ROUNDS) for fold in folds]


def fair_folds(split: str, observations: Sequence[Observation]) -> list[Fold]:
    """Return the folds of a split that train on more rows than they test. Without 16-bit rows, a fit knows little."""
    return [fold for fold in text_folds(split, observations) if len(fold.train) > len(fold.test)]


def fingerprint(observations: Sequence[Observation]) -> str:
    """Return a digest of everything that the fit reads."""
    digest = hashlib.sha256()
    for row in observations:
        content = (row.id, digest_items(row.config), row.labels, row.tokens_per_s_per_gpu)
        digest.update(repr((*content, row.operators) if row.operators else content).encode())
    return digest.hexdigest()


Corrected = list[tuple["Array", "Array", "Array"]]
"""Rows, remaining errors and remaining expected errors by cell."""


def _with_anchors(observations: Sequence[Observation], held_out: Sequence[HeldOut]) -> tuple[Corrected, Corrected]:
    """Correct the held-out predictions by one and three runs of the same machine and framework.

    The first result has runs drawn at random, as a user happens to have them. The second has the most informative
    runs, as a user makes on advice.
    """
    import numpy as np

    places, errors = (np.concatenate([getattr(fold, name) for fold in held_out]) for name in ("rows", "errors"))
    rows, place = [observations[int(row)] for row in places], joined([fold.place for fold in held_out])
    random = [cell for count in ANCHORS for cell in draw_anchors(rows, anchors=count)]
    informative = [cell for count in ANCHORS for cell in informative_anchors(rows, part_of(place, rows), anchors=count)]
    corrected = [
        [
            (places[asked], remaining, expected)
            for asked, remaining, expected in errors_with_anchors(place, errors, cells)
        ]
        for cells in (random, informative)
    ]
    return corrected[0], corrected[1]


def _own_spreads(data: TextSample, observations: Sequence[Observation], corrected: Corrected) -> dict[str, Spread]:
    """Return the spreads of corrected predictions by group, or none without corrected predictions."""
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
