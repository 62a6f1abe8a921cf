"""One set of limits serves every part of an answer: each part has a test that fails if it stops using them."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.advice.case import Case
from planner.decide.advice.near_options import NearOptions
from planner.decide.advice.option_rule import OptionRule
from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.find.dozen import shortlist
from planner.decide.find.offered import offered
from planner.decide.limits import MachineTerms, allowed, forbidden, most_days, most_sets, never_first
from planner.decide.placement.question import question_of
from planner.decide.recommend.instead import quote_request
from planner.model.answer.reason import ReasonCode, codes_of
from planner.model.owning.acquisition import Hold
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.plan.find_filters import FindFilters
from planner.model.plan.plan import Plan
from planner.model.plan.plan_option import PlanOption
from planner.model.prices.offer import PriceKind
from tests.bundled import bundled_catalog
from tests.decide.recommend.by_hand import compared, option, why

TODAY = date(2026, 11, 24)
CATALOG = bundled_catalog()
P5 = "aws/p5.48xlarge"
LAMBDA = "lambda/gpu_8x_h100_sxm5"
SPOT = MachineTerms(hold=Hold.RENT, price_kind=PriceKind.SPOT)
FIRM = MachineTerms(hold=Hold.RENT, price_kind=PriceKind.ON_DEMAND)


def changed(terms: MachineTerms, **changes: Any) -> MachineTerms:
    return MachineTerms(**(vars(terms) | changes))


@pytest.mark.parametrize(
    ("terms", "machines", "days", "code"),
    [
        pytest.param(SPOT, 4, 14.0, None, id="spot on 4 machines for 14 days"),
        pytest.param(SPOT, 5, 1.0, ReasonCode.SPOT_TOO_MUCH, id="spot on 5"),
        pytest.param(SPOT, 1, 14.1, ReasonCode.SPOT_TOO_MUCH, id="spot for over 14 days"),
        pytest.param(
            changed(SPOT, price_kind=PriceKind.MARKETPLACE), 5, 1.0, ReasonCode.SPOT_TOO_MUCH, id="a marketplace"
        ),
        pytest.param(changed(SPOT, spot_allowed=False), 1, 1.0, ReasonCode.SPOT_NOT_ALLOWED, id="the plan forbids it"),
        pytest.param(FIRM, 8, 400.0, None, id="8 firm machines for a year"),
        pytest.param(FIRM, 9, 1.0, ReasonCode.ASK_FOR_QUOTE, id="9 that are not known to be available"),
        pytest.param(changed(FIRM, known_available=True), 900, 1.0, None, id="900 that are"),
        pytest.param(changed(FIRM, hold=Hold.HAVE, price_kind=None), 900, 1.0, None, id="900 of one's own"),
        pytest.param(changed(FIRM, quota=2), 2, 1.0, None, id="as many as the quota holds"),
        pytest.param(changed(FIRM, quota=2), 3, 1.0, ReasonCode.QUOTA_TOO_SMALL, id="one more"),
        pytest.param(changed(FIRM, quota=0), 1, 1.0, ReasonCode.QUOTA_TOO_SMALL, id="a quota of nothing"),
        pytest.param(changed(FIRM, site_machines=2), 3, 1.0, ReasonCode.QUOTA_TOO_SMALL, id="more than the site has"),
        pytest.param(changed(FIRM, price_days=1000, price_stale=True), 1, 1.0, None, id="a firm price of any age"),
        pytest.param(changed(SPOT, price_days=90, price_stale=True), 1, 1.0, None, id="a spot price of 90 days"),
        pytest.param(
            changed(SPOT, price_days=91, price_stale=True), 1, 1.0, ReasonCode.PRICE_TOO_OLD, id="an older one"
        ),
        pytest.param(changed(SPOT, price_days=91), 1, 1.0, None, id="an old offer that still holds"),
    ],
)
def test_the_machines_and_days_that_terms_allow(
    terms: MachineTerms, machines: int, days: float, code: ReasonCode | None
) -> None:
    reason = allowed(terms, machines=machines, days=days)
    assert (reason.code if reason else None) is code


def test_reasons_are_all_said_and_the_plan_s_own_come_first() -> None:
    terms = changed(SPOT, spot_allowed=False, quota=1, price_days=100, price_stale=True)
    assert codes_of(forbidden(terms, machines=9)) == (ReasonCode.SPOT_NOT_ALLOWED, ReasonCode.QUOTA_TOO_SMALL)
    assert codes_of(never_first(terms, machines=9, days=1.0)) == (
        ReasonCode.SPOT_TOO_MUCH, ReasonCode.PRICE_TOO_OLD,
    )  # fmt: skip
    first = allowed(terms, machines=9, days=1.0)
    assert first is not None
    assert first.code is ReasonCode.SPOT_NOT_ALLOWED


@given(most=st.integers(0, 40), width=st.integers(1, 9), wanted=st.integers(0, 20))
def test_the_number_of_sets_that_a_limit_allows(most: int, width: int, wanted: int) -> None:
    terms = changed(FIRM, quota=most, known_available=True)
    found = most_sets(lambda count: not forbidden(terms, machines=count), width=width, wanted=wanted)
    assert found == min(wanted, most // width)


def test_spot_is_planned_with_for_two_weeks() -> None:
    assert (most_days(SPOT), most_days(FIRM)) == (14, float("inf"))


def offer(name: str = P5, **given: Any) -> dict[str, Any]:
    """Return an option whose run takes two hours on one machine."""
    step = {"batch": 10, "seconds": 2.0, "low_seconds": 2.0, "high_seconds": 2.0, "basis": "measured"}
    return {"offer": name, "step": step} | given


def plan(*options: dict[str, Any], **more: Any) -> Plan:
    return Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000}, "options": list(options),
        "campaign": {"start": "2026-12-01", "runs": 40},
    } | more)  # fmt: skip


def alone(asked: Plan) -> Alone:
    return each_alone(asked, CATALOG, today=TODAY)


def lanes(asked: Plan) -> int:
    """Return on how many sets of machines the placement may put the runs of the only option."""
    return sum(spot.lanes for spot in question_of(alone(asked), CATALOG, today=TODAY).instance.bins)


AT_ONCE = {"start": "2026-12-01", "runs": 40, "at_once": 20}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"price": "spot", "usd_per_hour": 20.0}, 4, id="spot: 4 machines"),
        pytest.param({"price": "spot", "usd_per_hour": 20.0, "nodes": 2}, 2, id="spot: 2 pairs"),
        pytest.param({"region": "us-east-1"}, 8, id="not known to be available: 8"),
        pytest.param({"usd_per_hour": 20.0}, 20, id="at a price of one's own: as many as asked for"),
        pytest.param({"usd_per_hour": 20.0, "quota": 6}, 6, id="a quota of 6"),
        pytest.param({"price": "spot", "usd_per_hour": 20.0, "quota": 6}, 4, id="of 6 on the spot"),
    ],
)
def test_placement_asks(given: dict[str, Any], expected: int) -> None:
    assert lanes(plan(offer(network_gbit_per_s=400.0, **given), campaign=AT_ONCE)) == expected


def test_placement_plans_spot_for_two_weeks() -> None:
    question = question_of(alone(plan(offer(price="spot", usd_per_hour=20.0))), CATALOG, today=TODAY)
    assert [spot.closes for spot in question.instance.bins] == [14 * 24.0]


def test_placement_says_which_limit_leaves_no_machine() -> None:
    asked = plan(offer(price="spot", usd_per_hour=20.0, nodes=8, network_gbit_per_s=400.0))
    left_out = question_of(alone(asked), CATALOG, today=TODAY).left_out
    assert left_out == (ReasonCode.SPOT_TOO_MUCH,)


@pytest.mark.parametrize(
    ("given", "more", "expected"),
    [
        pytest.param({"quota": 6}, {}, 6, id="as many as a quota holds"),
        pytest.param({"quota": 6}, {"campaign": AT_ONCE}, 6, id="of 20 that are asked for"),
        pytest.param({"quota": 0}, {"campaign": AT_ONCE}, 1, id="one, which is then not allowed"),
        pytest.param({}, {"campaign": AT_ONCE}, 20, id="no quota"),
    ],
)
def test_a_campaign_asks_how_many_run_side_by_side(given: dict[str, Any], more: dict[str, Any], expected: int) -> None:
    (found,) = alone(plan(offer(usd_per_hour=20.0, **given), **more)).options
    assert found.at_once == expected


@pytest.mark.parametrize(
    ("given", "more", "code"),
    [
        pytest.param({"quota": 1, "nodes": 2}, {}, ReasonCode.QUOTA_TOO_SMALL, id="quota"),
        pytest.param({"price": "spot"}, {"limits": {"spot": "never"}}, ReasonCode.SPOT_NOT_ALLOWED, id="limits.spot"),
    ],
)
def test_an_estimate_asks(given: dict[str, Any], more: dict[str, Any], code: ReasonCode) -> None:
    (found,) = alone(plan(offer(usd_per_hour=20.0, network_gbit_per_s=400.0, **given), **more)).options
    assert codes_of(found.not_allowed_reasons) == (code,)


@pytest.mark.parametrize(
    ("nodes", "codes"),
    [
        pytest.param(1, (ReasonCode.CLUSTER_TOO_SMALL,), id="less than the smallest cluster"),
        pytest.param(2, (), id="the smallest cluster"),
    ],
)
def test_a_cluster_is_not_rented_in_part(nodes: int, codes: tuple[ReasonCode, ...]) -> None:
    """Lambda's smallest 1-Click Cluster has 16 GPUs: two nodes."""
    (found,) = alone(plan({"offer": "lambda/1cc_8x_h100_sxm5", "nodes": nodes})).options
    assert codes_of(found.not_allowed_reasons) == codes


