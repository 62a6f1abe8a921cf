"""Held-out rows with their predictions, and the folds that predict them, for text and images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration, Spread
from planner.speed.calibration.anchors import informative_anchors
from planner.speed.calibration.hold_out import Fold
from planner.speed.estimator.expected_error import KnownLabels
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.network_kind import NetworkKind
from planner.speed.estimator.text_estimator import Estimates, fitted

if TYPE_CHECKING:
    from planner.speed.estimator.own_runs import UpdatePoints
    from planner.speed.physics.observation import Observation


@dataclass(frozen=True)
class ScoredRow:
    """Measurement with its prediction, in tokens/s per accelerator."""

    observation: Observation
    predicted: float
    low_80: float
    high_80: float
    low_90: float
    high_90: float
    group: str
    nearby_sources: float
    """Number of sources that measured nearby settings on the same chip with the same framework."""
    trained_on: tuple[int, ...]
    """Places of the rows to which this prediction's fold was fitted."""

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.observation.tokens_per_s_per_gpu - 1


@dataclass(frozen=True)
class TrainedFold:
    """Places of rows, and the calibration without them and without what the split leaves out."""

    places: tuple[int, ...]
    calibration: Calibration
    trained_on: tuple[int, ...]
    """Places of the rows that it was fitted to: first the rows asked, then the other evidence."""


def trained_fold(
    fold: Fold, fit: Fit, known: KnownLabels, spreads: dict[str, Spread], *, asked: int, today: date
) -> TrainedFold:
    """Return the fold's rows among the first `asked` of a pool, with the calibration of its training rows."""
    calibration = Calibration(
        made_on=today, method="held out", rows=len(fold.train), rows_sha256="-", constants=fit.constants,
        effects=fit.effects, seen=known.seen, largest=known.largest, points=known.points, spreads=spreads,
    )  # fmt: skip
    places = tuple(int(row) for row in fold.test if row < asked)
    return TrainedFold(places, calibration, tuple(int(row) for row in fold.train))


def fold_of_all(calibration: Calibration, *, asked: int, trained_on: int) -> list[TrainedFold]:
    """Return one fold that predicts the first `asked` rows by a calibration of the `trained_on` rows after them."""
    return [TrainedFold(tuple(range(asked)), calibration, tuple(range(asked, asked + trained_on)))]


def predict_folds(
    observations: Sequence[Observation],
    folds: Sequence[TrainedFold],
    kind: Callable[[Calibration], NetworkKind],
    *,
    anchors: int,
    first: int = 0,
) -> list[ScoredRow]:
    """Predict rows. Of each source, accelerator and framework, `anchors` rows are known and the others are predicted.

    The known rows are the most informative ones by the calibration without them. `first` is the place of the first row
    in a pool in which other rows precede it.
    """
    predictions = []
    for fold in folds:
        rows = [observations[place] for place in fold.places]
        network_kind, fold_fit = kind(fold.calibration), fitted(fold.calibration)
        trained_on = tuple(first + place for place in fold.trained_on)
        for cell in informative_anchors(rows, partial(_place, network_kind, fold_fit), anchors=anchors):
            chosen = [rows[place] for place in cell.asked]
            if chosen:
                guess = network_kind.estimate(chosen, [rows[place] for place in cell.anchors])
                predictions += _scored(chosen, guess, trained_on=trained_on)
    order = {id(row): place for place, row in enumerate(observations)}
    return sorted(predictions, key=lambda row: order[id(row.observation)])


def _place(kind: NetworkKind, fit: Fit, rows: Sequence[Observation]) -> UpdatePoints:
    return kind.model(fit, rows).place


def _scored(rows: Sequence[Observation], guess: Estimates, *, trained_on: tuple[int, ...]) -> list[ScoredRow]:
    """Return each measurement with its estimate, in their order."""
    return [
        ScoredRow(
            observation=row,
            predicted=float(guess.tokens_per_s_per_gpu[place]),
            low_80=float(guess.low_80[place]),
            high_80=float(guess.high_80[place]),
            low_90=float(guess.low_90[place]),
            high_90=float(guess.high_90[place]),
            group=guess.groups[place],
            nearby_sources=float(guess.nearby_sources[place]),
            trained_on=trained_on,
        )
        for place, row in enumerate(rows)
    ]
