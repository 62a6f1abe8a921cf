"""Why an option is not the recommended one: codes and figures, on options made by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.decide.owning.own_or_rent import own_or_rent
from planner.decide.recommend.phrases import Phrases
from planner.decide.recommend.why_not import reasons_against
from planner.model.answer.reason import Reason, ReasonCode, text_of
from planner.model.catalog import Catalog
from planner.model.currency import Currency
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.plan import OptionLimits, Plan
from planner.model.quantity import Unit
from planner.scenario.places import place_reasons
from tests.decide.recommend.by_hand import compared, option, quantity

NO_PRICE = Reason(code=ReasonCode.NO_PRICE, text="no price: sold out")
OWNING_NOT_KNOWN = Reason(code=ReasonCode.OWNING_NOT_KNOWN, text="usd_total: the site says nothing")
ELSEWHERE = OptionLimits(allowed_regions=("eu-1", "eu-2"), data_region="eu-1")
NOT_ALLOWED = place_reasons("us-1", None, ELSEWHERE)
BEST = option("best", 10, 10)
FASTER_AND_DEARER = {"campaign_hours": 4, "campaign_usd": 25, "recommended_hours": 10, "recommended_usd": 10}


@pytest.mark.parametrize(
    ("other", "codes", "figures"),
    [
        pytest.param(
            option("other", 12, 25), ["dominated"],
            {"campaign_hours": 12, "campaign_usd": 25, "better_hours": 10, "better_usd": 10}, id="slower and dearer",
        ),
        pytest.param(option("other", 4, 25), ["not_preferred"], FASTER_AND_DEARER, id="faster, but dearer"),
        pytest.param(
            option("other", 4, 25, fits=None), ["fit_not_checked", "not_preferred"], FASTER_AND_DEARER,
            id="nor is it known to fit",
        ),
        pytest.param(
            option("other", None, 25, meets_deadline=True), ["not_preferred"],
            {"campaign_usd": 25, "recommended_usd": 10}, id="a service without a time",
        ),
        pytest.param(option("other", 1, None, reasons=(NO_PRICE,)), ["no_price"], {}, id="no price"),
        pytest.param(option("other", 1, None), ["time_or_cost_not_known"], {}, id="no price, and no reason"),
        pytest.param(
            option("other", 1, None, reasons=(OWNING_NOT_KNOWN,)), ["time_or_cost_not_known"], {},
            id="that owning is not known speaks not against its electricity",
        ),
        pytest.param(
            option("other", 1, 1, not_allowed=text_of(NOT_ALLOWED), not_allowed_reasons=NOT_ALLOWED),
            ["place_not_allowed", "data_leaves_region"], {}, id="two limits on its place",
        ),
    ],
)  # fmt: skip
def test_why_another_option_lost(other: Any, codes: list[str], figures: dict[str, float]) -> None:
    answer = compared([BEST, other])
    assert answer.recommended == "best"
    (lost,) = (option for option in answer.options if option.id == "other")
    assert list(lost.why_not_codes) == codes
    assert {name: value for reason in lost.reasons for name, value in reason.figures.items()} == figures
    assert lost.why_not == text_of(lost.reasons)


def test_hours_are_compared_until_the_end_waits_included() -> None:
    """30 hours of work after 20 of waiting end after 40 hours at once."""
    now, later = option("now", 40, 25), option("later", 30, 10, wait_hours=20.0)
    (lost,) = (option for option in compared([now, later], CampaignLimits(deadline=date(2026, 12, 31))).options[1:])
    assert lost.why_not == (
        "faster (40 hours against 2.083 days, with the wait), more expensive (25.00 USD against 10.00 USD) than later"
    )


def test_a_place_is_not_allowed_in_one_sentence() -> None:
    answer = compared([BEST, option("other", 1, 1, not_allowed=text_of(NOT_ALLOWED), not_allowed_reasons=NOT_ALLOWED)])
    assert answer.options[1].why_not == (
        "not allowed: it is in us-1, and limits.allowed_regions holds eu-1, eu-2; "
        "it is in us-1, and limits.data_region keeps the data in eu-1"
    )


def test_missed_limits_are_counted_in_days_and_dollars() -> None:
    """Today is the 21st: 100 hours end on the 25th, three days after the 22nd; 140 of 100 dollars are 40 over."""
    rules = CampaignLimits(budget_usd=100.0, deadline=date(2026, 11, 22))
    late = option("late", 100, 140, limits=rules, finish=date(2026, 11, 25))
    answer = compared([option("best", 10, 10, limits=rules), late], rules)
    lost = answer.options[1]
    assert lost.why_not_codes == (ReasonCode.MISSES_DEADLINE, ReasonCode.OVER_BUDGET)
    assert [reason.figures for reason in lost.reasons] == [
        {"late_days": 3, "chance": 0},
        {"to_pay_usd": 140, "budget_usd": 100, "chance": 0},
    ]
    assert lost.why_not == (
        "ends on 2026-11-25, after the deadline 2026-11-22 and costs 140 USD, 40.00 USD over the budget"
    )


@pytest.mark.parametrize(
    ("code", "per_usd", "texts"),
    [
        pytest.param(
            "EUR", 0.5, ("costs 70.00 EUR, 20.00 EUR over the budget", "best is as fast, and cheaper (5.00 EUR against "
            "12.50 EUR)"), id="euros with cents below 100",
        ),
        pytest.param(
            "KRW", 1400, ("costs 196,000 KRW, 56,000 KRW over the budget", "best is as fast, and cheaper (14,000 KRW "
            "against 35,000 KRW)"), id="whole won",
        ),
    ],
)  # fmt: skip
def test_amounts_are_in_the_plan_s_currency(code: str, per_usd: float, texts: tuple[str, str]) -> None:
    """140 USD against a budget of 100, and 25 against 10."""
    currency = Currency(code=code, per_usd=per_usd, as_of=date(2026, 11, 1), source="a bank")
    phrases = Phrases(CampaignLimits(budget_usd=100.0), currency)
    dear = option("dear", 10, 140, within_budget=False, chance_budget=0.0)
    other = option("other", 10, 25, chance_budget=1.0)
    said = [reasons_against(each, BEST, [BEST, other], phrases)[0].text for each in (dear, other)]
    assert tuple(said) == texts


@pytest.mark.parametrize(
    ("options", "codes", "codes_of_rents"),
    [
        pytest.param([{"site": "hgx-h200-8x"}], ["nothing_to_rent"], [], id="nothing to rent"),
        pytest.param(
            [{"site": "hgx-h200-8x"}, {"offer": "aws/p5e.48xlarge", "region": "us-east-2", "price": "on_demand"}],
            ["no_comparable_rent"], [["no_price"]], id="a rent without a price",
        ),
        pytest.param(
            [{"site": "hgx-h200-8x"}, {"offer": "aws/p5.48xlarge", "usd_per_hour": 0.08}], [],
            [["never_breaks_even", "never_pays_back", "no_tax"]], id="a cent an hour for each accelerator",
        ),
    ],
)  # fmt: skip
def test_why_owning_cannot_be_compared(
    catalog: Catalog, options: list[dict[str, Any]], codes: list[str], codes_of_rents: list[list[str]]
) -> None:
    plan = Plan.model_validate(
        {
            "schema_version": 1,
            "name": "own or rent",
            "workload": {"ref": "gpt-305m", "seq_len": 512},
            "work": {"tokens": 1e9},
            "options": options,
        }
    )
    answer = own_or_rent(plan, catalog, site=None, today=date(2026, 11, 21))
    assert list(answer.why_not_codes) == codes
    assert [list(rent.why_not_codes) for rent in answer.rivals] == codes_of_rents


def test_a_purchase_that_is_sold_is_compared_by_its_cost_less_the_sale():
    """25 USD, of which 18 come back: 7 USD in 12 h against 10 USD in 10 h."""
    sold = option("bought", 12, 25, hold=Hold.BUY, taken_off_usd=quantity(18, Unit.USD))
    (reason,) = reasons_against(sold, BEST, [BEST, sold], Phrases(CampaignLimits()))
    assert reason.text == "slower (12 hours against 10 hours), cheaper (7.00 USD against 10.00 USD) than best"
