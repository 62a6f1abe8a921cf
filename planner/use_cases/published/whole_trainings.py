"""Whole trainings as plans: what the planner says of them, beside how long they took."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import ValidationError

from planner.adapters.practice import whole_trainings
from planner.decide.options.estimate_plan import estimate_plan
from planner.errors import PlannerError
from planner.model.answer.option_estimate import OptionEstimate
from planner.model.catalog import Catalog
from planner.model.evidence.measurement import Measurement
from planner.model.evidence.practice import PracticeFit
from planner.model.evidence.source_site import owner_of
from planner.model.evidence.whole_training import METRICS, Team, TrainingKind, WholeTraining
from planner.model.plan.practice import Practice
from planner.model.quantity import Quantity
from planner.speed.calibration.by_source import wilson_90
from planner.speed.calibration.practice_fit import Shortfall, fit_practice
from planner.use_cases.published.training_plans import plan_of

FOLDS = 10
"""Of owners, each left out of a fit once."""
NEUTRAL = PracticeFit(made_on=date(2026, 1, 1), trainings=0, sources=0, table_sha256="-",
                      middle=dict.fromkeys(TrainingKind, 0.0), between=0.1, within=0.1)  # fmt: skip
"""Of a catalog whose plans are at benchmark speed, whatever their practice."""
ROW_HOURS = 100.0
"""How long a row's training is taken to be where its rate alone is stated; the factor does not depend on it."""


@dataclass(frozen=True)
class Foretold:
    """A whole training and what the planner says of it."""

    training: WholeTraining
    practices: Mapping[Practice, Quantity]
    """Wall-clock hours by practice."""

    @property
    def typical_ratio(self) -> float:
        """Return hours as they were / hours as people get it."""
        return (self.training.hours or 0.0) / self.practices[Practice.TYPICAL].value

    @property
    def inside(self) -> bool:
        """Return whether they lie in the range of what people get."""
        return (
            self.practices[Practice.TYPICAL].low
            <= (self.training.hours or 0.0)
            <= self.practices[Practice.TYPICAL].high
        )

    @property
    def shortfall(self) -> Shortfall:
        """Return it beside its plan at benchmark speed."""
        hours, run = self.practices[Practice.BENCHMARK], self.training.run
        assert self.training.hours is not None, "foretold are those with hours"
        half = math.log(hours.high / hours.low) / 2
        return Shortfall(run.id, run.source, self.training.kind, math.log(self.training.hours / hours.value), half)


def is_whole(row: Measurement) -> bool:
    """Return whether a row's rate is that of a whole training."""
    return row.metric.casefold() in METRICS


def foretell(
    trainings: Sequence[WholeTraining], catalog: Catalog, *, today: date
) -> tuple[list[Foretold], dict[str, str]]:
    """Answer each training as a plan; and say why the others have no answer, by id."""
    told: list[Foretold] = []
    without: dict[str, str] = {}
    for training in trainings:
        answer = _answer(training, catalog, today=today)
        if isinstance(answer, str):
            without[training.run.id] = answer
        elif answer.time is not None and answer.time.practices:
            told.append(Foretold(training, {one.practice: one.wall_hours for one in answer.time.practices}))
        else:
            without[training.run.id] = answer.why_not or "no time is known"
    return told, without


def _answer(training: WholeTraining, catalog: Catalog, *, today: date) -> OptionEstimate | str:
    if training.hours is None:
        return "no data"
    try:
        plan = plan_of(training, catalog)
        return plan if isinstance(plan, str) else estimate_plan(plan, catalog, today=today).options[0]
    except (PlannerError, ValidationError) as error:
        return str(error).splitlines()[0]


def whole_rows_document(rows: Sequence[Measurement], catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Score rows whose rate is that of a whole training as such: hours as they were against those of a plan."""
    return whole_document([_of_row(row) for row in rows], catalog, today=today)


def fitted_practice(trainings: Sequence[WholeTraining], catalog: Catalog, *, table: bytes, today: date) -> PracticeFit:
    """Fit what lies between benchmark speed and whole trainings; `table` is the file that they are from."""
    told, _ = foretell(trainings, catalog.model_copy(update={"practice": NEUTRAL}), today=today)
    return fit_practice([one.shortfall for one in told], table=table, today=today)


def left_out_document(catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Score the bundled whole trainings, each tenth of the owners by a fit to the others."""
    rows = [row for row in whole_trainings() if row.excluded is None]
    told, without = foretell(rows, catalog.model_copy(update={"practice": NEUTRAL}), today=today)
    owners = sorted({owner_of(one.training.run.source) for one in told})
    fold = {owner: place % FOLDS for place, owner in enumerate(owners)}
    left_out: list[Foretold] = []
    for number in range(FOLDS):
        of_fold = [fold[owner_of(one.training.run.source)] == number for one in told]
        others = [one.shortfall for one, out in zip(told, of_fold, strict=True) if not out]
        practice = fit_practice(others, table=b"", today=today)
        asked = [one.training for one, out in zip(told, of_fold, strict=True) if out]
        left_out += foretell(asked, catalog.model_copy(update={"practice": practice}), today=today)[0]
    return _document(len(rows), left_out, without)


def whole_document(trainings: Sequence[WholeTraining], catalog: Catalog, *, today: date) -> dict[str, Any]:
    """Return how trainings compare with their plans, and each of them."""
    return _document(len(trainings), *foretell(trainings, catalog, today=today))


def _document(rows: int, told: Sequence[Foretold], without: Mapping[str, str]) -> dict[str, Any]:
    return {
        "rows": rows,
        "predicted": len(told),
        "skipped": dict(without),
        **whole_figures(told),
        "predictions": [
            {
                "id": one.training.run.id,
                "hours_ratio": one.typical_ratio,
                "low_90": one.practices[Practice.TYPICAL].low / one.practices[Practice.TYPICAL].value,
                "high_90": one.practices[Practice.TYPICAL].high / one.practices[Practice.TYPICAL].value,
            }
            for one in told
        ],
    }


def whole_figures(told: Sequence[Foretold]) -> dict[str, float | int | None]:
    """Return how the typical hours fit: sources weigh alike, each by the mean of its trainings in logarithms.

    middle   = median over sources of exp(mean ln(hours as they were / typical hours))
    coverage = mean over sources of the share of their trainings inside the 90 % range; low and high: its 90 % binomial
               interval (Wilson) for so many sources
    """
    sources: dict[str, list[Foretold]] = {}
    for one in told:
        sources.setdefault(one.training.run.source, []).append(one)
    if not sources:
        return {"sources": 0, "middle": None, "coverage": None}
    ratios = [math.exp(statistics.fmean(math.log(one.typical_ratio) for one in group)) for group in sources.values()]
    coverage = statistics.fmean(statistics.fmean(one.inside for one in group) for group in sources.values())
    low, high = wilson_90(coverage, len(sources))
    return {
        "sources": len(sources), "middle": statistics.median(ratios), "coverage": coverage,
        "coverage_low": low, "coverage_high": high,
    }  # fmt: skip


def _of_row(row: Measurement) -> WholeTraining:
    """Return a row of a table of measurements as a whole training of some length, of which its rate tells all."""
    adapters = re.search("lora|dora", row.method.casefold())
    images = row.unit == "images/s"
    kind = TrainingKind.IMAGES if images else TrainingKind.LORA if adapters else TrainingKind.PRETRAINING
    return WholeTraining(
        run=row, url="-", kind=kind, team=Team.COMPANY, hours=ROW_HOURS, count_stated=True, well_known=False,
        excluded=None,
    )  # fmt: skip
