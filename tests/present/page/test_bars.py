"""Bars and dots of an answer: where they stand on their axes, by hand."""

from __future__ import annotations

from datetime import date

import pytest

from planner.adapters.workspace import examples_dir
from planner.present.page.bars import ROOM, Bars, bars, day_after
from planner.use_cases.catalogs import open_catalog
from planner.use_cases.plans import compare, read_plan

TODAY = date(2026, 7, 1)


@pytest.fixture
def document():
    return compare(read_plan(examples_dir() / "dgx_station_v100.yaml"), open_catalog(), today=TODAY)


def with_first(document, **update):
    first = document.options[0]
    return document.model_copy(update={"options": (first.model_copy(update=update),)})


def of(quantity, value: float, low: float, high: float):
    return quantity.model_copy(update={"value": value, "low": low, "high": high})


def one(document, *, budget: float | None, cost: tuple[float, float, float]) -> Bars:
    usd = of(document.options[0].payable_usd, *cost)
    changed = with_first(document, to_pay_usd=usd, campaign_usd=usd)
    return bars(changed.model_copy(update={"budget_usd": budget}))


def test_the_axis_ends_beyond_the_highest_whisker(document) -> None:
    drawn = one(document, budget=None, cost=(100, 50, 200))
    assert drawn.usd_end == pytest.approx(200 * ROOM)
    cost = drawn.rows[0].cost
    assert (cost.at, cost.low, cost.high) == pytest.approx((0.5 / ROOM, 0.25 / ROOM, 1 / ROOM))
    assert not cost.cut


@pytest.mark.parametrize(
    ("budget", "place"),
    [
        pytest.param(150, 150 / 200 / ROOM, id="among the bars"),
        pytest.param(400, 1 / ROOM, id="beyond them: the axis reaches it"),
        pytest.param(10_000, None, id="far off: in words"),
        pytest.param(None, None, id="none"),
    ],
)
def test_the_budget_stands_where_it_is(document, budget, place) -> None:
    drawn = one(document, budget=budget, cost=(100, 50, 200))
    assert drawn.budget == (None if place is None else pytest.approx(place))
    assert drawn.budget_off == (budget == 10_000)


def test_one_that_is_far_dearer_is_cut_and_not_the_others_squeezed(document) -> None:
    usd = document.options[0].payable_usd
    prices = (100, 110, 120, 100_000)
    options = [
        document.options[0].model_copy(update={"id": str(place), "to_pay_usd": of(usd, price, price, price)})
        for place, price in enumerate(prices)
    ]
    drawn = bars(document.model_copy(update={"options": tuple(options), "budget_usd": None}))
    assert [row.cost.cut for row in drawn.rows] == [False, False, False, True]
    assert drawn.usd_end == pytest.approx(120 * ROOM)
    assert drawn.rows[3].cost.at == 1


def test_waiting_for_a_machine_counts_before_its_work(document) -> None:
    hours = of(document.options[0].campaign_hours, 10, 10, 10)
    changed = with_first(document, campaign_hours=hours, wait_hours=30.0, doubts=())
    drawn = bars(changed.model_copy(update={"deadline_hours": None}))
    assert drawn.rows[0].time.at * drawn.hours_end == pytest.approx(40)


def test_nothing_known_is_nothing_drawn(document) -> None:
    assert bars(with_first(document, campaign_hours=None)).rows == []


def test_a_day_far_off_is_the_last_of_the_calendar() -> None:
    assert day_after(date(2026, 7, 1), 36) == date(2026, 7, 2)
    assert day_after(date(2026, 7, 1), 1e12) == date.max
