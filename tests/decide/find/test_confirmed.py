"""An old price counts if a second provider asks about the same: at most 21 % more for the accelerator."""

from __future__ import annotations

from datetime import date

import pytest

from planner.decide.find.offered import asks_of, is_confirmed
from planner.model.hardware.machines import Link, Node
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from planner.scenario.price_choice import SEARCHED_KINDS, prices_by_terms
from tests.bundled import bundled_catalog

TODAY, MAY, JULY, OCTOBER = (date(2026, month, day) for month, day in ((11, 24), (5, 24), (7, 23), (10, 9)))


def price(provider, usd, cards=1, region="any", kind=PriceKind.ON_DEMAND, origin=PriceOrigin.BUNDLED, as_of=MAY):
    return Price(
        provider=provider, instance_type=f"{cards}x", region=region, price_kind=kind, usd_per_hour=usd, origin=origin,
        source="a page", as_of=as_of, fetched_at=as_of, confidence="third_party",
    )  # fmt: skip


def catalog_of(prices):
    nodes = {
        row.node: Node(
            id=row.node, name=row.node, accelerator="RTX-5090", accelerators=int(row.instance_type[0]), link=Link.OTHER,
            source="by hand", as_of=MAY,
        )
        for row in prices
    }  # fmt: skip
    return bundled_catalog().model_copy(update={"prices": tuple(prices), "own_prices": (), "nodes": nodes})


@pytest.mark.parametrize(
    ("old", "others", "counts"),
    [
        pytest.param(price("a", 0.38), [price("b", 0.60), price("c", 0.65)], False, id="0.60 is 1.6 times 0.38"),
        pytest.param(price("a", 0.50), [price("b", 0.60), price("c", 0.65)], True, id="0.50 x 1.21 = 0.605"),
        pytest.param(price("a", 0.49), [price("b", 0.60), price("c", 0.65)], False, id="0.49 x 1.21 = 0.593"),
        pytest.param(
            price("a", 0.50), [price("b", 0.55), price("c", 0.80, as_of=OCTOBER)], False,
            id="one of the same day asks the same, and a later one much more",
        ),
        pytest.param(
            price("a", 0.50), [price("b", 0.80), price("c", 0.60, as_of=OCTOBER)], True, id="a later one asks the same"
        ),
        pytest.param(
            price("a", 0.50, as_of=JULY), [price("b", 0.55), price("c", 0.80, as_of=date(2026, 8, 22))], True,
            id="30 days are not later",
        ),
        pytest.param(
            price("a", 0.50, as_of=JULY), [price("b", 0.55), price("c", 0.80, as_of=date(2026, 8, 23))], False,
            id="31 days are",
        ),
        pytest.param(
            price("a", 0.50), [price("a", 0.80, cards=2, as_of=OCTOBER), price("b", 0.55)], True,
            id="its own later price of a larger machine is no second provider",
        ),
        pytest.param(price("a", 0.70), [price("b", 0.60)], True, id="more expensive than another"),
        pytest.param(price("a", 0.38), [price("b", 3.2, cards=8)], True, id="0.40 a card of eight"),
        pytest.param(price("a", 0.38), [price("a", 0.40, cards=2)], False, id="its own is no second one"),
        pytest.param(price("a", 0.38), [], False, id="no other provider, and a copied page"),
        pytest.param(price("a", 0.38, region="us-east-1"), [], True, id="no other provider, and a list of regions"),
        pytest.param(price("a", 0.38, as_of=date(2026, 11, 1)), [price("b", 0.60)], True, id="three weeks old"),
        pytest.param(price("a", 0.38, kind=PriceKind.SPOT), [price("b", 0.60)], True, id="spot has a rule of its own"),
        pytest.param(price("a", 0.38, origin=PriceOrigin.USER), [price("b", 0.60)], True, id="the user's own"),
        pytest.param(price("a", 0.38), [price("b", 0.38, kind=PriceKind.SPOT)], False, id="spot confirms nothing"),
    ],
)  # fmt: skip
def test_which_prices_are_confirmed(old, others, counts):
    catalog = catalog_of([old, *others])
    asks = asks_of(prices_by_terms(catalog, SEARCHED_KINDS), catalog)
    assert is_confirmed(old.node, old, asks, catalog, today=TODAY) is counts
