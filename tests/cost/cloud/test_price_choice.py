"""The stated order chooses among several prices; age is shown; a missing price is never a price of zero."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cost.cloud.price_age import dated
from planner.cost.cloud.price_level import usd_per_accelerator_hour
from planner.decide.options.estimate_plan import estimate_plan
from planner.model.plan.plan import Plan
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.scenario.price_choice import selected
from tests.bundled import bundled_catalog

TODAY = date(2026, 11, 21)
CATALOG = bundled_catalog()
FEW = settings(max_examples=30, deadline=None)


def price(origin=PriceOrigin.BUNDLED, days=0, usd=55.0, kind=PriceKind.ON_DEMAND, **cells):
    day = TODAY - timedelta(days=days)
    return Price(
        **{
            "provider": "aws", "instance_type": "p5.48xlarge", "region": "us-east-1", "price_kind": kind,
            "usd_per_hour": usd, "origin": origin, "source": origin.value, "as_of": day, "fetched_at": day,
            "confidence": "list",
        } | cells
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "origin"),
    [
        pytest.param([price(origin) for origin in reversed(PriceOrigin)], PriceOrigin.USER, id="the user's own first"),
        pytest.param(
            [price(origin) for origin in list(PriceOrigin)[1:]], PriceOrigin.AWS_API, id="then AWS, whatever the order"
        ),
        pytest.param(
            [price(PriceOrigin.SKYPILOT), price(PriceOrigin.GPUHUNT, 30)], PriceOrigin.GPUHUNT, id="30 days are not old"
        ),
        pytest.param(
            [price(PriceOrigin.SKYPILOT), price(PriceOrigin.GPUHUNT, 31)], PriceOrigin.SKYPILOT, id="31 days are"
        ),
        pytest.param(
            [price(PriceOrigin.SKYPILOT, kind=PriceKind.SPOT), price(PriceOrigin.AWS_API, 2, kind=PriceKind.SPOT)],
            PriceOrigin.SKYPILOT,
            id="spot is old after a day",
        ),
        pytest.param([price(PriceOrigin.BUNDLED), price(PriceOrigin.USER, 900)], PriceOrigin.USER, id="a contract"),
    ],
)
def test_the_stated_order_decides_among_prices_that_are_not_out_of_date(rows, origin):
    assert {row.origin for row in selected(rows)} == {origin}


ROWS = st.lists(
    st.builds(price, st.sampled_from(PriceOrigin), st.integers(0, 400), st.floats(1, 100)), min_size=1, max_size=8
)


@FEW
@given(rows=ROWS, seed=st.randoms())
def test_the_choice_does_not_hang_on_the_order_of_rows_or_on_prices(rows, seed):
    shuffled = list(rows)
    seed.shuffle(shuffled)
    chosen, again = selected(rows), selected(shuffled)
    assert {(row.origin, row.as_of) for row in chosen} == {(row.origin, row.as_of) for row in again}
    assert len({(row.origin, row.as_of) for row in chosen}) == 1


@pytest.mark.parametrize(
    ("kind", "days", "stale"),
    [
        (PriceKind.SPOT, 1, False),
        (PriceKind.SPOT, 2, True),
        (PriceKind.MARKETPLACE, 2, True),
        (PriceKind.ON_DEMAND, 30, False),
        (PriceKind.ON_DEMAND, 31, True),
        (PriceKind.CAPACITY_BLOCK, 31, True),
        (PriceKind.ON_DEMAND, -3, False),
    ],
)
def test_a_price_ages_by_its_kind(kind, days, stale):
    row = price(days=days, kind=kind)
    assert (row.age_days(TODAY), row.is_stale(TODAY)) == (max(0, days), stale)


STEP = {"batch": 64, "seconds": 1.0, "basis": "measured"}


def plan(**option):
    return Plan.model_validate(
        {
            "schema_version": 1, "name": "x", "workload": {"ref": "gpt-305m"}, "work": {"tokens": 1e9},
            "options": [{"offer": "aws/p5.48xlarge", "step": STEP} | option],
        }
    )  # fmt: skip


def estimated(rows, **option):
    catalog = CATALOG.model_copy(update={"prices": tuple(rows), "own_prices": ()})
    (found,) = estimate_plan(plan(**option), catalog).options
    return dated(found, today=TODAY)


def test_an_option_says_how_old_its_price_is():
    found = estimated([price(days=40)])
    assert (found.price_age_days, found.price_stale) == (40, True)
    assert estimated([price(days=3)]).price_stale is False


def test_the_plan_s_own_price_has_no_age():
    found = estimated([price(days=40)], usd_per_hour=50.0)
    assert (found.price_age_days, found.price_stale) == (None, None)


def machines_usd(found):
    """Return the cost of the machines: the total less storage and transfer, which a machine at 0 USD also pays."""
    free = estimated([price(kind=PriceKind.GRANT, usd=0.0)], price="grant")
    return found.usd_total.value - free.usd_total.value


@FEW
@given(usd=st.floats(0.1, 1e4), factor=st.floats(0.1, 100))
def test_cost_is_linear_in_the_price(usd, factor):
    base, many = estimated([price(usd=usd)]), estimated([price(usd=usd * factor)])
    assert machines_usd(many) == pytest.approx(machines_usd(base) * factor, rel=1e-9)


@FEW
@given(factor=st.floats(0.01, 100))
def test_the_training_s_part_of_the_bill_is_linear_in_time(factor):
    step = {"batch": 64, "seconds": factor, "basis": "measured"}
    (exact, *_), (many, *_) = (found.bill.lines for found in (estimated([price()]), estimated([price()], step=step)))
    assert (exact.what, many.what, many.usd_per_unit) == ("compute", "compute", 55)
    assert many.quantity == pytest.approx(exact.quantity * factor, rel=1e-9)
    assert many.usd.value == pytest.approx(many.quantity * 55, abs=0.01)


@FEW
@given(
    kind=st.sampled_from([kind for kind in PriceKind if kind is not PriceKind.HOSTED_TRAINING]),
    region=st.sampled_from([None, "us-east-1"]),
    rows=st.lists(
        st.builds(
            lambda kind, reason: price(kind=kind, usd=None, no_price_reason=reason),
            st.sampled_from([PriceKind.ON_DEMAND, PriceKind.SPOT, PriceKind.LEASE]),
            st.just("not sold"),
        ),
        max_size=3,
    ),
)
def test_no_option_is_priced_zero_for_lack_of_a_price(kind, region, rows):
    found = estimated(rows, price=kind.value, **({"region": region} if region and rows else {}))
    assert (found.usd_per_hour, found.usd_total, found.usd_marginal) == (None, None, None)
    assert "no price" in found.why_not


def test_a_grant_at_zero_is_a_price():
    found = estimated([price(kind=PriceKind.GRANT, usd=0.0)], price="grant")
    assert found.usd_per_hour.value == 0
    assert {line.usd.value for line in found.bill.lines if line.quantity_unit == "node-h"} == {0}
    assert 0 < found.usd_total.value < 1, "its data still lies in storage"


def test_per_accelerator_is_the_instance_divided_by_its_number():
    """55.04 / 8 = 6.88."""
    assert usd_per_accelerator_hour(price(usd=55.04), CATALOG.nodes) == 6.88
    assert usd_per_accelerator_hour(price(usd=55.04, instance_type="p9.mystery"), CATALOG.nodes) is None
    own = price(usd=55.04, instance_type="p9.mystery", accelerator="H100-SXM", accelerators=4)
    assert usd_per_accelerator_hour(own, CATALOG.nodes) == 13.76
