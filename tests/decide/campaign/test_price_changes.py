"""Prices that change during the work: commitments that end, discounts that begin, credits that expire. By hand.

A run takes exactly 10 h, and the campaign starts with 2026-12-01. The machine is listed at 21.957642 USD an hour.
"""

from __future__ import annotations

from datetime import date
from math import log
from statistics import NormalDist
from typing import Any

import pytest

from planner.cost.cloud.net_price import with_book
from planner.model.catalog import Catalog
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_book import Credit, PriceBook
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_side_by_side import TODAY, plan_of
from tests.decide.campaign.test_terms_and_credits import TAIL, with_credit

LISTED = 21.957642
P4D = {"offer": "aws/p4d.24xlarge", "region": "us-east-1"}
OTHER = {"offer": "aws/p4d.24xlarge", "region": "us-west-2", "usd_per_hour": 12.0}
ENDS_SOON: dict[str, Any] = {
    "name": "contract", "item": "aws/p4d.24xlarge", "region": "us-east-1", "nodes": 1, "usd_per_hour": 8.0,
    "valid_until": date(2026, 12, 5), "source": "the contract",
}  # fmt: skip
HALF = {"name": "half", "provider": "aws", "discount_fraction": 0.5, "source": "their mail"}


def catalog_with(**entries: list[dict[str, Any]]) -> Catalog:
    book = PriceBook.model_validate({"schema_version": 1, "as_of": date(2026, 11, 20), **entries})
    return with_book(bundled_catalog(), book, on=TODAY)


