"""Answers to whole plan files, compared with every possible placement: quotas, windows, waits, turns, groups."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from planner.model.answer.documents import CampaignDocument
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.placement.small_plans import best, drawn, plan_of

TODAY = date(2026, 11, 24)
START = datetime(2026, 12, 1, tzinfo=UTC)


def middle_hours(found: CampaignDocument) -> float:
    """Return the hours to the last end at the likely values. The document states the simulated median."""
    ends = [datetime.fromisoformat(placed.end) for placed in found.placements]
    return (max(ends) - START).total_seconds() / 3600


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=1_066_422_231)
@example(seed=22125)  # turns of others split the time into two windows
@example(seed=70193)  # one set between turns has to do what the row does on two
@example(seed=938)  # by time, on machines of a term whose quota holds four
def test_no_placement_is_better(seed):
    no_placement_is_better(seed)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_placement_of_many_is_better(seed):
    no_placement_is_better(seed)


def no_placement_is_better(seed: int) -> None:
    asked = drawn(seed)
    expected = best(asked)
    plan = Plan.model_validate(plan_of(asked))
    found = plans.campaign(plan, bundled_catalog(), today=TODAY, objective=asked.objective)
    assert found.feasible is (expected is not None)
    if expected is None:
        assert found.binding_limits
        return
    assert found.campaign_usd is not None
    usd, hours = found.campaign_usd.value, middle_hours(found)
    weighed = hours if asked.objective == "time" else usd + (asked.waiting or 0.0) * hours
    assert weighed == pytest.approx(expected[0], abs=0.01)
    assert sum(placed.runs for placed in found.placements) == sum(kind.runs for kind in asked.kinds)
    if asked.waiting is None and asked.objective == "time" and usd > expected[1] + 0.01:
        assert found.optimality_gap_pct is None  # of plans that likely end together, it ends first in the samples
        return
    if asked.waiting is None:
        assert (usd, hours) == pytest.approx(expected[1:], abs=0.01)
    assert found.optimality_gap_pct == pytest.approx(0.0, abs=1e-4)


def test_a_plan_whose_runs_end_sooner_than_those_of_its_row_has_chances_of_its_own():
    """After 13 h: three runs of 10 h beside one of 30 h end after 43 h, of the 48 until the deadline.

    Drawn by the test above. The row in `compare` counts 53 h, so its chance is not that of the plan.
    """
    found = plans.campaign(Plan.model_validate(plan_of(drawn(10685064))), bundled_catalog(), today=TODAY,
                           objective="time")  # fmt: skip
    assert found.feasible
    assert middle_hours(found) == pytest.approx(43.0)


def test_runs_of_a_service_go_side_by_side_from_the_first_hour_on():
    """Four runs of 10M tokens at 2.5 USD a million: 25 USD each; two at once for 2 h each end after 4 h."""
    plan = Plan.model_validate(
        {
            "schema_version": 1, "name": "a service", "workload": {"ref": "llama3-8b", "seq_len": 1000},
            "work": {"tokens": 1e7}, "campaign": {"runs": 4, "start": "2026-12-01", "at_once": 2},
            "options": [
                {"offer": "acme/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5, "training_hours": 2}
            ],
        }
    )  # fmt: skip
    found = plans.campaign(plan, bundled_catalog(), today=TODAY, objective="time")
    assert found.campaign_usd is not None
    assert found.campaign_usd.value == pytest.approx(100.0)
    assert middle_hours(found) == pytest.approx(4.0)
