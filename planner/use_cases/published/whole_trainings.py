"""Predicts published whole trainings from their plans, and compares with the hours that they took."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import ValidationError

from planner.adapters.evidence import whole_trainings
from planner.decide.options.estimate_plan import estimate_plan
from planner.errors import PlannerError
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Measurement
from planner.model.evidence.source_site import owner_of
from planner.model.evidence.whole_training import METRICS, PracticeFit, Team, TrainingKind, WholeTraining
from planner.model.plan.convergence import Practice
from planner.model.quantity import Quantity
from planner.speed.calibration.metrics import wilson_90
from planner.speed.calibration.practice_fit import Shortfall, fit_practice
from planner.use_cases.published.training_plans import plan_of

FOLDS = 10
"""Groups of owners. Each is left out of a fit once."""
NEUTRAL = PracticeFit(made_on=date(2026, 1, 1), trainings=0, sources=0, table_sha256="-",
                      middle=dict.fromkeys(TrainingKind, 0.0), between=0.1, within=0.1)  # fmt: skip
"""Fit of a catalog whose plans run at benchmark speed under every practice."""
ROW_HOURS = 100.0
"""Assumed hours of a training that states only its rate. The factor does not depend on it."""


@dataclass(frozen=True)
class TrainingPrediction:
    """A whole training with the planner's prediction of its hours."""

    training: WholeTraining
    practices: Mapping[Practice, Quantity]
    """Wall-clock hours by practice."""

    @property
    def typical_ratio(self) -> float:
        """Measured hours / predicted typical hours."""
        return (self.training.hours or 0.0) / self.practices[Practice.TYPICAL].value

    @property
    def inside(self) -> bool:
        """True if the measured hours lie in the 90 % range of the typical hours."""
        return (
            self.practices[Practice.TYPICAL].low
            <= (self.training.hours or 0.0)
            <= self.practices[Practice.TYPICAL].high
        )

    @property
    def shortfall(self) -> Shortfall:
        """Logarithm of measured hours over hours at benchmark speed."""
        hours, run = self.practices[Practice.BENCHMARK], self.training.run
        assert self.training.hours is not None, "only trainings with hours are predicted"
        half = math.log(hours.high / hours.low) / 2
        return Shortfall(run.id, run.source, self.training.kind, math.log(self.training.hours / hours.value), half)


def is_whole(row: Measurement) -> bool:
    """Return True if a row's rate is that of a whole training."""
    return row.metric.casefold() in METRICS


def predict_trainings(
    trainings: Sequence[WholeTraining], catalog: Catalog, *, today: date
) -> tuple[list[TrainingPrediction], dict[str, str]]:
    """Predict each training from its plan. Return the predictions, and by id the reasons why others have none."""
    predictions: list[TrainingPrediction] = []
    without: dict[str, str] = {}
    for training in trainings:
        answer = _answer(training, catalog, today=today)
        if isinstance(answer, str):
            without[training.run.id] = answer
        elif answer.time is not None and answer.time.practices:
            predictions.append(
                TrainingPrediction(
                    training, {estimate.practice: estimate.wall_hours for estimate in answer.time.practices}
                )
            )
        else:
            without[training.run.id] = answer.why_not or "no time is known"
    return predictions, without


def _answer(training: WholeTraining, catalog: Catalog, *, today: date) -> OptionEstimate | str:
    if training.hours is None:
        return "no data"
    try:
        plan = plan_of(training, catalog)
        return plan if isinstance(plan, str) else estimate_plan(plan, catalog, today=today).options[0]
    except (PlannerError, ValidationError) as error:
        return str(error).splitlines()[0]


