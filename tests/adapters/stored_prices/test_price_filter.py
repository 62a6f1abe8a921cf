"""A query for stored rows returns those that pass the same filter once they are built."""

from __future__ import annotations

import pytest

from planner.adapters.stored_prices.price_filter import EVERYTHING, NOTHING, PriceFilter
from planner.adapters.stored_prices.price_store import PriceStore
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a store of the bundled rows."""
    store = PriceStore(tmp_path_factory.mktemp("home"))
    assert store.add(CATALOG.prices) == len(CATALOG.prices)
    return store


CARRIED = {node.id: node.accelerator for node in CATALOG.nodes.values()}


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(EVERYTHING, id="everything"),
        pytest.param(NOTHING, id="nothing"),
        pytest.param(PriceFilter(items=frozenset({"aws/p5.48xlarge", "aws/unknown"})), id="an instance"),
        pytest.param(PriceFilter(providers=frozenset({"lambda", "gcp"})), id="providers"),
        pytest.param(PriceFilter(regions=frozenset({"us-east-1", "any"})), id="a region, and prices of any"),
        pytest.param(PriceFilter(kinds=frozenset({"spot"})), id="a kind"),
        pytest.param(PriceFilter(accelerators=frozenset({"H100-SXM"}), carried=CARRIED), id="an accelerator"),
        pytest.param(
            PriceFilter(providers=frozenset({"aws"}), kinds=frozenset({"spot"}), accelerators=frozenset({"H200-SXM"}),
                        carried=CARRIED),
            id="several at once",
        ),
    ],
)  # fmt: skip
def test_the_query_and_built_rows_are_told_alike(stored, wanted):
    assert set(stored.current(wanted)) == {price for price in stored.current() if wanted.of_price(price)}
    assert set(stored.history(wanted)) == {price for price in CATALOG.prices if wanted.of_price(price)}
    assert bool(stored.current(wanted)) is (wanted != NOTHING)
    assert (len(stored.current(wanted)) == len(stored.current())) is (wanted == EVERYTHING)
