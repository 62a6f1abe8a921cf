"""Predicts measurements that the estimator did not see, and scores them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.anchors import informative_anchors
from planner.speed.calibration.hold_out import Fold, judge
from planner.speed.calibration.hold_out import folds as folds_of
from planner.speed.calibration.text_calibration import learn, source_weights
from planner.speed.estimator.expected_error import OWN_GROUPS
from planner.speed.estimator.network_kind import NetworkKind, kind_of_text
from planner.speed.estimator.ranges import spreads
from planner.speed.estimator.text_estimator import Estimates, fitted
from planner.speed.estimator.text_fit import Fit, fit, sample

if TYPE_CHECKING:
    from planner.speed.estimator.own_runs import Place
    from planner.speed.physics.observation import Observation

LEAVE_OUT = ("source", "family", "model", "scale", "precision")


@dataclass(frozen=True)
class Scored:
    """One measurement beside its prediction, in tokens/s per accelerator."""

    observation: Observation
    predicted: float
    low_80: float
    high_80: float
    low_90: float
    high_90: float
    group: str
    taught: tuple[int, ...]
    """Places of the evidence that taught this prediction: its fold's."""

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.observation.tokens_per_s_per_gpu - 1


def scored(rows: Sequence[Observation], guess: Estimates, *, taught: tuple[int, ...]) -> list[Scored]:
    """Put each measurement beside its estimate, in their order."""
    return [
        Scored(
            observation=one,
            predicted=float(guess.tokens_per_s_per_gpu[place]),
            low_80=float(guess.low_80[place]),
            high_80=float(guess.high_80[place]),
            low_90=float(guess.low_90[place]),
            high_90=float(guess.high_90[place]),
            group=guess.groups[place],
            taught=taught,
        )
        for place, one in enumerate(rows)
    ]


def same_measurement(one: Observation) -> set[tuple[object, ...]]:
    """Return keys that duplicates and replicates of a measurement share with it."""
    config = tuple(sorted(one.config.items()))
    rate = f"{one.tokens_per_s_per_gpu:.3g}"
    shape = (one.labels.accelerator, config, rate)
    return {
        ("replicate", one.labels.source, one.labels.workload, one.labels.accelerator, config),
        ("duplicate", *shape),
        ("row", one.id, one.labels.source),
    }


def without(evidence: Sequence[Observation], asked: Sequence[Observation]) -> list[Observation]:
    """Return the evidence that is neither among the rows asked nor a duplicate or replicate of one."""
    taken = {key for one in asked for key in same_measurement(one)}
    return [one for one in evidence if not same_measurement(one) & taken]


@dataclass(frozen=True)
class Taught:
    """Rows that one calibration may be asked, because it never saw them nor what the split keeps from it."""

    places: tuple[int, ...]
    calibration: Calibration
    by: tuple[int, ...]
    """Places of its teachers: among the rows asked, then the evidence left."""


def teach(
    asked: Sequence[Observation],
    evidence: Sequence[Observation],
    shipped: Calibration,
    *,
    leave_out: str | None,
    today: date,
) -> list[Taught]:
    """Calibrate for rows.

    Without `leave_out`, no row of `asked` teaches. With it, a row is predicted by evidence and by the other rows, save
    those of its own source (family, model, precision); of scale, large rows are predicted by small ones.
    """
    left = without(evidence, asked)
    if leave_out is not None:
        return _folds(asked, left, leave_out, shipped, today=today)
    calibration = shipped if len(left) == len(evidence) else learn(left, today=today)
    return [Taught(tuple(range(len(asked))), calibration, tuple(range(len(asked), len(asked) + len(left))))]


def predict_rows(asked: Sequence[Observation], folds: Sequence[Taught], *, anchors: int) -> list[Scored]:
    """Predict measurements of text networks; see `score`."""
    return score(asked, folds, kind_of_text, anchors=anchors)


def score(
    asked: Sequence[Observation],
    folds: Sequence[Taught],
    kind: Callable[[Calibration], NetworkKind],
    *,
    anchors: int,
    first: int = 0,
) -> list[Scored]:
    """Predict rows; of each source, accelerator and framework, `anchors` rows are known and the others are asked.

    Known are those that tell most of the others, by the calibration that never saw them. `first` is the place of the
    first row in a pool of rows and evidence, where other rows stand before it.
    """
    found = []
    for fold in folds:
        rows = [asked[place] for place in fold.places]
        by, taught_fit = kind(fold.calibration), fitted(fold.calibration)
        taught = tuple(first + place for place in fold.by)
        for cell in informative_anchors(rows, partial(_place, by, taught_fit), anchors=anchors):
            chosen = [rows[place] for place in cell.asked]
            if chosen:
                guess = by.estimate(chosen, [rows[place] for place in cell.anchors])
                found += scored(chosen, guess, taught=taught)
    order = {id(one): place for place, one in enumerate(asked)}
    return sorted(found, key=lambda scored: order[id(scored.observation)])


def _place(kind: NetworkKind, fit: Fit, rows: Sequence[Observation]) -> Place:
    return kind.model(fit, rows).place


def _folds(
    asked: Sequence[Observation],
    left: Sequence[Observation],
    split: str,
    shipped: Calibration,
    *,
    today: date,
) -> list[Taught]:
    """Return, per fold, the rows asked and a calibration that never saw them.

    The widths of ranges come from the other folds: what a fold is judged by never saw that fold. Those with own runs
    are the shipped ones, which are of held-out sources too.
    """
    import numpy as np

    pool = [*asked, *left]
    data = sample(pool)
    teaches = np.array([one.teaches for one in pool])
    whole = fit(data.at(teaches))
    split_folds = [
        Fold(fold.test, fold.train[teaches[fold.train]])
        for fold in folds_of(split, pool)
        if (fold.test < len(asked)).any()
    ]
    judged = [judge(data, [fold], whole) for fold in split_folds]
    found = []
    for number, fold in enumerate(split_folds):
        others = [one for place, one in enumerate(judged) if place != number] or [judged[number]]
        rows = np.concatenate([one.rows for one in others])
        errors = np.concatenate([data.log_seconds[one.rows] - one.log_predicted for one in others])
        expected = np.concatenate([one.expected for one in others])
        weights = source_weights(pool, rows) * teaches[rows]
        fold_fit, known = judged[number].fits[0]
        calibration = Calibration(
            made_on=today,
            method="held out",
            rows=len(fold.train),
            rows_sha256="-",
            constants=fold_fit.constants,
            effects=fold_fit.effects,
            seen=known.seen,
            largest=known.largest,
            spreads=spreads(
                errors,
                expected,
                weights,
                [group for one in others for group in one.groups],
                sources=[pool[int(row)].labels.source for row in rows],
            )
            | {name: spread for name, spread in shipped.spreads.items() if name in OWN_GROUPS},
        )
        places = tuple(int(row) for row in fold.test if row < len(asked))
        found.append(Taught(places, calibration, tuple(int(row) for row in fold.train)))
    return found
