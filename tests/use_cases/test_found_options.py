"""The options that `options: auto` finds: answered with the speeds they were found by, or afresh, they are the same."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.plan.plan import Plan
from planner.use_cases.plans import compare, estimate, find_options, with_found_options
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 25)


@pytest.fixture(scope="module")
def to_find() -> Plan:
    return Plan.model_validate(
        {
            "schema_version": 1,
            "name": "found",
            "workload": {"ref": "llama3-8b"},
            "work": {"tokens": 35e6},
            "options": "auto",
        }
    )


def test_speeds_that_found_options_are_those_they_are_answered_with(to_find: Plan) -> None:
    """Answered at once, and as a plan that lists what was found, whose speeds nobody knows yet."""
    catalog = bundled_catalog()
    listed = with_found_options(to_find, catalog, today=TODAY)
    assert compare(to_find, catalog, today=TODAY) == compare(listed, catalog, today=TODAY)
    assert estimate(to_find, catalog, today=TODAY) == estimate(listed, catalog, today=TODAY)


def test_each_option_has_a_speed_at_its_place(to_find: Plan) -> None:
    """The dozen stands in another order than the forty among which it was found."""
    plan, paced = find_options(to_find, bundled_catalog(), today=TODAY)
    assert [one.candidate.position for one in paced] == list(range(len(plan.options)))
    assert [one.candidate.option for one in paced] == list(plan.options)
