"""Rows are told from their cells as they would be once built, and only what is used is checked."""

from __future__ import annotations

import pytest

from planner.adapters.price_file import as_csv, parse_prices
from planner.adapters.price_filter import EVERYTHING, NOTHING, PriceFilter
from planner.errors import InputError
from planner.model.prices.offer import PriceOrigin
from tests.bundled import bundled_catalog

CATALOG = bundled_catalog()
CARRIED = {node.id: node.accelerator for node in CATALOG.nodes.values()}
HEAD = "provider,instance_type,region,price_kind,usd_per_hour,source,as_of\n"


def read(text: str, wanted: PriceFilter) -> list[str]:
    rows = parse_prices(text, where="x.csv", origin=PriceOrigin.BUNDLED, wanted=wanted)
    return [f"{row.node} {row.region} {row.price_kind.value} {row.as_of} {row.source}" for _, row in rows]


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
def test_cells_and_built_rows_are_told_alike(wanted):
    kept = [price for price in CATALOG.prices if wanted.of_price(price)]
    everything = read(as_csv(CATALOG.prices), EVERYTHING)
    assert read(as_csv(CATALOG.prices), wanted) == read(as_csv(kept), EVERYTHING)
    assert (len(kept) == len(everything)) is (wanted == EVERYTHING)
    assert bool(kept) is (wanted != NOTHING)


DAMAGED = HEAD + "aws,a,any,on_demand,3.06,me,2026-11-01\naws,b,any,on_demand,$3.06,me,2026-11-01\n"


def test_a_damaged_row_stops_only_those_who_use_it():
    assert read(DAMAGED, PriceFilter(items=frozenset({"aws/a"}))) == ["aws/a any on_demand 2026-11-01 me"]
    with pytest.raises(InputError, match=r"x\.csv:3: usd_per_hour: has a currency sign \(found '\$3\.06'\)"):
        read(DAMAGED, PriceFilter(items=frozenset({"aws/b"})))


def test_a_row_with_too_few_cells_cannot_be_told_and_stops_everybody():
    with pytest.raises(InputError, match=r"x\.csv:3: has 3 cells, the header has 7"):
        read(HEAD + "aws,a,any,on_demand,3.06,me,2026-11-01\naws,b,any\n", PriceFilter(items=frozenset({"aws/a"})))