@pytest.mark.parametrize(
    "late",
    [{"wait_hours": 72.0}, {"ready_on": date(2026, 12, 4)}],
    ids=["wait_hours", "ready_on"],
)
def test_a_price_ends_on_its_day_however_late_the_machine_comes(late):
    """The machine is there on 12-04: 48 of 60 h cost 8 USD, until the contract ends with 12-05; 12 h are listed."""
    plan = plan_of([P4D | late], runs=6, deadline=None, at_once=1)
    (option,) = plans.compare(plan, catalog_with(commitments=[ENDS_SOON]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(48 * 8 + 12 * LISTED, abs=0.01)


def test_a_discount_that_begins_during_the_work_counts_from_then_on():
    """72 h at the list price until 12-03, then 48 h at half of it."""
    plan = plan_of([P4D], runs=12, deadline=None, at_once=1)
    half = HALF | {"valid_from": date(2026, 12, 4)}
    (option,) = plans.compare(plan, catalog_with(discounts=[half]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(72 * LISTED + 48 * LISTED / 2, abs=0.01)


def test_a_contract_that_follows_another_counts_for_the_nodes_it_holds():
    """Two nodes: 120 h at 8 and (8 + list) / 2 USD on each, then 80 h at 6 USD for both."""
    after = ENDS_SOON | {"name": "next", "nodes": 2, "usd_per_hour": 6.0, "valid_from": date(2026, 12, 6)}
    after |= {"valid_until": date(2026, 12, 31)}
    plan = plan_of([P4D | {"nodes": 2}], runs=20, deadline=None, at_once=1)
    (option,) = plans.compare(plan, catalog_with(commitments=[ENDS_SOON, after]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(120 * (8 + LISTED) + 80 * 2 * 6, abs=0.01)


def test_a_quote_holds_for_all_of_the_work():
    """It must be accepted by 12-01; the discount on it ends with 12-03: 72 h at 5 USD, 48 h at 10 USD."""
    quote = {"name": "offer", "item": "aws/p4d.24xlarge", "usd_per_hour": 10.0, "source": "their mail"}
    quote |= {"valid_until": date(2026, 12, 1)}
    half = HALF | {"on_quotes": True, "valid_until": date(2026, 12, 3)}
    plan = plan_of([P4D], runs=12, deadline=None, at_once=1)
    (option,) = plans.compare(plan, catalog_with(quotes=[quote], discounts=[half]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(72 * 5 + 48 * 10, abs=0.01)


def test_a_mix_pays_the_prices_of_its_own_days():
    """Ten runs on each end after 100 h, within the contract's 120 h: 100 x 8 + 100 x 12 USD."""
    plan = plan_of([P4D, OTHER], runs=20, deadline="2026-12-20", at_once=1, prefer="time")
    placed = plans.campaign(plan, catalog_with(commitments=[ENDS_SOON]), today=TODAY)
    assert sorted(placement.runs for placement in placed.placements) == [10, 10]
    assert placed.campaign_usd is not None
    assert placed.campaign_usd.value == pytest.approx(2_000, abs=0.01)


def test_a_mix_ends_its_runs_on_credits_before_they_expire():
    """1,000 USD last to 12-05: 12 runs in 120 h leave 200 USD to pay, and 18 runs elsewhere cost 18 x 110 USD.

    All 30 runs on the machine with the credits would end after they expire and cost 3,000 USD.
    """
    own = {"usd_per_hour": 10.0}
    elsewhere = {"offer": "runpod/8x-h100-sxm", "usd_per_hour": 11.0}
    plan = plan_of([P4D | own, elsewhere], runs=30, deadline="2026-12-31", at_once=1, budget_usd=2_500)
    catalog = with_credit(1_000, date(2026, 12, 5))
    mix, placed = plans.compare(plan, catalog, today=TODAY).mix, plans.campaign(plan, catalog, today=TODAY)
    assert mix is not None
    assert mix.placements == placed.placements
    assert {placement.option.split("/")[0]: placement.runs for placement in placed.placements} == {
        "aws": 12,
        "runpod": 18,
    }
    assert placed.simulated.usd.p50 == pytest.approx(2_180, abs=0.01)


def test_a_quota_takes_no_machines_beyond_a_commitment_that_holds_the_work():
    """Ten runs of 10 h in 100 of the 120 h at 8 USD on the one node that is bought; the quota would allow three."""
    plan = plan_of([P4D | {"quota": "3 machines"}], runs=10, deadline="2026-12-20")
    (option,) = plans.compare(plan, catalog_with(commitments=[ENDS_SOON]), today=TODAY).options
    assert option.at_once == 1
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(800, abs=0.01)


def test_options_of_one_item_share_its_commitment():
    """30 runs in 120 h need three nodes; two are bought at 8 USD. The third costs the list price.

    Two single nodes and a pair are four. Three single nodes do it for 100 h x (2 x 8 + 21.96) USD.
    """
    bought = ENDS_SOON | {"nodes": 2, "valid_until": date(2026, 12, 31)}
    plan = plan_of([P4D | {"quota": "3 machines"}, P4D | {"nodes": 2}], runs=30, deadline="2026-12-05")
    catalog = catalog_with(commitments=[bought])
    answer, placed = plans.compare(plan, catalog, today=TODAY), plans.campaign(plan, catalog, today=TODAY)
    assert answer.mix is None
    assert placed.usd_confident == pytest.approx(100 * (2 * 8 + LISTED), abs=0.01)


def test_a_term_pays_each_of_its_hours_at_the_price_of_its_day():
    """8,760 h of p4de at 17.40137 USD, of which 744 h until 12-31 cost half. The work of 70 h ends long before."""
    term = {"offer": "aws/p4de.24xlarge", "region": "us-east-1", "price": "savings_1y"}
    plan = plan_of([term], runs=7, deadline=None, at_once=1)
    half = HALF | {"valid_until": date(2026, 12, 31)}
    (option,) = plans.compare(plan, catalog_with(discounts=[half]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(744 * 17.40137 / 2 + 8_016 * 17.40137, abs=0.1)


@pytest.mark.parametrize("deadline", ["2026-12-20", None], ids=["a late deadline", "no deadline"])
@pytest.mark.parametrize(("confidence", "kept"), [(0.8, True), (0.9, False)], ids=["4 in 5", "9 in 10"])
def test_a_wait_before_a_grant_counts_in_the_chance_that_it_holds_the_work(deadline, confidence, *, kept):
    """60 of 120 h after a wait of 20 to 80 h, likely 40 h. From today, a week before, these are 188, 248 and 208 h.

    P(wait <= 60 h) = Phi(ln(228 / 208) / (ln(248 / 208) / 1.645)) = 80.5 %
    """
    grant = Price(
        provider="aws", instance_type="p4d.24xlarge", region="us-east-1", price_kind=PriceKind.GRANT, usd_per_hour=0.0,
        valid_from=date(2026, 12, 1), valid_until=date(2026, 12, 5), origin=PriceOrigin.USER, source="letter",
        as_of=TODAY, fetched_at=TODAY, confidence="list",
    )  # fmt: skip
    catalog = bundled_catalog().model_copy(update={"own_prices": (grant,)})
    wait = {"wait_hours": {"value": 40.0, "low": 20.0, "high": 80.0}}
    plan = plan_of([P4D | wait | {"price": "grant"}], runs=6, deadline=deadline, at_once=1, confidence=confidence)
    answer, placed = plans.compare(plan, catalog, today=TODAY), plans.campaign(plan, catalog, today=TODAY)
    assert answer.options[0].chance_both == pytest.approx(
        NormalDist().cdf(log(228 / 208) / (log(248 / 208) / TAIL)), abs=3e-3
    )
    assert (answer.recommended is not None) is kept
    assert placed.feasible is kept


def test_a_quota_waits_for_a_discount_that_begins_later():
    """72 h at the list price and 48 h at half of it; three at once would pay the list price for all 120 h."""
    half = HALF | {"valid_from": date(2026, 12, 4)}
    plan = plan_of([P4D | {"quota": "3 machines"}], runs=12, deadline="2026-12-31")
    (option,) = plans.compare(plan, catalog_with(discounts=[half]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(72 * LISTED + 48 * LISTED / 2, abs=0.01)


def test_a_committed_node_works_longer_before_others_are_taken_at_the_list_price():
    """Nine runs by the third day: seven in 70 h on the bought node cost 70 x 8 USD, two elsewhere 20 x 12 USD."""
    plan = plan_of([P4D, OTHER], runs=9, deadline="2026-12-03", confidence=0.8)
    bought = ENDS_SOON | {"valid_until": date(2026, 12, 31)}
    placed = plans.campaign(plan, catalog_with(commitments=[bought]), today=TODAY)
    assert placed.campaign_usd is not None
    assert placed.campaign_usd.value == pytest.approx(70 * 8 + 20 * 12, abs=0.01)


def test_uneven_sets_pay_the_prices_of_their_own_days():
    """13 runs on two nodes: 70 and 60 h. A contract for both ends after 48 h: 96 h at 8 USD, 22 + 12 h as listed."""
    ends = ENDS_SOON | {"nodes": 2, "valid_until": date(2026, 12, 2)}
    plan = plan_of([P4D], runs=13, deadline=None, at_once=2)
    (option,) = plans.compare(plan, catalog_with(commitments=[ends]), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(96 * 8 + 34 * LISTED, abs=0.01)


def test_a_queue_for_one_machine_gives_no_second_one():
    """Three runs of 10 h miss the day even without the wait; two at once would keep it."""
    queue = {"queue": {"jobs": 0, "job_hours": 1.0, "machines": 1}}
    plan = plan_of([P4D | {"usd_per_hour": 10.0} | queue], runs=3, deadline="2026-12-01")
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert (option.at_once, option.meets_deadline) == (1, False)


def test_unlike_runs_are_each_rounded_up_to_whole_hours():
    """Hours are sold whole: 6 runs of 1.5 h take 2 h each and one of 10.5 h takes 11 h, at 10 USD."""
    price = Price(
        provider="aws", instance_type="p4d.24xlarge", region="us-east-1", price_kind=PriceKind.ON_DEMAND,
        usd_per_hour=10.0, billing_granularity_s=3600.0, origin=PriceOrigin.USER, source="offer", as_of=TODAY,
        fetched_at=TODAY, confidence="list",
    )  # fmt: skip
    catalog = bundled_catalog().model_copy(update={"own_prices": (price,)})
    short, long = ({"epochs": 1, "samples_per_epoch": samples} for samples in (5_400, 37_800))
    groups = [{"name": "short", "runs": 6, "work": short}, {"name": "long", "runs": 1, "work": long}]
    plan = plan_of([P4D], runs=7, groups=groups, deadline=None, at_once=1)
    answer, placed = plans.compare(plan, catalog, today=TODAY), plans.campaign(plan, catalog, today=TODAY)
    assert answer.options[0].campaign_usd is not None
    assert placed.campaign_usd is not None
    assert answer.options[0].campaign_usd.value == pytest.approx(230.0)
    assert placed.campaign_usd.value == pytest.approx(230.0)


def test_runs_are_done_at_once_before_their_price_rises():
    """120 h, of which a discount of half holds for 72: two at once end after 60 h. One would pay 48 h in full."""
    half = HALF | {"valid_until": date(2026, 12, 3)}
    answer = plans.compare(plan_of([P4D], runs=12, deadline=None), catalog_with(discounts=[half]), today=TODAY)
    (option,) = answer.options
    assert option.at_once == 2
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(120 * LISTED / 2, abs=0.01)
    assert any(note.startswith("to cost less, several trainings run at once: AWS p4d") for note in answer.notes)


def test_runs_are_done_at_once_before_credits_expire():
    """1,000 USD last to 12-02: three at once end after 40 h and leave 200 of 1,200 USD to pay; two after 60 h, all."""
    plan = plan_of([P4D | {"usd_per_hour": 10.0}], runs=12, deadline=None)
    (option,) = plans.compare(plan, with_credit(1_000, date(2026, 12, 2)), today=TODAY).options
    assert option.at_once == 3
    assert option.usd_confident == pytest.approx(200, abs=0.01)


def test_a_lease_by_the_month_is_taken_for_one_set_if_that_needs_fewer_months():
    """1,900 h are three months of 730.5 h on one set, and four on the two that the quota allows."""
    lease = P4D | {"usd_per_hour": 10.0, "price": "lease", "minimum_hours": 730.5, "quota": "2 machines"}
    (option,) = plans.compare(plan_of([lease], runs=190, deadline=None), bundled_catalog(), today=TODAY).options
    assert option.at_once == 1
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(3 * 730.5 * 10, abs=0.01)


@pytest.mark.parametrize("campaign", [{"deadline": "2026-12-31"}, {"deadline": None}], ids=["a deadline", "none"])
@pytest.mark.parametrize("expired", [(), (date(2026, 11, 1),)], ids=["", "one has expired"])
def test_a_mix_uses_the_credits_of_two_providers_together(campaign, expired):
    """1,000 USD of each last to 12-05 and pay 10 runs in 100 h. The other 4 cost 90 USD each on the third."""
    options = [
        P4D | {"usd_per_hour": 10.0},
        {"offer": "runpod/8x-h100-sxm", "usd_per_hour": 10.0},
        {"offer": "lambda/gpu_8x_h100_sxm5", "usd_per_hour": 9.0},
    ]
    credits = [
        Credit(name=f"{provider}-{end}", provider=provider, usd=1_000, expires=end, source="their mail")
        for provider in ("aws", "runpod")
        for end in (date(2026, 12, 5), *expired)
    ]
    catalog = bundled_catalog().model_copy(update={"credits": tuple(credits)})
    placed = plans.campaign(plan_of(options, runs=24, at_once=1, **campaign), catalog, today=TODAY)
    assert {each.option.split("/")[0]: each.runs for each in placed.placements} == {
        "aws": 10,
        "runpod": 10,
        "lambda": 4,
    }
    assert placed.usd_confident == pytest.approx(360, abs=0.01)


def test_a_mix_keeps_a_budget_that_the_mean_price_of_all_runs_breaks():
    """12 runs in the contract's 120 h at 8 USD and 12 at 12 USD: 960 + 1,440. Alone they cost 3,595 and 2,880 USD."""
    plan = plan_of([P4D, OTHER], runs=24, deadline="2026-12-31", at_once=1, budget_usd=2_500)
    catalog = catalog_with(commitments=[ENDS_SOON])
    placed = plans.campaign(plan, catalog, today=TODAY)
    assert placed.usd_confident == pytest.approx(2_400, abs=0.01)
    assert plans.compare(plan, catalog, today=TODAY).mix is not None
