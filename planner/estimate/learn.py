"""From measurements to a calibration: one fit with everything, and fits that leave sources out for the ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from planner.estimate.anchors import draw_anchors, errors_with_anchors
from planner.estimate.calibrate import fit, sample
from planner.estimate.expected_error import count_evidence, groups_with_own_runs
from planner.estimate.hold_out import folds, judge
from planner.estimate.own_runs import Place, features
from planner.estimate.ranges import spreads
from planner.model.calibration import Calibration

if TYPE_CHECKING:
    from planner.estimate.hold_out import Judged
    from planner.estimate.observation import Observation
    from planner.estimate.physics.configs import Array, Configs

METHOD = "5"
"""Raised when the physics or the fit changes, so that old calibrations are not mistaken for new ones."""
SPLITS = ("source", "family", "scale")
"""What is left out, to see how far predictions of each group miss."""
ANCHORS = (1, 3)
"""How many runs of the same machine and framework play a user's own."""
DIGITS = 9


def learn(observations: Sequence[Observation], *, today: date, ranges: bool = True) -> Calibration:
    """Calibrate on observations. The result depends on them alone: same rows, same digits."""
    import numpy as np

    data = sample(observations)
    whole = fit(data)
    known = count_evidence(data.labels, data.configs.gpus)
    if ranges and observations:
        judged = [judge(data, folds(split, observations), whole) for split in SPLITS]
        errors = [data.log_seconds[one.rows] - one.log_predicted for one in judged]
        expected = [one.expected for one in judged]
        groups = [group for one in judged for group in one.groups]
        weights = [source_weights(observations, one.rows) for one in judged]
        all_rows = np.concatenate([one.rows for one in judged])
        own_error, own_expected, own_rows = _with_anchors(
            data.at(judged[0].rows).configs, observations, judged[0], errors[0]
        )
        own_groups = groups_with_own_runs(data.configs.at(own_rows))
        found = spreads(
            np.concatenate([*errors, own_error]),
            np.concatenate([*expected, own_expected]),
            np.concatenate([*weights, source_weights(observations, own_rows)]),
            [*groups, *own_groups],
            sources=[observations[int(row)].labels.source for row in (*all_rows, *own_rows)],
        )
    else:
        found = spreads(np.array([0.35]), np.array([0.15]), np.array([1.0]), ["all"])
    return Calibration(
        made_on=today,
        method=METHOD,
        rows=len(observations),
        rows_sha256=fingerprint(observations),
        constants={name: round(value, DIGITS) for name, value in whole.constants.items()},
        effects={
            level: {name: round(value, DIGITS) for name, value in sorted(names.items())}
            for level, names in whole.effects.items()
        },
        seen=known.seen,
        largest=known.largest,
        spreads=found,
    )


def fingerprint(observations: Sequence[Observation]) -> str:
    """Return a digest of everything that the fit reads."""
    digest = hashlib.sha256()
    for one in observations:
        digest.update(repr((one.id, sorted(one.config.items()), one.labels, one.tokens_per_s_per_gpu)).encode())
    return digest.hexdigest()


def source_weights(observations: Sequence[Observation], rows: Array) -> Array:
    """Weigh rows so that a source counts with the square root of its rows."""
    import numpy as np

    sources = [observations[int(row)].labels.source for row in rows]
    counts: dict[str, int] = {}
    for source in sources:
        counts[source] = counts.get(source, 0) + 1
    return np.array([counts[source] ** -0.5 for source in sources])


def _with_anchors(
    configs: Configs, observations: Sequence[Observation], judged: Judged, errors: Array
) -> tuple[Array, Array, Array]:
    """Repeat the held-out predictions with one and three runs of the same machine and framework as anchors."""
    import numpy as np

    rows = [observations[int(row)] for row in judged.rows]
    place = Place([row.labels for row in rows], judged.shares, features(configs), judged.expected)
    cells = [cell for count in ANCHORS for cell in draw_anchors(rows, anchors=count)]
    new_errors, new_expected, kept = [], [], []
    for asked, left, expected in errors_with_anchors(place, errors, cells):
        new_errors.append(left)
        new_expected.append(expected)
        kept.append(judged.rows[asked])
    if not kept:
        return np.zeros(0), np.zeros(0), np.zeros(0, dtype=int)
    return np.concatenate(new_errors), np.concatenate(new_expected), np.concatenate(kept)
