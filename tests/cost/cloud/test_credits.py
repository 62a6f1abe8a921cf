"""Credits pay what they can of a campaign's bill: the first to expire first, and none that ends before the campaign."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from planner.cost.cloud.credits import with_credits
from planner.model.answer.bill import Bill, Coverage
from planner.model.prices.price_book import Credit
from planner.model.quantity import Basis, Quantity, Unit

FINISH = date(2027, 1, 31)


def bill(usd: float) -> Bill:
    total = Quantity(value=usd, low=usd, high=usd, unit=Unit.USD, basis=Basis.QUOTED, source="lines")
    nothing = Coverage(priced=(), no_price=(), unsupported=())
    return Bill(trainings=1, lines=(), usd_total=total, local_total=None, coverage=nothing)


def credit(name: str, usd: float, expires: date = FINISH, **cells: Any) -> Credit:
    return Credit(**{"name": name, "provider": "aws", "usd": usd, "expires": expires, "source": "their mail"} | cells)


@pytest.mark.parametrize(
    ("credits", "used", "to_pay"),
    [
        pytest.param([], {}, None, id="none: nothing is said"),
        pytest.param([credit("a", 300)], {"a": 300}, 700.5, id="one pays its part, also on its last day"),
        pytest.param([credit("a", 5000)], {"a": 1000.5}, 0, id="no more than the bill"),
        pytest.param(
            [credit("late", 900, date(2028, 1, 1)), credit("soon", 300)], {"soon": 300, "late": 700.5}, 0,
            id="the first to expire goes first",
        ),
        pytest.param([credit("a", 300, date(2027, 1, 30))], {}, None, id="over before the campaign is"),
        pytest.param([credit("a", 300, provider="gcp")], {}, None, id="another provider's"),
    ],
)  # fmt: skip
def test_what_remains_to_pay(credits: list[Credit], used: dict[str, float], to_pay: float | None) -> None:
    found = with_credits(bill(1000.5), credits, provider="aws", finish=FINISH)
    assert ({credit.name: credit.usd for credit in found.credits}, found.usd_to_pay) == (used, to_pay)
    assert found.usd_total == bill(1000.5).usd_total


def test_without_a_finish_no_credit_is_sure_to_hold() -> None:
    assert with_credits(bill(10), [credit("a", 5)], provider="aws", finish=None).usd_to_pay is None
