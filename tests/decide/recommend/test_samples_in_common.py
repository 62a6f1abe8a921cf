"""Comparison of options whose errors have the same causes: counted by hand."""

from __future__ import annotations

import math
from datetime import date
from statistics import NormalDist

from planner.decide.recommend.samples_in_common import ranges_apart, surer_than
from planner.model.answer.option_estimate import CampaignOption
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.quantity import Quantity, Unit
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_chance_both import P4D, plan_of
from tests.decide.recommend.by_hand import option, quantity

TODAY = date(2026, 11, 24)
TAIL = NormalDist().inv_cdf(0.95)
PRACTICE = ("practice typical", math.log(2) / TAIL)


def doubtful(value: float, unit: Unit, within: float = 2.0) -> Quantity:
    return quantity(value, unit).model_copy(update={"low": value / within, "high": value * within})


def rented(name: str, usd: float, *causes: tuple[str, float]) -> CampaignOption:
    """Return an option of 10 h within a factor of 2, paid by the hour."""
    made = option(name, 10.0, usd, usd_confident=usd)
    costs = {each: doubtful(usd, Unit.USD) for each in ("campaign_usd", "cash_usd", "to_pay_usd")}
    hours = {"campaign_hours": doubtful(10.0, Unit.HOURS), "error_causes": causes}
    return made.model_copy(update=costs | hours)


def notes_of(first: CampaignOption, other: CampaignOption, **limits: object) -> list[str]:
    asked = CampaignLimits.model_validate(limits)
    return list(surer_than(first, [first, other], asked, today=TODAY))


def test_costs_that_err_by_themselves_are_compared_so():
    """No bill says what is paid by the hour, so that each one's price is its own."""
    cheap, dear = rented("a", 100.0, PRACTICE), rented("b", 110.0, PRACTICE)
    share = NormalDist().cdf(math.log(1.1) / (math.sqrt(2) * math.log(2) / TAIL))
    assert notes_of(cheap, dear) == [f"a costs less than b in {100 * share:.0f} of 100 simulated campaigns"]


def test_a_common_error_cancels():
    """One machine costs 10.0 or 10.5 USD an hour: however long its work takes, the cheaper region stays cheaper."""
    dearer = P4D | {"region": "us-west-2", "usd_per_hour": 10.5}
    answer = plans.compare(plan_of([P4D, dearer], within=3.0), bundled_catalog(), today=TODAY)
    assert not any("simulated campaigns" in note for note in answer.notes)
    hours = [each.error_causes for each in answer.options]
    assert hours[0] == hours[1] != ()


def test_no_comparison_of_costs_far_apart_or_if_time_decides():
    assert notes_of(rented("a", 100.0), rented("b", 130.0)) == []
    assert notes_of(rented("a", 100.0), rented("b", 110.0), prefer=Prefer.TIME) == []


def test_ranges_without_what_all_share():
    """Hours are within 2 by two equal causes. Without the common one they are within 2 ^ sqrt(1/2)."""
    half = math.log(2) / TAIL * math.sqrt(0.5)
    options = [rented(name, 100.0, ("practice typical", half), (name, half)) for name in ("a", "b")]
    assert ranges_apart(options[:1], CampaignLimits(), today=TODAY) == {}
    assert ranges_apart([rented("a", 100.0, ("a", half)), options[1]], CampaignLimits(), today=TODAY) == {}
    assert set(ranges_apart(options, CampaignLimits(), today=TODAY)) == {"a", "b"}
