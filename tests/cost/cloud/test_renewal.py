"""Renewal of old prices, and the prices for which it is not suggested."""

from __future__ import annotations

import pytest

from planner.cost.cloud.price_age import renewal
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_side_by_side import TODAY, plan_of

SIGNED = {"offer": "aws/p5en.48xlarge", "region": "us-east-1", "price": "savings_1y", "commitment_bought": True}


@pytest.mark.parametrize(
    ("refreshed", "said"),
    [
        pytest.param([True], "run planner prices refresh", id="a refresh reads it"),
        pytest.param([None], "run planner prices refresh", id="nothing is known of it"),
        pytest.param([False, False], "ask for a quote", id="no refresh reads any"),
        pytest.param(
            [False, True], "run planner prices refresh, and ask for a quote of the others", id="of both kinds"
        ),
    ],
)
def test_a_quote_is_asked_for_where_no_refresh_helps(refreshed, said):
    assert renewal(*refreshed) == said


def test_a_commitment_that_is_bought_is_used_at_the_price_it_was_bought_for():
    answer = plans.compare(plan_of([SIGNED], deadline=None), bundled_catalog(), today=TODAY.replace(year=2027))
    assert answer.headline[0].startswith("Use AWS p5en 1-year savings plan, 8x H200: ")
    assert not any("days old" in sentence for sentence in answer.headline)
    assert answer.options[0].price_stale is None
