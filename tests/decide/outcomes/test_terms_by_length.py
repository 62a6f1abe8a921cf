"""Terms and credits over all lengths of a campaign: figures by hand, and compared with draws."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cost.cloud.cost_by_hours import price_range, usd_at
from planner.decide.outcomes.draws import SAMPLES
from planner.decide.outcomes.outcomes import Outcomes
from planner.decide.outcomes.play import Batch, PlayedLane, PlayedOption, play
from planner.model.answer.campaign import CostByHours, LastingCredit
from planner.quantity.interval import Interval

PHI, Z, TAIL = NormalDist().cdf, NormalDist().inv_cdf, NormalDist().inv_cdf(0.95)
TERM = CostByHours(hours=(10.0, 1_000.0, 10_000.0), usd=(10_000.0, 10_000.0, 100_000.0), least_factor=1, most_factor=1)
"""10 USD an hour, for 1,000 hours at least."""
HOURS = Interval.within_factor(800.0, 2.0)
CREDIT = CostByHours(
    hours=(1.0, 10_000.0), usd=(33.0, 330_000.0), least_factor=1, most_factor=1,
    credits=(LastingCredit(hours=108.0, usd=20_000.0),),
)  # fmt: skip
"""33 USD an hour; credits pay everything if the work ends within 108 hours."""
END = 0.63
"""Standard deviation of ln hours."""
NEAR_THE_END = Interval.within_factor(90.4, math.exp(END * TAIL))


def played(cost: CostByHours, hours: Interval) -> Outcomes:
    """Return the outcomes of one run of these hours at this bill."""
    option = PlayedOption(
        option="term", lanes=(PlayedLane((Batch(1, hours.value),), billed_hours=hours.value),),
        speed_error=hours.scaled(1 / hours.value), usd=float(usd_at(cost, np.array([hours.value]))[0]),
        price_error=price_range(cost), rent=cost,
    )  # fmt: skip
    return play([option], credits={"": cost.credits})


def chance_within(cost: CostByHours, hours: Interval, budget: float) -> float:
    return played(cost, hours).chance_within(np.full(SAMPLES, budget))


def test_a_term_costs_its_least_wherever_the_work_fits_into_it():
    """s = ln 2 / 1.645 = 0.421: P(hours <= 1,000) = Phi(ln 1.25 / 0.421) = 70 %; 4 in 5 take 1,141 h at most."""
    term = played(TERM, HOURS)
    assert chance_within(TERM, HOURS, 10_000) == pytest.approx(PHI(math.log(1.25) * TAIL / math.log(2)), abs=2e-3)
    assert chance_within(TERM, HOURS, 9_999) < 0.001
    assert term.usd_at(0.5) == term.usd_at(0.69) == pytest.approx(10_000)
    assert term.usd_at(0.8) == pytest.approx(10 * 800 * 2 ** (Z(0.8) / TAIL), rel=2e-3)


def test_only_the_price_is_doubtful_for_a_term_that_surely_holds_the_work():
    """10 % either way, 9 times in 10: 4 in 5 stay under 10,000 x 1.1 ^ (0.842 / 1.645) = 10,500."""
    doubtful = TERM.model_copy(update={"least_factor": 1 / 1.1, "most_factor": 1.1})
    assert played(doubtful, Interval.within_factor(400.0, 1.5)).usd_at(0.8) == pytest.approx(10_499.8, rel=1e-3)


def test_a_credit_pays_with_the_chance_that_the_work_ends_before_it_expires():
    """Phi(ln(108 / 90.4) / 0.63) = 61 %; 4 in 5 take up to 90.4 x exp(0.63 x 0.842) = 154 h, for 5,070 USD."""
    credit = played(CREDIT, NEAR_THE_END)
    assert chance_within(CREDIT, NEAR_THE_END, 2_500) == pytest.approx(0.611, abs=2e-3)
    assert credit.usd_at(0.6) == 0
    assert credit.usd_at(0.8) == pytest.approx(33 * 90.4 * math.exp(END * Z(0.8)), rel=3e-3)


def test_both_limits_at_once_are_missed_by_the_same_long_campaigns():
    """Two limits on the hours alone: the tighter one decides."""
    credit, budget = played(CREDIT, NEAR_THE_END), np.full(SAMPLES, 2_500.0)
    in_time = PHI(math.log(100 / 90.4) / END)
    assert credit.chance_of_both(hours=100.0, budget=budget) == pytest.approx(in_time, abs=2e-3)
    assert credit.chance_of_both(hours=150.0, budget=budget) == pytest.approx(0.611, abs=2e-3)


COSTS = st.builds(
    lambda least, most, factor, credit, until: CostByHours(
        hours=(10.0, 1_000.0, 10_000.0), usd=(least, least, least + most), least_factor=1 / factor, most_factor=factor,
        credits=(LastingCredit(hours=until, usd=credit),),
    ),
    st.floats(100, 2e4), st.floats(0, 2e5), st.floats(1.0, 2.0), st.floats(0, 3e4), st.floats(100, 5_000),
)  # fmt: skip
LONG = st.builds(Interval.within_factor, st.floats(100, 3_000), st.floats(1.01, 4.0))


@settings(deadline=None)
@given(COSTS, LONG, st.floats(1.0, 1e5), st.floats(100.0, 1e4))
def test_chances_are_those_of_draws(cost, hours, budget, until):
    rng = np.random.default_rng(3)
    drawn = hours.value * np.exp(math.log(hours.high / hours.value) / TAIL * rng.standard_normal(40_000))
    price = np.exp(math.log(cost.most_factor) / TAIL * rng.standard_normal(40_000))
    (credit,) = cost.credits
    owed = price * np.interp(drawn, cost.hours, cost.usd) - np.where(drawn <= credit.hours, credit.usd, 0)
    found = played(cost, hours).chance_of_both(hours=until, budget=np.full(SAMPLES, budget))
    assert found == pytest.approx(np.mean((owed <= budget) & (drawn <= until)), abs=0.03)


@settings(deadline=None)
@given(COSTS, LONG, st.floats(0.1, 0.98), st.floats(0.001, 0.01))
def test_the_cost_at_a_chance_is_the_least_budget_kept_with_it_and_grows_with_it(cost, hours, chance, more):
    outcomes = played(cost, hours)
    usd = outcomes.usd_at(chance)
    assert chance_within(cost, hours, usd) >= chance
    assert usd == 0 or chance_within(cost, hours, usd * (1 - 1e-6) - 1e-6) < chance
    assert usd <= outcomes.usd_at(chance + more)
