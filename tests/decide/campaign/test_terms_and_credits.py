"""Prepaid terms and credits that expire: the chance and the cost at the confidence, by hand, in every command."""

from __future__ import annotations

import json
import math
from datetime import date
from statistics import NormalDist
from typing import Any

import pytest

from planner.cost.cloud.bought_hours import AFTER_TERM
from planner.model.answer.reason import ReasonCode
from planner.model.catalog import Catalog
from planner.model.owning.site import Site
from planner.model.plan.plan import Plan
from planner.model.prices.price_book import Credit
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_side_by_side import P4D, TODAY, plan_of

PHI, TAIL = NormalDist().cdf, NormalDist().inv_cdf(0.95)
TERM: dict[str, Any] = P4D | {"minimum_hours": 1000}
"""10 USD an hour, for 1,000 hours at least."""


def within(option: dict[str, Any], factor: float, **campaign: Any) -> Plan:
    """Return a plan of runs of 10 hours, each of which is within `factor` of that, 9 times in 10."""
    plan = plan_of([option], **campaign)
    (machine,) = plan.options
    assert machine.step is not None
    step = machine.step.model_copy(update={"low_seconds": 10 / factor, "high_seconds": 10 * factor})
    return plan.model_copy(update={"options": (machine.model_copy(update={"step": step}),)})


def with_credit(usd: float, expires: date) -> Catalog:
    credit = Credit(name="grant", provider="aws", usd=usd, expires=expires, source="their mail")
    return bundled_catalog().model_copy(update={"credits": (credit,)})


def test_a_term_that_holds_the_work_costs_its_least():
    """800 h within 1.5: s = 0.2465. 4 in 5 take 984 h at most, so they pay for 1,000: 10,000 USD, known exactly.

    At 95 in 100 it is 1,200 h: 12,000 USD. 10,500 USD last for 1,050 h: Phi(ln(1050 / 800) / 0.2465) = 86.5 %.
    """
    plan = within(TERM, 1.5, runs=80, at_once=1, deadline=None, budget_usd=10_500)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.usd_confident == pytest.approx(10_000, rel=1e-4)
    assert option.chance_budget == pytest.approx(PHI(math.log(1050 / 800) / (math.log(1.5) / TAIL)), abs=2e-3)
    surer = plan.model_copy(update={"campaign": plan.campaign.model_copy(update={"confidence": 0.95})})
    (option,) = plans.compare(surer, bundled_catalog(), today=TODAY).options
    assert option.usd_confident == pytest.approx(12_000, rel=3e-3)


def test_each_set_of_machines_has_a_term_that_its_own_runs_fill():
    """25 h at least on each of two sets, for three and two runs of 10 h within 1.5: s = 0.2465.

    1.25 times as long, with Phi(ln 1.25 / s) = 81.73 %: 37.5 and 25 h, so 625 USD. Up to there the smaller set costs
    its least, 250 USD, while the larger one costs by the hour from 0.83 times the likely hours on.
    """
    chance = PHI(math.log(1.25) / (math.log(1.5) / TAIL))
    plan = within(P4D | {"minimum_hours": 25}, 1.5, runs=5, at_once=2, deadline=None, confidence=chance)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(300 + 250)
    assert option.usd_confident == pytest.approx(375 + 250, rel=1e-3)