@pytest.mark.parametrize(("gpus", "sold"), [pytest.param(8, False, id="one node"), pytest.param(16, True, id="two")])
def test_a_cluster_is_offered_from_its_least_nodes_on(gpus: int, sold: bool) -> None:
    filters = FindFilters(provider=("lambda",), gpus=(gpus,))
    found = offered(CATALOG, filters, frozenset({"H100-SXM"}), today=TODAY).offers
    assert ("lambda/1cc_8x_h100_sxm5" in {listed.node.id for listed in found}) is sold


REFUSED = {"price_kind": PriceKind.SPOT, "nodes": 8, "accelerators": 64}
GOOD = {"price_kind": PriceKind.ON_DEMAND}


def test_a_recommendation_asks_and_why_not_says_so() -> None:
    answer = compared([option("spot", 1, 1, **REFUSED), option("firm", 2, 2, **GOOD)])
    assert answer.recommended == "firm"
    assert "not planned with beyond 4 nodes" in (why(answer, "spot") or "")


def test_no_recommendation_asks() -> None:
    answer = compared([option("spot", 1, 1, **REFUSED)])
    assert answer.recommended is None
    assert "may be taken away" in answer.sentence


def test_the_order_of_what_misses_a_limit_asks() -> None:
    """Nearest is a firm machine over the budget, and not spot that one cannot plan with, however cheap."""
    budget = CampaignLimits(budget_usd=10.0)
    answer = compared([option("spot", 1, 1, **REFUSED), option("firm", 2, 50, **GOOD)], budget)
    assert answer.recommended is None
    assert answer.nearest == "firm"


