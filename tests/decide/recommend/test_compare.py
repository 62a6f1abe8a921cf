"""The recommended option among options that are made by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.recommend.pareto import pareto_front
from planner.model.network.workload import Split
from planner.model.plan.campaign_limits import CampaignLimits
from planner.model.prices.offer import PriceKind
from planner.model.quantity import Basis, Quantity, Unit
from tests.decide.recommend.by_hand import NO_PRICE, TODAY, compared, option, paid_by_credits, quantity, why

GUESS = quantity(1.0, Unit.SAMPLES_PER_S).model_copy(update={"basis": Basis.MODELLED})
OURS = {"site": "ours", "offer": None, "hold": "have"}
THIRTY_DAYS = CampaignLimits(deadline=date(2026, 12, 21))
"""Today is the 21st of November. To the end of the 21st of December: 31 days, 744 hours."""


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param({}, "cheap", id="no limits: the cheapest"),
        pytest.param(
            {"start": TODAY, "deadline": TODAY}, "middle", id="24 hours: the cheapest that meets the deadline"
        ),
        pytest.param({"budget_usd": 100.0}, "cheap", id="only a budget: the cheapest too"),
        pytest.param({"budget_usd": 100.0, "prefer": "time"}, "middle", id="a budget, and time preferred"),
        pytest.param({"prefer": "time"}, "fast", id="time preferred"),
        pytest.param({"start": TODAY, "deadline": TODAY, "budget_usd": 300.0}, "middle", id="both limits"),
    ],
)
def test_what_is_taken(limits: dict[str, Any], expected: str) -> None:
    answer = compared(
        [option("cheap", 100, 10), option("middle", 20, 90), option("fast", 2, 250)],
        CampaignLimits.model_validate(limits),
    )
    assert answer.recommended == expected
    assert answer.options[0].id == expected
    assert answer.options[0].rank == 1
    assert answer.options[0].why_not is None
    assert answer.headline[0].startswith(f"Rent {expected}: done ")
    assert all(other.why_not for other in answer.options[1:])


@pytest.mark.parametrize(
    ("first", "second", "limits", "expected"),
    [
        pytest.param(
            option("ours", 100, 109, **OURS), option("rent", 100, 100), {}, "ours", id="9 % dearer: have before rent"
        ),
        pytest.param(
            option("ours", 100, 111, **OURS), option("rent", 100, 100), {}, "rent", id="11 % dearer is no tie"
        ),
        pytest.param(
            option("bought", 100, 100, hold="buy"), option("rent", 100, 109), {}, "rent", id="rent before buy"
        ),
        pytest.param(
            option("guess", 100, 100, throughput=GUESS), option("known", 100, 109), {}, "known",
            id="measured before modelled",
        ),
        pytest.param(
            option("cut", 100, 100, throughput=GUESS, split=Split(tensor=2)),
            option("whole", 100, 109, throughput=GUESS, nodes=2), {}, "whole", id="undivided before divided",
        ),
        pytest.param(
            option("spot", 100, 100, price_kind=PriceKind.SPOT), option("firm", 100, 109), {}, "firm",
            id="firm before spot",
        ),
        pytest.param(option("two", 100, 100, nodes=2), option("one", 100, 109), {}, "one", id="fewer nodes"),
        pytest.param(
            option("ours", 100, 100, **OURS), option("rent", 49, 109), {}, "rent", id="twice as fast wins a tie"
        ),
        pytest.param(
            option("ours", 100, 100, **OURS), option("rent", 51, 109), {}, "ours", id="not quite twice as fast"
        ),
        pytest.param(
            option("ours", 100, 100, **OURS), option("rent", 49, 119), {"budget_usd": 2000.0}, "rent",
            id="within 1 % of the budget is a tie too: 20 of 2,000",
        ),
        pytest.param(
            option("ours", 100, 100, **OURS), option("rent", 49, 121), {"budget_usd": 2000.0}, "ours",
            id="21 of 2,000 is none",
        ),
        pytest.param(
            option("slow", 501, 10), option("quick", 100, 19), {}, "quick",
            id="over 5 times slower than another at under twice its cost",
        ),
        pytest.param(option("slow", 499, 10), option("quick", 100, 19), {}, "slow", id="under 5 times slower"),
        pytest.param(option("slow", 501, 10), option("quick", 100, 21), {}, "slow", id="at over twice its cost"),
        pytest.param(
            option("ours", 11, 2.15, **OURS), option("rent", 3, 3.23), {"budget_usd": 300.0}, "ours",
            id="what stands there is kept beside 1.5 times its cost, within 1 % of the budget",
        ),
        pytest.param(
            option("ours", 11, 2.15, **OURS), option("rent", 3, 3.22), {"budget_usd": 300.0}, "rent",
            id="at under 1.5 times its cost it may be a tie",
        ),
        pytest.param(
            option("ours", 501, 10, **OURS), option("quick", 100, 16), {}, "ours",
            id="what stands there is kept beside one over 5 times faster at over 1.5 times its cost",
        ),
        pytest.param(option("ours", 501, 10, **OURS), option("quick", 100, 14), {}, "quick", id="at less than that"),
        pytest.param(
            option("slow", 501, 10), option("quick", 100, 19), {"deadline": date(2026, 12, 21)}, "slow",
            id="with a deadline, 744 hours away, it is soon enough",
        ),
        pytest.param(
            option("many", 10, 10, nodes=5, price_kind=PriceKind.SPOT), option("firm", 10, 90), {}, "firm",
            id="spot on 5 nodes is never first",
        ),
        pytest.param(
            option("long", 337, 10, price_kind=PriceKind.SPOT), option("firm", 337, 90), {}, "firm",
            id="nor is spot for 14 days and an hour",
        ),
        pytest.param(
            option("short", 335, 10, price_kind=PriceKind.SPOT), option("firm", 335, 90), {}, "short",
            id="spot for a little less is",
        ),
        pytest.param(
            option("old", 10, 10, price_kind=PriceKind.SPOT, price_age_days=91, price_stale=True),
            option("firm", 10, 90), {}, "firm",
            id="a spot price that was not seen for 90 days is never first",
        ),
        pytest.param(
            option("old", 10, 10, price_age_days=366, price_stale=True), option("new", 10, 90), {}, "old",
            id="the age of a firm price is in its cost alone",
        ),
        pytest.param(
            option("many", 10, 10, nodes=9, usd_per_hour=quantity(1, Unit.USD_PER_HOUR).model_copy(
                update={"as_of": TODAY})),
            option("few", 10, 90), {}, "few", id="9 firm nodes whose supply is unknown",
        ),
        pytest.param(
            option("many", 10, 10, nodes=9, usd_per_hour=quantity(1, Unit.USD_PER_HOUR)),
            option("few", 10, 90), {}, "many", id="9 nodes at a price of the plan's own were agreed on",
        ),
        pytest.param(
            option("many", 10, 10, nodes=9, availability="yes"), option("few", 10, 90), {}, "many",
            id="9 nodes that the provider has",
        ),
    ],
)  # fmt: skip
def test_the_better_of_two(first: Any, second: Any, limits: dict[str, Any], expected: str) -> None:
    for order in ([first, second], [second, first]):
        assert compared(order, CampaignLimits.model_validate(limits)).recommended == expected


def test_a_narrow_range_wins_over_a_cheaper_guess() -> None:
    """80 % sure: a factor of 3 both ways makes 100 up to 100 x 3^(0.8416 / 1.6449) = 175; of 120 exactly, 120."""
    answer = compared([option("guess", 10, 100, spread=3.0), option("exact", 10, 120)])
    assert answer.recommended == "exact"
    guess = next(option for option in answer.options if option.id == "guess")
    assert guess.usd_confident == pytest.approx(100 * 3 ** (0.8416 / 1.6449), rel=1e-3)


def test_credits_rank_by_what_remains_to_pay() -> None:
    """400 of a bill of 500 are paid by credits: 100 remain, less than the 150 of the other."""
    paid = option("credits", 10, 500, **paid_by_credits(500, 400))
    answer = compared([paid, option("cash", 10, 150)], CampaignLimits(budget_usd=120.0))
    assert answer.recommended == "credits"
    assert answer.options[0].within_budget
    assert answer.options[0].usd_confident == pytest.approx(100)


def test_a_purchase_ranks_by_cash_out_less_what_is_sold_after() -> None:
    """11,000 paid for 1,000 of bills, of which 7,500 come back: 3,500, less than the rent of 4,000; else more."""
    cash = {"hold": "buy", "cash_usd": quantity(11_000, Unit.USD), "to_pay_usd": quantity(11_000, Unit.USD)}
    rent, kept = option("rent", 10, 4000), option("bought", 10, 1000, **cash)
    sold = option("bought", 10, 1000, taken_off_usd=quantity(7500, Unit.USD), **cash)
    assert compared([kept, rent]).recommended == "rent"
    assert compared([sold, rent]).recommended == "bought"
    assert compared([sold, rent], CampaignLimits(budget_usd=10_000.0)).recommended == "rent"


def test_a_machine_that_is_ready_late_misses_the_deadline() -> None:
    """700 of 744 hours are enough, but not from the 22nd of February on, 93 days - 12 hours after noon of today."""
    came = {"ready_on": date(2027, 2, 22), "wait_hours": 93 * 24 - 12.0}
    late = option("bought", 700, 10, hold="buy", finish=date(2027, 3, 23), **came)
    answer = compared([late], THIRTY_DAYS)
    assert answer.recommended is None
    assert answer.options[0].chance_deadline == 0
    assert answer.options[0].why_not == "ends on 2027-03-23, after the deadline 2026-12-21"


def test_the_doubt_in_a_lead_time_counts() -> None:
    """Ordered today at noon, ready in 10 days (5 to 40), 24 h of work: most likely done on the 11th day, but 19.5 days
    are kept with Phi(ln(444/240) / (ln(960/240) / 1.6449)) = Phi(0.730) = 77 %, under the 80 % that are asked for."""
    days = Quantity(value=10, low=5, high=40, unit=Unit.DAYS, basis=Basis.ASSUMED, source="by hand")
    ready = date(2026, 12, 1)
    bought = option("bought", 24, 10, hold="buy", ready_on=ready, lead_days=days, finish=ready)
    answer = compared([bought], CampaignLimits(deadline=date(2026, 12, 10)))
    assert answer.recommended is None
    assert answer.options[0].chance_deadline == pytest.approx(0.767, abs=0.002)


def test_without_a_stated_start_half_of_today_has_passed() -> None:
    """13 hours from noon end tomorrow; 11 hours end today, as 20 do that start this morning."""
    today = CampaignLimits(deadline=TODAY)
    assert compared([option("long", 13, 10)], today).recommended is None
    assert compared([option("short", 11, 10)], today).recommended == "short"
    assert compared([option("long", 20, 10)], CampaignLimits(start=TODAY, deadline=TODAY)).recommended == "long"


def test_a_contradicted_measurement_counts_as_a_guess() -> None:
    """20 h of 24 h, measured exactly, but contradicted: a factor of 1.5 makes the chance 77 %, and nothing is sure."""
    rules = CampaignLimits(start=TODAY, deadline=TODAY)
    answer = compared([option("doubted", 20, 1, doubts=("it cannot be true",))], rules)
    assert answer.recommended is None
    assert answer.options[0].chance_deadline == pytest.approx(0.770, abs=0.001)
    assert "if its measurement is right" in compared([option("doubted", 20, 1, doubts=("it cannot be true",))]).sentence


def test_a_dominated_option_names_what_beats_it() -> None:
    answer = compared([option("good", 10, 10), option("bad", 11, 12)])
    assert why(answer, "bad") == (
        "good is better in both: this one is slower (11 hours against 10 hours), "
        "more expensive (12.00 USD against 10.00 USD)"
    )
    assert [option.pareto for option in answer.options] == [True, False]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        pytest.param((11, 10), "good is faster (10 hours against 11 hours) at the same cost", id="as dear"),
        pytest.param((10, 12), "good is as fast, and cheaper (10.00 USD against 12.00 USD)", id="as fast"),
    ],
)
def test_equal_figures_are_not_called_better(bad, said) -> None:
    assert why(compared([option("good", 10, 10), option("bad", *bad)]), "bad") == said


def test_options_that_are_equal_are_called_so() -> None:
    assert why(compared([option("a", 10, 10), option("b", 10, 10)]), "b") == "as fast as a, at the same cost"


def test_a_chance_that_is_just_too_low_does_not_read_as_what_is_asked_for() -> None:
    """24 h are left, and the range is a factor of 1.25 both ways."""
    hours = 24 / 1.25 ** (0.839 / 1.645)  # Phi(0.839) = 79.9 %
    rules = CampaignLimits(start=TODAY, deadline=TODAY)
    answer = compared([option("close", hours, 1, spread=1.25)], rules)
    assert answer.recommended is None
    assert "close keeps the deadline with a chance of just under 80 %; you asked for 80 %" in answer.headline[0]


def test_a_stale_spot_price_dominates_no_firm_option() -> None:
    spot = option("spot", 10, 10, price_kind=PriceKind.SPOT, price_stale=True)
    answer = compared([spot, option("firm", 11, 12)])
    assert [option.id for option in answer.options] == ["spot", "firm"]
    assert list(answer.options[1].why_not_codes) == ["not_preferred"]


def test_a_dearer_but_faster_option_is_on_the_front_and_says_what_it_costs() -> None:
    answer = compared([option("slow", 10, 10), option("quick", 5, 30)])
    assert answer.options[1].pareto
    assert "faster" in why(answer, "quick")
    assert "more expensive (30.00 USD against 10.00 USD)" in why(answer, "quick")
    assert answer.fastest == "quick"


def test_an_option_without_a_price_is_never_recommended_and_keeps_its_reason() -> None:
    answer = compared([option("free?", 1, None, reasons=(NO_PRICE,)), option("known", 9, 9)])
    assert answer.recommended == "known"
    assert why(answer, "free?") == "no price: sold out"
    assert answer.options[-1].rank is None
    assert not answer.options[-1].pareto


def test_an_option_that_does_not_fit_is_never_recommended() -> None:
    assert compared([option("small", 1, 1, fits=False), option("large", 9, 9)]).recommended == "large"


def test_an_unchecked_fit_comes_after_those_that_fit() -> None:
    answer = compared([option("perhaps", 1, 1, fits=None), option("surely", 9, 9)])
    assert answer.recommended == "surely"
    assert "whether the model fits was not checked" in (why(answer, "perhaps") or "")


points = st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0.1, 1e6)), min_size=1, max_size=12, unique=True)


@given(points)
def test_the_front_is_what_brute_force_says(chosen: list[tuple[float, float]]) -> None:
    options = [option(str(index), hours, usd) for index, (hours, usd) in enumerate(chosen)]
    expected = {
        str(index)
        for index, (hours, usd) in enumerate(chosen)
        if not any(
            (other_hours <= hours and other_usd < usd) or (other_hours < hours and other_usd <= usd)
            for other_hours, other_usd in chosen
        )
    }
    assert pareto_front(options) == expected


@given(points, st.floats(0.1, 1e6), st.sampled_from([1.0, 1.2, 3.0]))
def test_the_recommended_option_keeps_the_budget_and_is_not_far_from_the_cheapest(
    chosen: list[tuple[float, float]], budget: float, spread: float
) -> None:
    """A tie is within 10 % or 1 % of the budget; over five times slower goes to less than twice the cost, each time."""
    rules = CampaignLimits(budget_usd=budget)
    answer = compared([option(str(n), hours, usd, spread=spread) for n, (hours, usd) in enumerate(chosen)], rules)
    factor = spread ** (0.841621 / 1.644854)
    kept = {str(n): (hours, usd) for n, (hours, usd) in enumerate(chosen) if usd * factor <= budget * (1 - 1e-6)}
    if answer.recommended is None:
        assert not kept
        return
    taken = answer.options[0]
    assert taken.chance_budget >= 0.8
    cheapest = min(usd for _, usd in chosen) * factor
    slowest_first = [option for option in answer.options if option.chance_budget and option.chance_budget >= 0.8]
    slower = max(option.campaign_hours.value for option in slowest_first) / taken.campaign_hours.value
    rounds = 0
    while slower > 5:
        slower, rounds = slower / 5, rounds + 1
    assert taken.usd_confident <= max(cheapest * 1.1, cheapest + 0.01 * budget) * 2**rounds * (1 + 1e-9)
    assert len({option.id for option in answer.options}) == len(chosen)


@pytest.mark.parametrize(
    ("waiting", "first"),
    [
        pytest.param(None, "fast", id="nothing stated: five times faster at under twice the cost"),
        pytest.param(0.02, "slow", id="10 + 1.2 USD against 15.5 + 0.2"),
        pytest.param(0.2, "fast", id="10 + 12 USD against 15.5 + 2"),
    ],
)
def test_a_stated_price_of_waiting_takes_the_place_of_the_five_times_rule(waiting: float | None, first: str) -> None:
    options = [option("slow", 60, 10), option("fast", 10, 15.5)]
    assert compared(options, CampaignLimits(waiting_usd_per_hour=waiting)).recommended == first


@given(points)
def test_an_exact_number_needs_no_confidence(chosen: list[tuple[float, float]]) -> None:
    """Without ranges every confidence gives the same answer."""
    options = [option(str(index), hours, usd) for index, (hours, usd) in enumerate(chosen)]
    answers = {compared(options, CampaignLimits(confidence=share)).recommended for share in (0.5, 0.8, 0.99)}
    assert len(answers) == 1


def test_a_guess_without_a_range_counts_with_a_factor() -> None:
    """An assumed 20 h of 24 h: ln 1.2 / (ln 1.5 / 1.6449) = 0.74 deviations, 77 %; a measured one is certain."""
    rules = CampaignLimits(start=TODAY, deadline=TODAY)
    guessed = Quantity(value=20, low=20, high=20, unit=Unit.HOURS, basis=Basis.ASSUMED, source="by hand")
    answer = compared([option("guess", 20, 1, campaign_hours=guessed), option("known", 20, 50)], rules)
    assert answer.recommended == "known"
    assert next(option for option in answer.options if option.id == "guess").chance_deadline == pytest.approx(
        0.770, abs=0.001
    )


@pytest.mark.parametrize("stale", [(True, False), (False, True), (True, True), (False, False)])
def test_the_age_of_a_price_counts_in_its_cost_alone(stale) -> None:
    """The doubt of an old price is in its range; the age itself turns nothing over, so one more day cannot either."""
    ages = [{"price_stale": old, "price_kind": PriceKind.ON_DEMAND} for old in stale]
    answer = compared([option("cheap", 10, 100, **ages[0]), option("dearer", 10, 128, **ages[1])], CampaignLimits())
    assert answer.recommended == "cheap"


@pytest.mark.parametrize(
    ("kind", "ahead"),
    [
        pytest.param(PriceKind.CAPACITY_BLOCK, "the block", id="a block"),
        pytest.param(PriceKind.SAVINGS_1Y, "the term", id="a savings plan"),
    ],
)
def test_a_prepayment_is_called_a_block_or_a_term(kind, ahead):
    """95 USD by the hour are likely less than the 100 that are paid ahead; 100 / 95 = 1.05."""
    paid = option("paid", 10, 100, price_kind=kind, smallest_purchase_usd=quantity(100, Unit.USD))
    answer = compared([paid, option("hours", 10, 95, spread=1.9, price_kind=PriceKind.ON_DEMAND)])
    assert answer.recommended == "paid"
    told = f"hours likely costs 95 USD: {ahead} is cheaper only if the work takes over 1.05 times as long as estimated"
    assert f"{told}: measure first" in answer.notes
