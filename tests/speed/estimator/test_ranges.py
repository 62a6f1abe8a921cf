"""Widths of ranges contain the stated share of errors for the average source."""

from __future__ import annotations

import numpy as np
import pytest

from planner.model.evidence.calibration import Spread
from planner.speed.estimator.ranges import half_widths, spreads, wider


def test_widths_of_normal_errors_are_those_of_the_normal_distribution() -> None:
    """80 and 90 % of normal errors lie within 1.2816 and 1.6449 standard deviations."""
    rng = np.random.default_rng(3)
    doubts = rng.uniform(0.05, 0.3, 20_000)
    sources = [f"source {row % 2000}" for row in range(20_000)]
    found = spreads(rng.normal(0, doubts), doubts, ["new framework"] * 20_000, sources)
    assert found["new framework"].times_80 == pytest.approx(1.2816, rel=0.03)
    assert found["new framework"].times_90 == pytest.approx(1.6449, rel=0.03)


def test_a_large_source_counts_as_a_small_one() -> None:
    """One source of 1,000 rows errs by half its doubt, 39 of one row each by twice: 0.5 holds most rows."""
    ratio = np.concatenate([np.full(1000, 0.5), np.full(39, 2.0)])
    sources = ["large"] * 1000 + [f"small {place}" for place in range(39)]
    found = spreads(0.2 * ratio, np.full(1039, 0.2), ["adapters"] * 1039, sources)
    assert found["adapters"].times_80 == found["adapters"].times_90 == pytest.approx(2.0)
    assert found["adapters"].rows == 1039


@pytest.mark.parametrize(("odd", "times_90"), [(3, 1.0), (4, 1.0), (5, 3.0), (6, 3.0)])
def test_the_quantile_is_corrected_for_the_number_of_sources(odd: int, times_90: float) -> None:
    """90 (n + 1) / n % of 49 sources are 45: with four odd ones 45 are enough, with five 44 are not."""
    ratio = np.where(np.arange(49) < odd, 3.0, 1.0)
    found = spreads(0.1 * ratio, np.full(49, 0.1), ["experts"] * 49, [str(place) for place in range(49)])
    assert found["experts"].times_90 == pytest.approx(times_90)


@pytest.mark.parametrize(("sources", "times_90"), [(4, 0.5), (8, 2.0), (60, 2.0)])
def test_a_group_of_few_sources_is_filled_up_with_the_errors_of_all_others(sources: int, times_90: float) -> None:
    """Four odd sources are 7 % of the 60 that a group should have, eight 13 %: more than the tenth that may lie out."""
    ratio = np.where(np.arange(sources + 100) < sources, 2.0, 0.5)
    groups = ["adapters"] * sources + ["experts"] * 100
    found = spreads(0.2 * ratio, np.full(sources + 100, 0.2), groups, [str(place) for place in range(sources + 100)])
    assert found["adapters"].times_90 == pytest.approx(times_90)
    assert found["experts"].times_90 == pytest.approx(0.5)


def test_the_wider_of_two_holds_in_both() -> None:
    first = {"a": Spread(rows=3, times_80=1.0, times_90=2.0), "b": Spread(rows=1, times_80=1.0, times_90=1.0)}
    second = {"a": Spread(rows=9, times_80=1.5, times_90=1.8)}
    assert wider(first, second) == {"a": Spread(rows=3, times_80=1.5, times_90=2.0), "b": first["b"]}


def test_a_group_without_a_calibration_takes_the_width_of_all() -> None:
    widths = {"all": Spread(rows=1, times_80=1.0, times_90=2.0), "a": Spread(rows=1, times_80=3.0, times_90=4.0)}
    wide_80, wide_90 = half_widths(["a", "b"], np.array([0.1, 0.1]), widths)
    assert wide_80 == pytest.approx([0.3, 0.1])
    assert wide_90 == pytest.approx([0.4, 0.2])


def test_no_range_is_narrower_than_two_per_cent() -> None:
    narrow = {"all": Spread(rows=1, times_80=1.0, times_90=1.0)}
    wide_80, wide_90 = half_widths(["any"], np.array([1e-6]), narrow)
    assert np.exp(wide_80[0]) == pytest.approx(1.02)
    assert wide_90[0] >= wide_80[0]
