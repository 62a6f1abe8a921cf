"""A price that was not checked for long may have moved: the range and the source say by how much."""

from __future__ import annotations

import json
import math
import statistics
from datetime import date, timedelta
from itertools import pairwise

import pytest

from planner.cost.cloud.net_price import with_book
from planner.decide.options.estimate_plan import estimate_plan
from planner.model.defaults import PriceDefaults
from planner.model.plan.plan import Plan
from planner.model.prices.offer import FAST_KINDS, Price, PriceKind, PriceOrigin
from planner.model.prices.price_book import PriceBook
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 23)
CATALOG = bundled_catalog()
STEP = {"batch": 64, "seconds": 1.0, "basis": "measured"}
WORK = {"schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9}}
ITEM = "aws/p5.48xlarge"
BOOK = {"schema_version": 1, "as_of": TODAY}


def price(days: int, usd: float, kind: PriceKind = PriceKind.ON_DEMAND, **cells) -> Price:
    day = TODAY - timedelta(days=days)
    return Price(
        **{
            "provider": "aws", "instance_type": "p5.48xlarge", "region": "us-east-1", "price_kind": kind,
            "usd_per_hour": usd, "source": "a list", "as_of": day, "fetched_at": day, "confidence": "list",
        } | cells
    )  # fmt: skip


def estimated(*rows: Price, book=None, today=TODAY, **option):
    catalog = CATALOG.model_copy(update={"prices": rows, "own_prices": ()})
    if book:
        catalog = with_book(catalog, PriceBook.model_validate(BOOK | book), on=TODAY)
    plan = Plan.model_validate(WORK | {"options": [{"offer": ITEM, "step": STEP} | option]})
    (found,) = estimate_plan(plan, catalog, today=today).options
    return found


def usd(found):
    price = found.usd_per_hour
    return price.value, price.low, price.high


@pytest.mark.parametrize("kind", [PriceKind.ON_DEMAND, PriceKind.SAVINGS_1Y, PriceKind.LEASE])
def test_a_stale_firm_price_may_lie_as_far_off_as_they_have_moved(kind):
    """60 / 1.21 = 49.59 and 60 x 1.21 = 72.6, from 30 + 130 days on; half of the way, its root."""
    found = estimated(price(160, 60.0, kind), price=kind.value)
    assert usd(found) == pytest.approx((60, 49.5868, 72.6))
    assert "stale: 160 days old, +-21 %" in found.usd_per_hour.source
    assert usd(estimated(price(700, 60.0, kind), price=kind.value)) == usd(found), "no more beyond"
    half = estimated(price(95, 60.0, kind), price=kind.value)
    assert usd(half) == pytest.approx((60, 60 / 1.21**0.5, 60 * 1.21**0.5))
    assert found.price_stale is True
    assert found.usd_per_hour.basis == "quoted", "old, and still somebody's word"


def test_a_range_of_its_own_is_widened_from_its_ends():
    found = estimated(price(160, 60.0, low_usd_per_hour=48.0, high_usd_per_hour=70.0))
    assert usd(found) == pytest.approx((60, 48 / 1.21, 70 * 1.21))


def test_the_bill_carries_it():
    """Factors that are doubtful for different reasons add their log ranges in quadrature."""
    line, exact = (estimated(price(days, 60.0)).bill.lines[0].usd for days in (160, 30))
    assert line.value == exact.value
    for end in ("low", "high"):
        hours, both = (math.log(getattr(usd, end) / usd.value) for usd in (exact, line))
        assert both**2 == pytest.approx(hours**2 + math.log(1.21) ** 2, rel=1e-3)


@pytest.mark.parametrize(
    ("row", "extra"),
    [
        pytest.param(price(30, 60.0), {}, id="30 days are not stale"),
        pytest.param(price(64, 60.0), {"today": None}, id="no day, no age"),
        pytest.param(price(64, 55.0), {"usd_per_hour": 60.0}, id="the plan's own"),
        pytest.param(price(64, 60.0, valid_until=TODAY), {}, id="an offer that still holds"),
        pytest.param(price(64, 99.0), {"book": {"quotes": [
            {"name": "q", "item": ITEM, "usd_per_hour": 60.0, "source": "mail"}]}}, id="a quote"),
        pytest.param(price(64, 99.0), {"book": {"commitments": [
            {"name": "c", "item": ITEM, "nodes": 1, "usd_per_hour": 60.0, "valid_until": date(2027, 1, 1),
             "source": "order"}]}}, id="a commitment"),
    ],
)  # fmt: skip
def test_what_is_fresh_or_agreed_has_no_doubt(row, extra):
    found = estimated(row, **extra)
    assert usd(found) == (60, 60, 60)
    assert not found.price_stale


def test_a_discount_off_a_stale_list_is_as_doubtful_as_the_list():
    discount = {"discounts": [{"name": "d", "provider": "aws", "discount_fraction": 0.5, "source": "contract"}]}
    assert usd(estimated(price(160, 60.0), book=discount)) == pytest.approx((30, 30 / 1.21, 36.3))


def test_a_service_is_doubted_too():
    """2.4 / 1.21 = 1.983 and 2.4 x 1.21 = 2.904 USD per million tokens."""
    row = price(160, None, PriceKind.HOSTED_TRAINING, usd_per_million_tokens=2.4)
    found = estimated(row, price="hosted_training", step=None)
    each = found.usd_per_million_tokens
    assert (each.value, each.low, each.high) == pytest.approx((2.4, 2.4 / 1.21, 2.904))
    assert (found.firm, found.availability, found.price_stale) == (True, "unknown", True)


SPOT = PriceKind.SPOT
FACTOR = 3.35


@pytest.mark.parametrize(
    ("rows", "expected", "observations"),
    [
        pytest.param([price(100, 20.0, SPOT)], (20, 20 / FACTOR, 20 * FACTOR), 1, id="one, nothing bounds it"),
        pytest.param([price(100, 20.0, SPOT, high_usd_per_hour=30.0)], (20, 20 / FACTOR, 30), 1, id="to its ceiling"),
        pytest.param([price(100, 20.0, SPOT), price(100, 25.0)], (20, 20 / FACTOR, 25), 1, id="to on demand"),
        pytest.param([price(100, 20.0, SPOT), price(100, 18.0)], (20, 20 / FACTOR, 20), 1, id="seen above on demand"),
        pytest.param([price(100, 20.0, SPOT), price(180, 9.0, SPOT)], (20, 20 / FACTOR, 20 * FACTOR), 2, id="two"),
        pytest.param([price(100, 20.0, SPOT), price(180, 19.0, SPOT)], (20, 20 / FACTOR, 20 * FACTOR), 2,
                     id="two that agree bound no more than one does"),
        pytest.param([price(100 + day, usd, SPOT) for day, usd in enumerate((20.0, 19.0, 21.0, 22.0, 18.0))],
                     (20, 18, 22), 5, id="five bound it"),
        pytest.param([price(1, 20.0, SPOT, high_usd_per_hour=30.0)], (20, 20, 30), 1, id="of yesterday: as it says"),
        pytest.param([price(3, 20.0, SPOT, high_usd_per_hour=80.0, origin=PriceOrigin.AWS_API)],
                     (20, 20 / FACTOR ** (2 / 74), 80), 1, id="of a refresh the highest was seen"),
        pytest.param([price(38, 20.0, SPOT)], (20, 20 / FACTOR**0.5, 20 * FACTOR**0.5), 1,
                     id="37 of 74 days too old: half way, in logarithms"),
        pytest.param([price(100, 20.0, PriceKind.MARKETPLACE)], (20, 20 / FACTOR, 20 * FACTOR), 1, id="marketplace"),
    ],
)  # fmt: skip
def test_a_spot_price_has_the_spread_that_such_prices_have_had(rows, expected, observations):
    kind = rows[0].price_kind.value
    found = estimated(*rows, price=kind)
    assert usd(found) == pytest.approx(expected)
    assert (found.observations, found.firm) == (observations, False)


def test_the_source_says_on_what_it_stands():
    option = estimated(price(183, 20.0, SPOT), price="spot")
    assert (
        "one observation of 2026-05-24; such prices stay within a factor of 3.35 (90 %)" in option.usd_per_hour.source
    )
    two = estimated(price(183, 9.0, SPOT), price(109, 27.2, SPOT), price="spot")
    assert "median of 2 observations of 2026-05-24 to 2026-08-06 (9 to 27.2)" in two.usd_per_hour.source


def test_the_factor_is_that_of_the_bundled_rows():
    """Three changes of p5en (27.20 / 14.8209, 26.57 / 9.3944, 26.94 / 17.8226): 90 % of a log-normal."""
    rows = [row for row in CATALOG.prices if row.node == "aws/p5en.48xlarge" and row.price_kind is SPOT]
    by_day = {(row.region, row.as_of.month): row.usd_per_hour for row in rows}
    moved = sorted(
        math.log(by_day[region, 8] / by_day[region, 5]) for region in ("us-east-1", "us-east-2", "us-west-2")
    )
    figure = CATALOG.defaults.prices.spot_factor
    assert math.log(figure.value) == pytest.approx(1.645 * math.sqrt(sum(part**2 for part in moved) / 3), abs=0.01)
    assert figure.low == pytest.approx(math.exp(moved[1]), abs=0.005)
    assert math.log(figure.high) == pytest.approx(1.645 / 0.6745 * moved[1], abs=0.01)


def test_the_factor_of_firm_prices_is_that_of_the_bundled_rows():
    """Median change between consecutive prices of one machine, region and kind, over 60 days apart, since 2025."""
    firm = sorted(
        (row.node, row.region, row.price_kind.value, row.as_of, row.usd_per_hour)
        for row in CATALOG.prices
        if row.usd_per_hour and row.price_kind not in FAST_KINDS and row.as_of.year >= 2025
    )
    moved = sorted(
        max(after[-1], before[-1]) / min(after[-1], before[-1])
        for before, after in pairwise(firm)
        if before[:3] == after[:3] and (after[3] - before[3]).days > 60
    )
    figure = CATALOG.defaults.prices.stale_factor
    assert len(moved) >= 31
    assert figure.value == pytest.approx(statistics.median(moved), abs=0.005)
    assert (figure.low, figure.high) == pytest.approx((moved[0], moved[-1]), abs=0.01)


def test_the_days_in_which_the_doubt_grows_are_those_of_the_same_rows():
    firm = sorted(
        (row.node, row.region, row.price_kind.value, row.as_of)
        for row in CATALOG.prices
        if row.usd_per_hour and row.price_kind not in FAST_KINDS and row.as_of.year >= 2025
    )
    days = [(after[3] - before[3]).days for before, after in pairwise(firm) if before[:3] == after[:3]]
    apart = sorted(day for day in days if day > 60)
    figure = CATALOG.defaults.prices.stale_after
    assert (figure.value, figure.low, figure.high) == (statistics.median(apart), apart[0], apart[-1])


def test_the_doubt_of_a_price_grows_without_a_jump():
    highest = [usd(estimated(price(days, 60.0)))[2] for days in range(200)]
    steps = [after / before for before, after in pairwise(highest)]
    assert min(steps) >= 1
    assert max(steps) < 1.002


@pytest.mark.parametrize("wrong", [{"value": 0.8, "low": 0.7, "high": 0.9}, {"unit": "h"}])
def test_a_factor_below_one_is_refused(wrong):
    good = CATALOG.defaults.prices.model_dump(mode="json")
    with pytest.raises(ValueError, match="stale_factor is"):
        PriceDefaults.model_validate_json(json.dumps(good | {"stale_factor": good["stale_factor"] | wrong}))


class TestAvailability:
    @pytest.mark.parametrize(
        ("available", "days", "says"),
        [(True, 3, "yes"), (False, 3, "no"), (None, 3, "unknown"), (True, 31, "unknown"), (False, 31, "unknown")],
    )
    def test_a_row_that_is_not_stale_says_so(self, available, days, says):
        found = estimated(price(days, 60.0, available=available))
        assert found.availability == says
        assert (found.not_allowed is not None) is (says == "no")
        assert [reason.code for reason in found.not_allowed_reasons] == (["not_available"] if says == "no" else [])

    def test_it_names_source_and_day(self):
        assert estimated(price(3, 60.0, available=False)).not_allowed == "not to be had (a list, 2026-11-20)"

    def test_a_price_of_the_plan_s_own_says_nothing_of_it(self):
        found = estimated(price(3, 60.0, available=False), usd_per_hour=50.0)
        assert (found.availability, found.not_allowed) == ("unknown", None)


def test_an_owned_machine_is_neither_firm_nor_to_be_had():
    plan = Plan.model_validate(WORK | {"options": [{"site": "h200-x1", "step": STEP}]})
    (found,) = estimate_plan(plan, CATALOG, today=TODAY).options
    assert (found.firm, found.availability, found.observations, found.unpriced) == (None, None, None, ())
