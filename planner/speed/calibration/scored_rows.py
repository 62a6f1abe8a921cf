"""Held-out rows beside their predictions, of text and of images: rows, the folds that predict them, and anchors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from planner.model.evidence.calibration import Calibration
from planner.speed.calibration.anchors import informative_anchors
from planner.speed.estimator.fit_sample import Fit
from planner.speed.estimator.network_kind import NetworkKind
from planner.speed.estimator.text_estimator import Estimates, fitted

if TYPE_CHECKING:
    from planner.speed.estimator.own_runs import UpdatePoints
    from planner.speed.physics.observation import Observation


@dataclass(frozen=True)
class ScoredRow:
    """One measurement beside its prediction, in tokens/s per accelerator."""

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
    """Places of the evidence on which this prediction's fold was fitted."""

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.observation.tokens_per_s_per_gpu - 1


@dataclass(frozen=True)
class TrainedFold:
    """Rows and the calibration that predicts them: it was fitted without them and without what the split leaves out."""

    places: tuple[int, ...]
    calibration: Calibration
    trained_on: tuple[int, ...]
    """Places of the rows that it was fitted on: among the rows asked, then the evidence left."""


def predict_folds(
    asked: Sequence[Observation],
    folds: Sequence[TrainedFold],
    kind: Callable[[Calibration], NetworkKind],
    *,
    anchors: int,
    first: int = 0,
) -> list[ScoredRow]:
    """Predict rows; of each source, accelerator and framework, `anchors` rows are known and the others are asked.

    Known are the most informative ones, by the calibration that was fitted without them. `first` is the place of the
    first row in a pool of rows and evidence, where other rows stand before it.
    """
    predictions = []
    for fold in folds:
        rows = [asked[place] for place in fold.places]
        network_kind, fold_fit = kind(fold.calibration), fitted(fold.calibration)
        trained_on = tuple(first + place for place in fold.trained_on)
        for cell in informative_anchors(rows, partial(_place, network_kind, fold_fit), anchors=anchors):
            chosen = [rows[place] for place in cell.asked]
            if chosen:
                guess = network_kind.estimate(chosen, [rows[place] for place in cell.anchors])
                predictions += _scored(chosen, guess, trained_on=trained_on)
    order = {id(one): place for place, one in enumerate(asked)}
    return sorted(predictions, key=lambda row: order[id(row.observation)])


def _place(kind: NetworkKind, fit: Fit, rows: Sequence[Observation]) -> UpdatePoints:
    return kind.model(fit, rows).place


def _scored(rows: Sequence[Observation], guess: Estimates, *, trained_on: tuple[int, ...]) -> list[ScoredRow]:
    """Put each measurement beside its estimate, in their order."""
    return [
        ScoredRow(
            observation=one,
            predicted=float(guess.tokens_per_s_per_gpu[place]),
            low_80=float(guess.low_80[place]),
            high_80=float(guess.high_80[place]),
            low_90=float(guess.low_90[place]),
            high_90=float(guess.high_90[place]),
            group=guess.groups[place],
            nearby_sources=float(guess.nearby_sources[place]),
            trained_on=trained_on,
        )
        for place, one in enumerate(rows)
    ]
