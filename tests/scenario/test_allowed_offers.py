"""Limits of a plan on providers and on spot, and a budget in its own currency."""

from __future__ import annotations

import json
from datetime import date

import pytest
from pydantic import ValidationError

from planner.decide.campaign.budget import budget_of, limits_in_usd
from planner.decide.options.estimate_plan import estimate_plan
from planner.errors import NotFoundError
from planner.model.plan.plan import Plan
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 23)
STEP = {"batch": 64, "seconds": 1.0, "basis": "measured"}
OPTIONS = (
    {"site": "h200-x1"},
    {"offer": "lambda/gpu_8x_h100_sxm5"},
    {"offer": "aws/p5en.48xlarge", "price": "spot"},
    {"offer": "vast/1x-a100-80gb-sxm", "price": "marketplace"},
    {"offer": "ori/lora-up-to-10b", "price": "hosted_training"},
)
WON = {"code": "KRW", "per_usd": 1400.0, "low": 1250.0, "high": 1600.0, "as_of": "2026-11-20", "source": "a bank"}


def plan(**keys) -> Plan:
    options = [option | ({} if option.get("price") == "hosted_training" else {"step": STEP}) for option in OPTIONS]
    return Plan.model_validate_json(
        json.dumps(
            {
                "schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9},
                "options": options,
            } | keys
        )
    )  # fmt: skip


def refused(limits) -> list[list[str]]:
    options = estimate_plan(plan(limits=limits), bundled_catalog(), today=TODAY).options
    return [[reason.code.value for reason in option.not_allowed_reasons] for option in options]


OF, SPOT = ["provider_not_allowed"], ["spot_not_allowed"]


@pytest.mark.parametrize(
    ("limits", "codes"),
    [
        pytest.param({}, [[], [], [], [], []], id="none"),
        pytest.param({"spot": "allowed"}, [[], [], [], [], []], id="spot is allowed, as by default"),
        pytest.param({"spot": "never"}, [[], [], SPOT, SPOT, []], id="spot: neither spot nor a marketplace"),
        pytest.param({"providers": {"allow": ["lambda"]}}, [[], [], OF, OF, OF], id="Lambda alone"),
        pytest.param({"providers": {"deny": ["aws", "ori"]}}, [[], [], OF, [], OF], id="neither AWS nor Ori"),
        pytest.param(
            {"spot": "never", "providers": {"deny": ["aws"]}}, [[], [], [*OF, *SPOT], SPOT, []], id="both reasons"
        ),
    ],
)
def test_limits_rule_offers_out_and_nothing_owned(limits, codes):
    assert refused(limits) == codes


def test_the_reason_names_the_key():
    options = estimate_plan(
        plan(limits={"spot": "never", "providers": {"allow": ["lambda"]}}), bundled_catalog()
    ).options
    assert options[2].not_allowed == (
        "it is of aws, and limits.providers.allow holds lambda; its price is spot, and limits.spot is never"
    )


def test_an_unknown_provider_is_an_error_with_the_nearest_names():
    with pytest.raises(NotFoundError, match=r"limits\.providers\.deny: there is no provider 'lamda'.*mean lambda"):
        refused({"providers": {"deny": ["lamda"]}})


def test_a_provider_that_only_an_option_names_is_known():
    mine = {"offer": "acme/llama", "price": "hosted_training", "usd_per_million_tokens": 2.5}
    asked = plan(limits={"providers": {"deny": ["acme"]}}, options=[mine])
    (found,) = estimate_plan(asked, bundled_catalog(), today=TODAY).options
    assert found.not_allowed == "it is of acme, and limits.providers.deny holds acme"


def test_a_name_is_not_both_allowed_and_denied():
    with pytest.raises(ValidationError, match="'aws' is both allowed and denied"):
        plan(limits={"providers": {"allow": ["aws"], "deny": ["aws"]}})


class TestBudget:
    def test_in_the_plan_s_currency_it_has_the_range_of_the_rate(self):
        """14,000,000 won at 1,400 a dollar are 10,000 USD; at 1,600 they are 8,750, at 1,250 11,200."""
        asked = plan(currency=WON, campaign={"budget_local": 14e6})
        budget = budget_of(asked.campaign, asked.currency)
        assert (budget.value, budget.low, budget.high) == pytest.approx((10_000, 8_750, 11_200))
        assert limits_in_usd(asked.campaign, asked.currency).budget_usd == pytest.approx(10_000)

    def test_in_dollars_it_is_exact(self):
        asked = plan(campaign={"budget_usd": 500.0})
        budget = budget_of(asked.campaign, asked.currency)
        assert (budget.value, budget.low, budget.high) == (500, 500, 500)
        assert limits_in_usd(asked.campaign, asked.currency) == asked.campaign

    def test_without_one_there_is_none(self):
        assert budget_of(plan().campaign) is None

    def test_two_budgets_are_one_too_many(self):
        with pytest.raises(ValidationError, match="two budgets"):
            plan(currency=WON, campaign={"budget_local": 1e6, "budget_usd": 500.0})

    def test_it_needs_a_currency(self):
        with pytest.raises(ValidationError, match=r"campaign.budget_local is in the plan's own currency"):
            plan(campaign={"budget_local": 1e6})
