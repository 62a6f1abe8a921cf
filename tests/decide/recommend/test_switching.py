"""The exchange rate at which the answer turns, by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.decide.recommend.switching import reach_of, switching_rates
from planner.model.answer.bill import Bill, BillLine, Coverage
from planner.model.answer.option_estimate import CampaignOption
from planner.model.currency import Currency
from planner.model.plan.campaign_limits import CampaignLimits, Prefer
from planner.model.quantity import Unit
from tests.decide.recommend.by_hand import option, quantity

WON = Currency(code="KRW", per_usd=1000.0, low=400.0, high=3000.0, as_of=date(2026, 11, 1), source="by hand")
CALM = WON.model_copy(update={"low": None, "high": None})
YEAR = 8766.0


def paid(name: str, *, usd: float = 0.0, won: float = 0.0, **changes: Any) -> CampaignOption:
    """Return an option that costs `usd` in USD and `won` in KRW, at 1,000 KRW a USD."""
    parts = [("USD", usd), ("KRW", won / WON.per_usd)]
    lines = tuple(
        BillLine(
            what="compute", usd=quantity(amount, Unit.USD), quantity=1, quantity_unit="h", usd_per_unit=amount,
            hours=None, currency=code, local=None,
        )
        for code, amount in parts
        if amount
    )  # fmt: skip
    total = quantity(sum(amount for _, amount in parts), Unit.USD)
    bill = Bill(
        trainings=1,
        lines=lines,
        usd_total=total,
        local_total=None,
        coverage=Coverage(priced=(), no_price=(), unsupported=()),
    )
    return option(name, 10, total.value, bill=bill, **changes)


def rates(*options: CampaignOption, limits: CampaignLimits | None = None) -> list[tuple[str, str, float]]:
    found = switching_rates(options[0], options, limits or CampaignLimits(), WON)
    return [(rate.option, rate.side, round(rate.per_usd, 2)) for rate in found]


def test_a_million_won_against_1100_dollars() -> None:
    """1,000,000 KRW cost 1,100 USD at 909.09 KRW a USD: below it, the dollars are cheaper."""
    assert rates(paid("won", won=1e6), paid("dollars", usd=1100)) == [("dollars", "below", 909.09)]


def test_900_dollars_against_a_million_won() -> None:
    assert rates(paid("dollars", usd=900), paid("won", won=1e6)) == [("won", "above", 1111.11)]


def test_a_bill_in_both_currencies() -> None:
    """100 USD + 800,000 KRW against 1,000 USD: equal where 800,000 / rate = 900."""
    assert rates(paid("both", usd=100, won=8e5), paid("dollars", usd=1000)) == [("dollars", "below", 888.89)]


def test_the_nearest_on_each_side_alone() -> None:
    found = rates(paid("won", won=1e6), paid("near", usd=1100), paid("far", usd=2000))
    assert found == [("near", "below", 909.09)]


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([("usd", 900.0), ("usd", 950.0)], id="all in dollars"),
        pytest.param([("won", 9e5), ("won", 1e6)], id="all in won"),
    ],
)
def test_one_currency_alone_never_turns_the_answer(others: list[tuple[str, float]]) -> None:
    options = [paid(str(place), **{code: amount}) for place, (code, amount) in enumerate(others)]
    assert rates(*options) == []


def test_neither_infeasible_options_nor_plans_that_prefer_time_turn() -> None:
    over = paid("dollars", usd=1100, within_budget=False)
    assert rates(paid("won", won=1e6), over) == []
    by_time = CampaignLimits(prefer=Prefer.TIME)
    assert rates(paid("won", won=1e6), paid("dollars", usd=1100), limits=by_time) == []


@given(usd=st.floats(1, 1e6), won=st.floats(1e3, 1e9), other=st.floats(1, 1e6))
def test_at_the_switching_rate_both_cost_the_same(usd: float, won: float, other: float) -> None:
    for rate in switching_rates(
        paid("both", usd=usd, won=won), [paid("dollars", usd=usd + other)], CampaignLimits(), WON
    ):
        assert usd + won / rate.per_usd == pytest.approx(usd + other, rel=1e-6)


@pytest.mark.parametrize(
    ("currency", "hours", "ends"),
    [
        pytest.param(CALM, YEAR, (772.6, 1294.3), id="a year: exp(0.258)"),
        pytest.param(CALM, YEAR / 4, (879.0, 1137.7), id="a quarter: exp(0.129)"),
        pytest.param(CALM, 100 * YEAR, (500.0, 2000.0), id="a hundred years: a factor of two"),
        pytest.param(CALM, float("inf"), (772.6, 1294.3), id="not known: a year"),
        pytest.param(WON, 1.0, (500.0, 2000.0), id="the plan's own range, within a factor of two"),
    ],
)
def test_the_rates_that_can_be_met_while_the_plan_runs(currency: Currency, hours: float, ends: tuple[float, float]):
    assert reach_of(currency, hours=hours) == pytest.approx(ends, abs=0.1)


@pytest.mark.parametrize(
    ("dollars", "hours", "named"),
    [
        pytest.param(1100.0, YEAR, [("dollars", "below", 909.09)], id="9 % away within a year"),
        pytest.param(1100.0, 24.0, [], id="9 % away within a day"),
        pytest.param(22_268.0, YEAR, [], id="at a 22nd of today's rate"),
    ],
)
def test_a_rate_that_cannot_be_met_is_not_named(dollars: float, hours: float, named: list[tuple[str, str, float]]):
    """A million won against dollars: equal at 1,000,000 / dollars."""
    first = paid("won", won=1e6, campaign_hours=quantity(hours, Unit.HOURS))
    found = switching_rates(first, (first, paid("dollars", usd=dollars)), CampaignLimits(), CALM)
    assert [(rate.option, rate.side, round(rate.per_usd, 2)) for rate in found] == named
