"""Freshly drawn campaigns end and cost as often as an answer says, in every row of the examples."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from planner.adapters.workspace import examples_dir
from planner.decide.campaign.alone import each_alone
from planner.decide.outcomes import draws
from planner.decide.outcomes.draws import SAMPLES, Array
from planner.decide.outcomes.option_outcomes import outcomes_of
from planner.use_cases.plans import read_plan, with_found_options
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 25)
OTHER_SEED = 1987
TENTHS = np.arange(0.1, 1.0, 0.1)


def forget() -> None:
    draws.scores.cache_clear()
    draws.mixed.cache_clear()


@pytest.fixture
def seed(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    forget()
    yield monkeypatch
    forget()


@pytest.mark.parametrize("path", sorted(examples_dir().glob("*.yaml")), ids=lambda path: path.stem)
def test_ranges_hold_nine_in_ten_and_chances_come_true(path: Path, seed: pytest.MonkeyPatch) -> None:
    """88 to 92 % of all fresh draws lie in a 90 % range, and events with a stated chance happen that often."""
    catalog = bundled_catalog()
    plan = with_found_options(read_plan(path), catalog, today=TODAY)
    alone = each_alone(plan, catalog, today=TODAY)
    options = [
        option for option in alone.options if option.campaign_hours is not None and option.payable_usd is not None
    ]
    assert options
    said = [outcomes_of(option, alone.limits, today=TODAY) for option in options]
    seed.setattr(draws, "SEED", OTHER_SEED)
    forget()
    true = [outcomes_of(option, alone.limits, today=TODAY) for option in options]
    held = []
    for stated, drawn in zip(said, true, strict=True):
        for samples, fresh in ((stated.hours, drawn.hours), (stated.usd, drawn.usd)):
            assert samples is not None
            assert fresh is not None
            if np.ptp(samples) > 1e-6 * np.median(samples):
                low, high = np.quantile(samples, (0.05, 0.95))
                held.append(float(np.mean((low <= fresh) & (fresh <= high))))
                assert shares_below(fresh, np.quantile(samples, TENTHS)) == pytest.approx(TENTHS, abs=0.03)
    assert min(held) >= 0.87
    assert 0.88 <= np.mean(held) <= 0.92


def shares_below(fresh: Array, limits: Array) -> Array:
    return np.array([np.sum(fresh <= limit) / SAMPLES for limit in limits])