def test_more_run_at_once_where_a_credit_expires_too_early_otherwise():
    """Nine runs of 10 h within 2.8: five on one of two sets take 50 h: P(50 h <= 120 h) = Phi(1.40) = 91.9 %."""
    plan = within(P4D, 2.8, runs=9, deadline="2026-12-20", budget_usd=500)
    answer = plans.compare(plan, with_credit(10_000, date(2026, 12, 5)), today=TODAY)
    (option,) = answer.options
    assert answer.recommended == option.id
    assert option.at_once == 2
    assert option.chance_budget == pytest.approx(PHI(math.log(120 / 50) / (math.log(2.8) / TAIL)), abs=2e-3)
    (without,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert without.at_once == 1


def test_a_credit_that_expires_pays_with_the_chance_that_it_lasts():
    """Nine runs of 10 h within 2.8 from 2026-12-01; the credit ends with the fifth day, after 120 h.

    s = ln 2.8 / 1.645 = 0.626: P(90 h <= 120 h) = Phi(0.46) = 67.7 %; 4 in 5 take 152 h and pay 1,524 USD.
    """
    plan = within(P4D, 2.8, runs=9, at_once=1, deadline="2026-12-20", budget_usd=500)
    catalog, s = with_credit(10_000, date(2026, 12, 5)), math.log(2.8) / TAIL
    answer = plans.compare(plan, catalog, today=TODAY)
    (option,) = answer.options
    assert answer.recommended is None
    assert option.to_pay_usd is not None
    assert option.to_pay_usd.value == 0
    assert option.chance_budget == option.chance_both == pytest.approx(PHI(math.log(120 / 90) / s), abs=2e-3)
    assert option.usd_confident == pytest.approx(900 * math.exp(s * NormalDist().inv_cdf(0.8)), rel=4e-3)
    placed = plans.campaign(plan, catalog, today=TODAY)
    assert not placed.feasible
    assert placed.nearest_feasible is not None
    assert placed.nearest_feasible.chance_budget == option.chance_budget
    assert placed.nearest_feasible.simulated.chance_budget == pytest.approx(option.chance_budget, abs=0.02)


def test_a_credit_that_surely_lasts_pays():
    plan = within(P4D, 1.2, runs=9, at_once=1, deadline="2026-12-20", budget_usd=500)
    answer = plans.compare(plan, with_credit(10_000, date(2027, 6, 1)), today=TODAY)
    assert answer.recommended == answer.options[0].id
    assert answer.options[0].usd_confident == 0
    assert answer.options[0].chance_both == pytest.approx(1.0, abs=1e-3)


def test_free_allowances_count_once_for_all_runs():
    """Each run moves its weights out of AWS, 304.6 million in 4 bytes or fewer; 100 GB in all are free, not of each.

    `campaign` shows the figure of `compare`: 40,000 USD for 400 runs of 10 h, and (400 x GB - 100) x 0.09 USD.
    """
    plan = plan_of([P4D], runs=400, at_once=1, deadline=None)
    plan = plan.model_copy(update={"data": plan.data.model_copy(update={"egress_gb": None})})
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    placed = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert option.bill is not None
    (egress,) = [line.usd.value for line in option.bill.lines if line.what == "egress"]
    assert egress > 1
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(40_000 + egress, abs=0.01)
    assert placed.campaign_usd is not None
    assert placed.campaign_usd.value == pytest.approx(option.campaign_usd.value)
    assert not any("unlike runs" in note for note in placed.notes)


def test_a_lease_without_a_term_is_paid_for_a_month():
    """20 h of work at 10 USD an hour: 8,766 / 12 = 730.5 h are paid."""
    plan = plan_of([P4D | {"price": "lease"}], runs=2)
    (lease,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert lease.campaign_usd is not None
    assert lease.campaign_usd.value == pytest.approx(7_305.0, abs=0.01)


YEAR: dict[str, Any] = P4D | {"price": "savings_1y"}
"""A year of 8,766 h at 10 USD an hour. The catalog lists the machine at 21.957642 USD an hour on demand."""


@pytest.mark.parametrize(
    ("confidence", "hours", "usd"),
    [
        pytest.param(0.5, 8_000, 87_660, id="within the year"),
        pytest.param(0.8, 9_844, 87_660 + 1_078 * 21.957642, id="a few hours after it, on demand"),
        pytest.param(0.95, 12_000, 87_660 + 3_234 * 21.957642, id="many hours after it, on demand"),
        pytest.param(0.99, 14_196, 2 * 87_660, id="a second year costs less than hours on demand"),
    ],
)
def test_hours_after_a_term_cost_what_is_sold(confidence: float, hours: float, usd: float):
    """800 runs of 10 h within 1.5: s = 0.2465. The hours at a confidence are 8,000 x exp(s x its normal quantile)."""
    s = math.log(1.5) / TAIL
    assert hours == pytest.approx(8_000 * math.exp(s * NormalDist().inv_cdf(confidence)), rel=1e-3)
    plan = within(YEAR, 1.5, runs=800, at_once=1, deadline=None, confidence=confidence)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.usd_confident == pytest.approx(usd, rel=4e-3)


def test_without_a_price_on_demand_another_term_is_bought():
    """AWS sells p5e only in blocks and savings plans: 12,000 h at 95 in 100 need a second year, at 10 USD an hour."""
    plan = within(YEAR | {"offer": "aws/p5e.48xlarge"}, 1.5, runs=800, at_once=1, deadline=None, confidence=0.95)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.usd_confident == pytest.approx(2 * 87_660, rel=1e-6)


def test_work_that_likely_takes_more_than_its_term_shows_what_the_rest_costs():
    """1,000 runs of 10 h: 1,234 h after the year cost 11.957642 USD an hour more than those of the year."""
    plan = plan_of([YEAR], runs=1_000, at_once=1, deadline=None)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(87_660 + 1_234 * 21.957642, abs=0.01)
    assert option.bill is not None
    (dearer,) = [line for line in option.bill.lines if line.what == AFTER_TERM]
    assert [dearer.quantity, dearer.usd.value] == pytest.approx([1_234, 1_234 * 11.957642], abs=0.01)


LEASED = {
    "schema_version": 1, "id": "leased", "name": "Leased server", "node": "hgx-h200-8x", "lead_time_months": 0,
    "lease": {"usd_per_month": 9_000, "term_months": 3, "maintenance_included": True},
    "source": "offer", "as_of": "2026-11-20",
}  # fmt: skip


@pytest.mark.parametrize("hold", ["rent", "have"])
@pytest.mark.parametrize(("confidence", "kept"), [(0.8, True), (0.9, False)], ids=["4 in 5", "9 in 10"])
def test_a_lease_holds_the_work_at_the_confidence(hold: str, confidence: float, *, kept: bool):
    """175 runs of 10 h within 1.5 (s = 0.2465) in a lease of 3 x 730.5 h: Phi(ln(2,191.5 / 1,750) / s) = 81.9 %."""
    site = Site.model_validate_json(json.dumps(LEASED))
    catalog = bundled_catalog()
    catalog = catalog.model_copy(update={"sites": catalog.sites | {"leased": site}})
    plan = within({"site": "leased", "hold": hold}, 1.5, runs=175, at_once=1, deadline="2027-12-31",
                  confidence=confidence)  # fmt: skip
    (option,) = plans.compare(plan, catalog, today=TODAY).options
    assert option.chance_both == pytest.approx(PHI(math.log(2_191.5 / 1_750) / (math.log(1.5) / TAIL)), abs=3e-3)
    assert [reason.code for reason in option.not_allowed_reasons] == ([] if kept else [ReasonCode.WINDOW_TOO_SHORT])
    assert plans.campaign(plan, catalog, today=TODAY).feasible is kept


def test_a_mix_uses_a_paid_term_for_the_hours_that_it_holds():
    """876 of 900 runs of 10 h fit the 8,766 h that are paid; the other 24 cost 240 h x 12 USD elsewhere."""
    paid, other = YEAR | {"commitment_bought": True}, P4D | {"region": "us-west-2", "usd_per_hour": 12.0}
    plan = plan_of([paid, other], runs=900, at_once=1, deadline="2028-12-31", budget_usd=5_000)
    placed = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert {placement.option: placement.runs for placement in placed.placements} == {
        "aws/p4d.24xlarge:us-east-1:savings_1y": 876, "aws/p4d.24xlarge:us-west-2:on_demand": 24
    }  # fmt: skip
    assert placed.campaign_usd is not None
    assert placed.campaign_usd.value == pytest.approx(2_880)


def test_unlike_runs_share_the_terms_that_their_hours_need():
    """One run of 10 h and 80 of a tenth of it are 90 h, within a term of 100 h: one of the quota's two is bought."""
    groups = [
        {"name": "full", "runs": 1},
        {"name": "short", "runs": 80, "work": {"epochs": 1, "samples_per_epoch": 3_600}},
    ]
    lease = P4D | {"price": "lease", "quota": "2 machines"}
    plan = plan_of([lease], runs=81, deadline=None, groups=groups)
    (option,) = plans.compare(plan, bundled_catalog(), today=TODAY).options
    assert option.at_once == 1
    assert option.campaign_usd is not None
    assert option.campaign_usd.value == pytest.approx(7_305.0, abs=0.01)