def test_a_quote_is_asked_for_where_the_limit_says_so() -> None:
    nine = option("many", 1, 1, price_kind=PriceKind.ON_DEMAND, nodes=9, accelerators=72)
    nine = nine.model_copy(update={"hours_confident": 1.0})
    assert "Please quote 9 machines" in (quote_request(nine, CampaignLimits(), today=TODAY) or "")
    eight = nine.model_copy(update={"nodes": 8})
    assert quote_request(eight, CampaignLimits(), today=TODAY) is None


def case(asked: Plan) -> Case:
    return Case.of(asked, CATALOG, today=TODAY)


def test_measurements_are_proposed_for_allowed_options_only() -> None:
    dear = offer(usd_per_hour=21.0, price="reserved_1y")
    asked = case(plan(offer(price="spot", usd_per_hour=1.0), offer(usd_per_hour=20.0), dear, campaign=AT_ONCE))
    rule = OptionRule.of(asked, asked.alone().options)
    assert rule is not None
    assert {option.price_kind for option in rule.options} == {PriceKind.ON_DEMAND, PriceKind.RESERVED_1Y}, (
        "20 spot machines"
    )


def test_an_old_price_says_what_to_do() -> None:
    [reason] = never_first(changed(SPOT, price_days=91, price_stale=True), machines=1, days=1.0)
    assert reason.text == "its price is 91 days old, too old to plan with: renew it first"


