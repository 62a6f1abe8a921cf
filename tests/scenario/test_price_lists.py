"""A later complete list shows which prices are no longer listed; the counts of two lists are added."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.model.prices.price_list import ListRead
from planner.scenario.price_choice import current_price
from planner.scenario.price_lists import renewal_of, with_marks
from tests.bundled import bundled_catalog

MAY, NOVEMBER = date(2026, 5, 24), date(2026, 11, 24)


def price(origin=PriceOrigin.BUNDLED, day=MAY, **cells):
    return Price(
        **{
            "provider": "verda", "instance_type": "1x-l40s", "region": "any", "price_kind": PriceKind.ON_DEMAND,
            "usd_per_hour": 0.91, "origin": origin, "source": "somebody", "as_of": day, "fetched_at": day,
            "confidence": "list",
        } | cells
    )  # fmt: skip


def fetched(day=NOVEMBER, **cells):
    return price(PriceOrigin.GPUHUNT, day, **cells)


def read(day=NOVEMBER, region="*", provider="verda", origin=PriceOrigin.GPUHUNT, kind=PriceKind.ON_DEMAND):
    return ListRead(provider=provider, origin=origin, price_kind=kind, region=region, read_on=day)


@pytest.mark.parametrize(
    ("bundled", "observed", "lists", "marked"),
    [
        pytest.param(price(), [], [], None, id="no list was read"),
        pytest.param(price(), [], [read()], NOVEMBER, id="the list does not hold it"),
        pytest.param(price(), [fetched()], [read()], None, id="renewed"),
        pytest.param(price(region="fi"), [fetched(region="any")], [read()], None, id="listed anywhere"),
        pytest.param(price(region="fi"), [fetched(region="is")], [read()], NOVEMBER, id="listed elsewhere alone"),
        pytest.param(price(region="fi"), [], [read(region="is")], None, id="the list of another region"),
        pytest.param(price(), [], [read(provider="vultr")], None, id="the list of another provider"),
        pytest.param(price(), [], [read(kind=PriceKind.SPOT)], None, id="the list of another kind"),
        pytest.param(price(), [], [read(day=date(2026, 1, 1))], None, id="an earlier list"),
        pytest.param(price(), [fetched(MAY)], [read()], NOVEMBER, id="an earlier list held it"),
        pytest.param(price(PriceOrigin.USER), [], [read()], None, id="the user's own"),
    ],
)
def test_a_bundled_price_is_held_against_the_newest_list(bundled, observed, lists, marked):
    assert with_marks([bundled], observed, lists)[0][0].unlisted_on == marked


def test_a_fetched_price_is_held_against_lists_of_its_own_source():
    gone, other = fetched(MAY), price(PriceOrigin.SKYPILOT)
    assert [row.unlisted_on for row in with_marks([], [gone, other], [read()])[1]] == [NOVEMBER, None]


def test_what_nobody_lists_is_not_chosen_however_cheap():
    bundled, observed = with_marks([price(usd_per_hour=0.5)], [fetched(region="fi", usd_per_hour=1.2)], [read()])
    catalog = bundled_catalog().model_copy(update={"prices": (*bundled, *observed), "own_prices": ()})
    found = current_price("verda/1x-l40s", catalog, kind=PriceKind.ON_DEMAND, region=None)
    assert (found.region, found.usd_per_hour) == ("fi", 1.2)


@given(st.sets(st.integers(0, 30), min_size=1), st.sets(st.integers(0, 30), min_size=1))
def test_two_lists_half_a_year_apart_add_up(first, second):
    before = [fetched(MAY, instance_type=f"m{number}") for number in first]
    after = [fetched(instance_type=f"m{number}", usd_per_hour=2.0) for number in second]
    renewal = renewal_of(before, after, [read()], [read(MAY)])
    assert renewal.renewed + renewal.added == len(second)
    assert renewal.renewed + renewal.vanished == len(first)
    assert renewal.renewed == len(first & second)
