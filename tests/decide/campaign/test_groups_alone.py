"""An option on which a group of runs may not run does not do the campaign alone."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.answer.reason import ReasonCode, codes_of
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_chance_both import P4D, plan_of

TODAY = date(2026, 11, 24)


@pytest.mark.parametrize(
    ("wide", "allowed"),
    [
        pytest.param({"min_nodes": 2}, [False, True], id="two nodes at least"),
        pytest.param({"max_nodes": 1}, [True, False], id="one at most"),
        pytest.param({}, [True, True], id="any number"),
    ],
)
def test_rows_and_plan_take_the_same_options(wide: dict[str, int], allowed: list[bool]):
    groups = [{"name": "wide", "runs": 2} | wide, {"name": "any", "runs": 1}]
    options = [P4D | {"nodes": nodes} for nodes in (1, 2)]
    plan: Plan = plan_of(options, within=1.2, campaign={"runs": 3, "groups": groups})
    answer = plans.compare(plan, bundled_catalog(), today=TODAY)
    rows = sorted(answer.options, key=lambda option: option.nodes or 0)
    assert [row.not_allowed is None for row in rows] == allowed
    refused = [codes_of(row.not_allowed_reasons) for row in rows if row.not_allowed is not None]
    assert all(ReasonCode.NODES_NOT_ASKED in codes for codes in refused)
    planned = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert planned.feasible
    if answer.mix is None:
        assert {placed.option for placed in planned.placements} == {answer.recommended}
