"""Sets of machines of one plan with different numbers of runs: each pays for its own hours. By hand.

A run takes 10 h. A lease of 730.5 h costs 10 USD an hour, and on demand an hour costs 21.957642 USD: after 332.7 h of
these another lease costs less.
"""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.campaign.alone import Alone, each_alone
from planner.decide.placement.chosen import Chosen, chosen_plan
from planner.decide.placement.instance import RunsOnLane, evaluate
from planner.decide.placement.played_plan import played_plan
from planner.decide.placement.question import question_of
from planner.decide.placement.row_plan import as_its_row
from planner.model.catalog import Catalog
from planner.model.plan.plan import Plan
from planner.use_cases import plans
from tests.bundled import bundled_catalog
from tests.decide.campaign.test_price_changes import ENDS_SOON, LISTED, catalog_with
from tests.decide.campaign.test_price_changes import P4D as AT_BOOK_PRICE
from tests.decide.campaign.test_side_by_side import P4D, TODAY, plan_of
from tests.decide.campaign.test_terms_and_credits import with_credit, within

LEASE = P4D | {"price": "lease"}
TERM, TERM_USD = 730.5, 7_305.0
CREDIT_ENDS = date(2026, 12, 8)


def placed(plan: Plan, catalog: Catalog, runs: tuple[int, ...]) -> Chosen:
    """Return the plan's only option with these runs on its sets of machines."""
    alone: Alone = each_alone(plan, catalog, today=TODAY)
    question = question_of(alone, catalog, today=TODAY)
    slots = [(way, lane) for way, each in enumerate(question.instance.ways)
             for lane in range(min(2, question.instance.bins[each.bin].lanes))]  # fmt: skip
    on_lanes = [RunsOnLane(*slot, each) for slot, each in zip(slots, runs, strict=False)]
    solution = evaluate(question.instance, on_lanes)
    assert solution is not None, "it has no windows"
    return chosen_plan(question, solution, alone.limits, alone.budget, asked=question.instance)


@pytest.mark.parametrize(
    ("runs", "factor", "usd"),
    [
        pytest.param((90, 70), 1.2, 2 * TERM_USD + (988.0 + 768.4 - 2 * TERM) * LISTED, id="hours after both"),
        pytest.param((90, 70), 1.5, 3 * TERM_USD + (861.4 - TERM) * LISTED, id="a second term, and hours after one"),
        pytest.param((100, 60), 1.2, 3 * TERM_USD, id="two terms on one set, one on the other"),
    ],
)
def test_each_set_pays_for_the_hours_of_its_own_runs(runs: tuple[int, int], factor: float, usd: float) -> None:
    """4 in 5 take up to 1.2 ^ (0.842 / 1.645) = 1.0978 times the likely hours, or 1.2306 times if within 1.5."""
    plan = within(LEASE, factor, runs=160, at_once=2, deadline=None)
    assert placed(plan, bundled_catalog(), runs).usd_confident == pytest.approx(usd, rel=2e-3)


def test_the_range_of_a_cost_is_that_of_its_sets() -> None:
    """Within 1.2 the sets take 750 to 1,080 h, around 900, and 583 to 840 h, around 700.

    The longest 349.5 h after the lease of the first set cost more than another lease.
    """
    plan = within(LEASE, 1.2, runs=160, at_once=2, deadline=None)
    usd = placed(plan, bundled_catalog(), (90, 70)).plan.usd
    likely, low, high = (900 - TERM) * LISTED, (750 - TERM) * LISTED, TERM_USD + (840 - TERM) * LISTED
    assert (usd.value, usd.low, usd.high) == pytest.approx([2 * TERM_USD + each for each in (likely, low, high)])


def test_even_sets_cost_what_their_row_does() -> None:
    """80 runs on each: 878.3 h at 4 in 5, 147.8 of them after the lease."""
    plan = within(LEASE, 1.2, runs=160, at_once=2, deadline=None)
    alone = each_alone(plan, bundled_catalog(), today=TODAY)
    question = question_of(alone, bundled_catalog(), today=TODAY)
    solution = as_its_row(question, 0)
    assert solution is not None
    even = chosen_plan(question, solution, alone.limits, alone.budget, asked=question.instance)
    simulated = played_plan(even.plan).usd_at(0.8)
    assert simulated == pytest.approx(2 * (TERM_USD + (878.3 - TERM) * LISTED), rel=2e-3)
    assert alone.options[0].usd_confident == pytest.approx(simulated, rel=1e-6)


def test_uneven_sets_pay_the_prices_of_their_own_days() -> None:
    """90 and 40 h on two nodes, whose contract at 8 USD ends after 48 h: 42 h cost the listed price."""
    ends = ENDS_SOON | {"nodes": 2, "valid_until": date(2026, 12, 2)}
    plan = plan_of([AT_BOOK_PRICE], runs=13, deadline=None, at_once=2)
    usd = placed(plan, catalog_with(commitments=[ends]), (9, 4)).plan.usd
    assert usd.value == pytest.approx((48 + 40) * 8 + 42 * LISTED, abs=0.01)


def test_the_nearest_plan_counts_credits_that_expire_before_an_option_could_do_all_runs() -> None:
    """24 runs alone take 240 h, and credits of 1,000 USD end after 192 h, in which 19 of 100 USD fit; 5 cost 120 each.

    That is 1,900 - 1,000 + 600 USD; without the credits 24 x 100 would be the least.
    """
    other = {"offer": "coreweave/a100-8x", "usd_per_hour": 12.0}
    plan = plan_of([P4D, other], runs=24, at_once=1, deadline="2026-12-31", budget_usd=1_000)
    answer = plans.campaign(plan, with_credit(1_000, CREDIT_ENDS), today=TODAY)
    assert (answer.feasible, answer.binding_limits) == (False, ("budget",))
    assert answer.nearest_feasible is not None
    assert {each.option.split(":")[0]: each.runs for each in answer.nearest_feasible.placements} == {
        "aws/p4d.24xlarge": 19, "coreweave/a100-8x": 5
    }  # fmt: skip
    assert answer.nearest_feasible.usd_confident == pytest.approx(1_500)
    assert answer.nearest_feasible.chance_budget == pytest.approx(0, abs=1e-3)


def test_compare_names_the_plan_of_one_option_that_keeps_limits_which_its_row_does_not() -> None:
    """110 and 109 runs need two leases each, 29,220 USD; 146 and 73 need three, 21,915 USD, until 2027-01-30."""
    dear = {"offer": "runpod/8x-h100-sxm", "usd_per_hour": 30.0}
    plan = plan_of([LEASE, dear], runs=219, at_once=2, deadline="2027-03-31", budget_usd=23_000)
    placed = plans.campaign(plan, bundled_catalog(), today=TODAY)
    assert placed.usd_confident == pytest.approx(3 * TERM_USD, abs=0.01)
    answer = plans.compare(plan, bundled_catalog(), today=TODAY)
    assert answer.recommended is None
    assert answer.notes[0] == (
        "planner campaign keeps the limits with other numbers of trainings on the sets of AWS p4d lease, 8x A100, "
        "2 at once: done by 2027-01-30, at most 22,000 USD"
    )
