"""The cost at the confidence in the plan's own currency: by hand, and as the least budget that is kept with it."""

from __future__ import annotations

import math
from datetime import date
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.decide.campaign.chances import with_chances
from planner.decide.outcomes.draws import SAMPLES
from planner.decide.outcomes.outcomes import Outcomes, drawn_budget
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.cents import local_to_usd
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_chance_both import P4D, TODAY, WON, only, plan_of

Z = NormalDist().inv_cdf
RATE = Currency.model_validate(WON)


def test_the_doubt_of_the_rate_counts():
    """240 USD within 3 at 1,000 won within 2: 4 in 5 stay under 240,000 x exp(0.842 x sqrt(ln2^2 + ln3^2) / 1.645)."""
    option = only(plan_of([P4D], within=3.0, hours=12.0, campaign={"confidence": 0.8}, currency=WON))
    widths = math.hypot(math.log(2), math.log(3)) / 1.645
    assert option.local_confident == pytest.approx(240_000 * math.exp(Z(0.8) * widths), rel=0.015)
    assert option.local_confident > 1.05 * 1000 * option.usd_confident


def test_the_budget_that_a_headline_asks_for_is_enough():
    """A budget that was said to be enough is: 457,000 won hold 12 h twice at 10 USD an hour with 80 %."""
    limits = {"deadline": "2027-03-01", "budget_local": 425_000.0, "confidence": 0.8}
    plan = plan_of([P4D], within=3.0, hours=12.0, campaign=limits, currency=WON)
    answer = plans.compare(plan, bundled_catalog(), today=TODAY)
    assert answer.recommended is None
    needs = answer.headline[-1]
    said = float(needs.split(" needs ")[1].split(" KRW")[0].replace(",", ""))
    assert said > 425_000
    enough = plan_of([P4D], within=3.0, hours=12.0, campaign=limits | {"budget_local": said}, currency=WON)
    assert plans.compare(enough, bundled_catalog(), today=TODAY).recommended is not None
    assert plans.campaign(enough, bundled_catalog(), today=TODAY).local_confident <= said


@settings(deadline=None)
@given(
    usd=st.floats(10, 1e6), within=st.floats(1.0, 4.0), paid=st.floats(0, 2), rate=st.floats(1.0, 1.5),
    confidence=st.floats(0.5, 0.99),
)  # fmt: skip
def test_the_needed_budget_is_the_least_that_is_kept(usd, within, paid, rate, confidence):
    """Also with credits, which are in USD: a hundredth less does not hold."""
    currency = Currency(
        code="EUR", per_usd=0.9, low=0.9 / rate, high=0.9 * rate, as_of=date(2026, 11, 20), source="a bank"
    )
    cost = Quantity(
        value=usd, low=usd / within, high=usd * within, unit=Unit.USD, basis=Basis.MEASURED, source="by hand"
    )
    credits = paid * usd
    owed = cost.model_copy(update={
        "value": max(0.0, usd - credits), "low": max(0.0, cost.low - credits), "high": max(0.0, cost.high - credits),
    })  # fmt: skip
    by_hours = CostByHours(
        hours=(1.0,), usd=(usd,), least_factor=1 / within, most_factor=within,
        credits=(LastingCredit(hours=1e9, usd=credits),),
    ) if credits else None  # fmt: skip
    alone = only(plan_of([P4D], within=1.5))
    option = alone.model_copy(update={"cash_usd": cost, "to_pay_usd": owed, "cost_by_hours": by_hours})
    limits = CampaignLimits(confidence=confidence)
    local = with_chances(option, limits, budget=None, today=TODAY, currency=currency).local_confident

    def kept(amount: float) -> bool:
        budget = local_to_usd(amount, currency, Unit.USD, Basis.QUOTED, "by hand") if amount > 0 else None
        chance = with_chances(option, limits, budget=budget, today=TODAY).chance_budget
        return budget is not None and chance >= confidence

    assert local == 0 or kept(local * (1 + 1e-9) + 1e-9)
    assert not kept(local * (1 - 1e-9) - 0.011)


def test_draws_of_a_mix_are_those_of_its_budget():
    usd = np.geomspace(100.0, 300.0, SAMPLES)
    played = Outcomes(np.zeros(SAMPLES), usd, np.ones(SAMPLES, dtype=bool))
    local = played.local_at(RATE, 0.8)
    budget = local_to_usd(local, RATE, Unit.USD, Basis.QUOTED, "by hand")
    assert played.chance_within(drawn_budget(budget)) == pytest.approx(0.8, abs=1e-3)
    assert local > 1000 * played.usd_at(0.8)
