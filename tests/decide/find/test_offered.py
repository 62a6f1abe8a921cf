"""What is offered: kinds of price, and what a number of hours costs."""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.find.offered import Offered, offered
from planner.model.plan.find_filters import FindFilters, Terms
from planner.model.prices.offer import PriceKind
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
TODAY = date(2026, 11, 25)
P5 = "aws/p5.48xlarge"


def offer(kind: PriceKind, *, usd: float, nodes: int) -> Offered:
    row = next(row for row in CATALOG.prices if row.node == P5 and row.price_kind is kind)
    node = CATALOG.nodes[P5]
    price = row.model_copy(update={"usd_per_hour": usd})
    return Offered(node, CATALOG.accelerators[node.accelerator], price, nodes)


@pytest.mark.parametrize(
    ("kind", "hours", "usd"),
    [
        pytest.param(PriceKind.ON_DEMAND, 30.0, 30 * 2 * 10.0, id="by the second"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 23.5, 24 * 2 * 10.0, id="a day, whose last half hour is lost"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 23.6, 48 * 2 * 10.0, id="two days"),
        pytest.param(PriceKind.CAPACITY_BLOCK, 15 * 24.0, 21 * 24 * 2 * 10.0, id="past two weeks whole weeks"),
    ],
)
def test_what_hours_cost(kind, hours, usd):
    assert offer(kind, usd=10.0, nodes=2).usd_of(hours) == pytest.approx(usd)


@pytest.mark.parametrize(
    ("terms", "kinds"),
    [
        pytest.param(Terms.FIRM, {PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK}, id="firm"),
        pytest.param(Terms.SPOT, {PriceKind.SPOT}, id="spot"),
        pytest.param(None, {PriceKind.ON_DEMAND, PriceKind.CAPACITY_BLOCK, PriceKind.SPOT}, id="either"),
    ],
)
def test_a_block_is_a_firm_way_to_rent(terms, kinds):
    found = offered(CATALOG, FindFilters(provider=("aws",), terms=terms), None, today=TODAY)
    assert {one.price.price_kind for one in found.offers if one.node.id == P5} == kinds