def test_the_options_near_a_decision_are_allowed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quickest by far has a spot price of 2024; of what lasts nothing comes to be chosen."""
    monkeypatch.setattr("planner.decide.advice.near_options.FIRST", 1)
    monkeypatch.setattr("planner.decide.advice.near_options.QUICKEST", 1)
    asked = case(plan(offer(usd_per_hour=20.0), offer(usd_per_hour=21.0), offer(price="spot", usd_per_hour=1.0)))
    fast, *others = reversed(asked.alone().options)
    assert fast.campaign_hours is not None
    hours = fast.campaign_hours.model_copy(update={"value": 1.0, "low": 1.0, "high": 1.0})
    old = fast.model_copy(update={"price_age_days": 500, "price_stale": True, "campaign_hours": hours})
    assert old.id not in {option.id for option in NearOptions.of(asked, [*others, old]).options}
    young = old.model_copy(update={"price_stale": False})
    assert young.id in {option.id for option in NearOptions.of(asked, [*others, young]).options}


def found(today: date = TODAY, **more: Any) -> tuple[list[PlanOption], Counter[str]]:
    asked = Plan.model_validate({
        "schema_version": 1, "name": "test", "workload": {"ref": "gpt-305m", "seq_len": 512},
        "work": {"epochs": 1, "samples_per_epoch": 36000},
    } | more)  # fmt: skip
    return shortlist(asked, CATALOG, None, today=today)


def test_find_asks_how_many_spot_machines_one_may_plan_with() -> None:
    options, left_out = found(options={"terms": "spot"})
    assert options
    assert max(option.nodes or 1 for option in options if isinstance(option.nodes, int)) <= 4
    assert left_out["on more spot machines than one may plan with"] > 0


def test_find_asks_whether_the_plan_allows_spot() -> None:
    options, left_out = found(options={"provider": "aws", "terms": "spot"}, limits={"spot": "never"})
    assert options == []
    assert left_out["on the spot where limits.spot is never"] > 0


def test_find_asks_how_old_a_price_is() -> None:
    """AWS's spot prices that ship are older than 90 days; in two years every price is older than a year."""
    options, left_out = found(options={"provider": "aws"})
    assert {option.price for option in options if option.offer} == {PriceKind.ON_DEMAND}
    assert left_out["with a price too old to plan with: planner prices refresh"] > 0


def test_find_shows_the_best_options_if_all_prices_are_too_old() -> None:
    """The answer then says how old they are, and what to do; nothing found would say neither."""
    options, left_out = found(date(2028, 12, 1), options={"provider": "aws"})
    assert options
    assert left_out["on more spot machines than one may plan with"] > 0


def test_find_keeps_options_that_need_a_quote() -> None:
    options, _ = found(options={"provider": "aws", "gpus": 128, "terms": "firm"})
    assert {option.nodes for option in options} == {16}