def whole_rows_document(rows: Sequence[Measurement], catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Score rows whose rate is that of a whole training: measured hours against those of a plan."""
    return whole_document([_training_of_row(row) for row in rows], catalog, today=today)


def fitted_practice(trainings: Sequence[WholeTraining], catalog: Catalog, *, table: bytes, today: date) -> PracticeFit:
    """Fit the factors between benchmark speed and whole trainings. `table` is the content of their file."""
    predictions, _ = predict_trainings(trainings, catalog.model_copy(update={"practice": NEUTRAL}), today=today)
    return fit_practice([prediction.shortfall for prediction in predictions], table=table, today=today)


def left_out_document(catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Score the bundled whole trainings. Each tenth of the owners is predicted by a fit to the others."""
    rows = [row for row in whole_trainings() if row.excluded is None]
    predictions, without = predict_trainings(rows, catalog.model_copy(update={"practice": NEUTRAL}), today=today)
    owners = sorted({owner_of(prediction.training.run.source) for prediction in predictions})
    fold = {owner: place % FOLDS for place, owner in enumerate(owners)}
    left_out: list[TrainingPrediction] = []
    for number in range(FOLDS):
        of_fold = [fold[owner_of(prediction.training.run.source)] == number for prediction in predictions]
        others = [prediction.shortfall for prediction, in_fold in zip(predictions, of_fold, strict=True) if not in_fold]
        practice = fit_practice(others, table=b"", today=today)
        asked = [prediction.training for prediction, in_fold in zip(predictions, of_fold, strict=True) if in_fold]
        left_out += predict_trainings(asked, catalog.model_copy(update={"practice": practice}), today=today)[0]
    return _document(len(rows), left_out, without)


def whole_document(trainings: Sequence[WholeTraining], catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Return the score of trainings against their plans, and each prediction."""
    return _document(len(trainings), *predict_trainings(trainings, catalog, today=today))


def _document(rows: int, predictions: Sequence[TrainingPrediction], without: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rows": rows,
        "predicted": len(predictions),
        "skipped": dict(without),
        **whole_figures(predictions),
        "predictions": [
            {
                "id": prediction.training.run.id,
                "hours_ratio": prediction.typical_ratio,
                "low_90": prediction.practices[Practice.TYPICAL].low / prediction.practices[Practice.TYPICAL].value,
                "high_90": prediction.practices[Practice.TYPICAL].high / prediction.practices[Practice.TYPICAL].value,
            }
            for prediction in predictions
        ],
    }


def whole_figures(predictions: Sequence[TrainingPrediction]) -> dict[str, float | int | None]:
    """Return the fit of the typical hours. All sources have the same weight.

    middle   = median over sources of exp(mean of ln(measured hours / typical hours))
    coverage = mean over sources of the share of their trainings inside the 90 % range
    coverage_low, coverage_high = 90 % binomial interval (Wilson) of the coverage for this number of sources
    """
    sources: dict[str, list[TrainingPrediction]] = {}
    for prediction in predictions:
        sources.setdefault(prediction.training.run.source, []).append(prediction)
    if not sources:
        return {"sources": 0, "middle": None, "coverage": None}
    ratios = [
        math.exp(statistics.fmean(math.log(prediction.typical_ratio) for prediction in group))
        for group in sources.values()
    ]
    coverage = statistics.fmean(
        statistics.fmean(prediction.inside for prediction in group) for group in sources.values()
    )
    low, high = wilson_90(coverage, len(sources))
    return {
        "sources": len(sources), "middle": statistics.median(ratios), "coverage": coverage,
        "coverage_low": low, "coverage_high": high,
    }  # fmt: skip


def _training_of_row(row: Measurement) -> WholeTraining:
    """Turn a measured rate into a whole training of an assumed length."""
    adapters = re.search("lora|dora", row.method.casefold())
    images = row.unit == "images/s"
    kind = TrainingKind.IMAGES if images else TrainingKind.LORA if adapters else TrainingKind.PRETRAINING
    return WholeTraining(
        run=row, url="-", kind=kind, team=Team.COMPANY, hours=ROW_HOURS, count_stated=True, well_known=False,
        excluded=None,
    )  # fmt: skip
