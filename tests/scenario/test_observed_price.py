"""The median of recent observations counts for a spot price; the newest row counts for others."""

from __future__ import annotations

from datetime import date

import pytest

from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.scenario.price_choice import current_price
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
ITEM = "aws/p5en.48xlarge"


def spot(day: str, usd: float | None, region: str = "here", **cells) -> Price:
    return Price(
        **{
            "provider": "aws", "instance_type": "p5en.48xlarge", "region": region, "price_kind": PriceKind.SPOT,
            "usd_per_hour": usd, "no_price_reason": None if usd else "not listed", "source": "somebody",
            "as_of": date.fromisoformat(day), "fetched_at": date.fromisoformat(day), "confidence": "list",
        } | cells
    )  # fmt: skip


def chosen(*rows: Price, kind: PriceKind = PriceKind.SPOT, region: str | None = None) -> Price:
    catalog = CATALOG.model_copy(update={"prices": rows, "own_prices": ()})
    found = current_price(ITEM, catalog, kind=kind, region=region)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("seen", "median"),
    [
        pytest.param([("2026-08-06", 27.2)], 27.2, id="one"),
        pytest.param([("2026-05-24", 14.8), ("2026-08-06", 27.2)], 27.2, id="two: the later, dearer"),
        pytest.param([("2026-05-24", 27.2), ("2026-08-06", 14.8)], 14.8, id="two: the later, cheaper"),
        pytest.param([("2026-06-24", 14.8), ("2026-08-06", 27.2), ("2026-08-07", 20.0)], 20.0, id="three: the middle"),
        pytest.param([("2026-08-01", 9.0), ("2026-08-02", 12.0), ("2026-08-03", 30.0), ("2026-08-04", 11.0)], 11.0,
                     id="four: of 11 and 12 the later"),
        pytest.param([("2026-05-07", 14.8), ("2026-08-06", 27.2)], 27.2, id="91 days before does not count"),
    ],
)  # fmt: skip
def test_the_median_is_a_price_that_was_asked(seen, median):
    found = chosen(*[spot(day, usd) for day, usd in seen])
    assert found.usd_per_hour == median
    assert found.as_of == max(date.fromisoformat(day) for day, _ in seen), "what is known, is known up to that day"


def test_it_says_what_was_seen():
    found = chosen(spot("2026-08-06", 27.2, high_usd_per_hour=63.3), spot("2026-05-24", 14.8, low_usd_per_hour=13.0))
    assert found.seen_usd_per_hour == (14.8, 27.2)
    assert found.seen_from == date(2026, 5, 24)
    assert (found.low_usd_per_hour, found.high_usd_per_hour) == (13.0, 63.3)
    assert chosen(spot("2026-05-06", 14.8), spot("2026-08-06", 27.2)).seen_usd_per_hour == (27.2,)


def test_an_observation_is_the_cheapest_zone_of_a_day_that_has_one_left():
    rows = [spot("2026-08-06", usd, zone=zone, available=left) for usd, zone, left in
            ((12.0, "a", None), (10.0, "b", False), (11.0, "c", True))]  # fmt: skip
    assert chosen(*rows).seen_usd_per_hour == (11.0,)


def test_where_the_newest_row_states_no_price_there_is_none():
    found = chosen(spot("2026-08-06", None), spot("2026-08-01", 12.0))
    assert (found.usd_per_hour, found.no_price_reason) == (None, "not listed")


def test_a_refresh_of_today_wins_alone():
    """A refresh keeps the last row of each zone: the older ones are zones that are no longer listed."""
    fresh = {"origin": PriceOrigin.AWS_API}
    rows = (spot("2026-11-23", 31.0, zone="a", **fresh), spot("2026-11-20", 9.0, zone="b", **fresh))
    found = chosen(*rows, spot("2026-11-22", 14.8))
    assert (found.usd_per_hour, found.seen_usd_per_hour) == (31.0, (31.0,))


def test_a_region_that_was_not_seen_when_others_were_is_not_compared():
    """Here they rose by 1.84 in the meantime; it is not known whether it did there too. By name it can be had."""
    rows = [spot("2026-08-06", 27.2), spot("2026-05-24", 12.5, "there")]
    assert chosen(*rows).region == "here"
    assert chosen(*rows, region="there").usd_per_hour == 12.5
    assert chosen(spot("2026-08-06", 27.2), spot("2026-07-25", 12.5, "there")).region == "there", "12 days before"
    at_11_days = 1.21 ** (11 / 130)  # 12 days behind, of which spot may be 1
    for usd, place in ((14.9 / at_11_days + 0.1, "here"), (14.9 / at_11_days - 0.1, "there")):
        assert chosen(spot("2026-08-06", 14.9), spot("2026-07-25", usd, "there")).region == place


def firm(days_before: int, usd: float, region: str, **cells) -> Price:
    day = date.fromordinal(date(2026, 11, 9).toordinal() - days_before).isoformat()
    return spot(day, usd, region, price_kind=PriceKind.ON_DEMAND, **cells)


@pytest.mark.parametrize(
    ("rows", "region"),
    [
        pytest.param([firm(0, 21.957642, "new"), firm(169, 21.95764, "old")], "new", id="0.000002 less, half a year"),
        pytest.param([firm(0, 20.0, "new"), firm(169, 16.6, "old")], "new", id="stale, 17 % less: 16.6 x 1.21 = 20.09"),
        pytest.param([firm(0, 20.0, "new"), firm(169, 16.5, "old")], "old", id="stale, 18 % less: 16.5 x 1.21 = 19.97"),
        pytest.param([firm(0, 20.0, "new"), firm(30, 19.0, "old")], "old", id="30 days are not stale"),
        pytest.param([firm(0, 20.0, "new"), firm(9, 19.981, "old")], "new", id="0.019 of 20: a thousandth ties"),
        pytest.param([firm(0, 20.0, "new"), firm(9, 19.97, "old")], "old", id="0.03 of 20 does not"),
        pytest.param([firm(0, 2.0, "new"), firm(9, 1.991, "old")], "new", id="a cent ties"),
        pytest.param([firm(0, 0.20, "new"), firm(9, 0.195, "old")], "old", id="half a cent of 20 cents does not"),
        pytest.param([firm(0, 20.0, "new"), firm(0, 15.0, "sold", available=False)], "new", id="sold out comes last"),
        pytest.param([firm(0, 20.0, "new"), firm(99, 15.0, "sold", available=False)], "sold", id="sold out long ago"),
        pytest.param([firm(0, 15.0, "sold", available=False)], "sold", id="sold out, and nothing else"),
    ],
)  # fmt: skip
def test_the_cheapest_region_is_so_by_more_than_the_doubt_of_its_age(rows, region):
    for order in (rows, rows[::-1]):
        assert chosen(*order, kind=PriceKind.ON_DEMAND).region == region


def test_p5en_spot_is_that_of_august():
    """On file: 14.82, 9.39 and 17.82 USD/h of May, 27.20, 26.57 and 26.94 of August; Seoul 12.52 of May alone."""
    found = current_price(ITEM, CATALOG, kind=PriceKind.SPOT, region=None)
    assert (found.region, found.usd_per_hour, found.as_of) == ("us-east-2", 26.57, date(2026, 8, 6))
    assert current_price(ITEM, CATALOG, kind=PriceKind.SPOT, region="us-east-1").usd_per_hour == 27.2
