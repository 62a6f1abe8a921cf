"""Fit to whole trainings: owners weigh alike, kinds are pooled, and ranges cover the stated share."""

from __future__ import annotations

import math
from datetime import date

import pytest

from planner.model.evidence.whole_training import TrainingKind
from planner.speed.calibration.practice_fit import Shortfall, fit_practice

PRE, LORA = TrainingKind.PRETRAINING, TrainingKind.LORA


def row(owner: str, ratio: float, kind: TrainingKind = PRE, *, number: int = 0, half: float = 0.1) -> Shortfall:
    return Shortfall(f"{owner}-{number}", f"{owner}/repository-{number}", kind, math.log(ratio), half)


def fit(rows: list[Shortfall]):
    return fit_practice(rows, table=b"", today=date(2026, 11, 24))


def test_an_owner_with_many_trainings_weighs_no_more():
    few = [row(f"owner{i}", 1.5) for i in range(9)]
    many = [row("big", 0.8, number=i) for i in range(200)]
    assert math.exp(fit([*few, *many]).middle[PRE]) == pytest.approx(1.5, rel=0.05)


def test_a_training_many_times_as_long_hardly_moves_the_middle():
    rows = [row(f"owner{i}", 1.4) for i in range(9)]
    assert math.exp(fit([*rows, row("slow", 20.0)]).middle[PRE]) == pytest.approx(1.4, rel=0.03)


def test_a_kind_of_few_owners_is_pooled():
    rows = [row(f"owner{i}", 1.2) for i in range(20)] + [row("a", 3.0, LORA), row("b", 3.0, LORA)]
    middle = fit(rows).middle
    assert middle[PRE] < middle[LORA] < math.log(3.0)
    assert middle[TrainingKind.IMAGES] == pytest.approx(middle[PRE], abs=0.05)  # none of them: all others'


def test_the_range_holds_nine_of_ten_owners():
    ratios = [math.exp(0.05 * step) for step in range(-20, 21)]
    found = fit([row(f"owner{i}", ratio, half=0.0) for i, ratio in enumerate(ratios)])
    # 41 owners, conformal: 0.9 x 42 / 41 = 92.2 % must lie inside, 38 of them: 1.9 / 2 = 0.95 from the middle 0.
    assert 2.132 * found.between == pytest.approx(0.95, abs=0.025)


def test_the_spread_of_one_owners_trainings():
    rows = [row("a", math.exp(0.3), number=1), row("a", math.exp(-0.3), number=2), row("b", 1.0)]
    assert fit(rows).within == pytest.approx(0.3 * math.sqrt(2), rel=1e-3)  # (0.09 + 0.09) / 1 degree of freedom
