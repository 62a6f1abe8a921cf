"""One suite over every bundled price row: positive, sourced, dated, known, joined, and of a size that can be true."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from planner.adapters.price_file import COLUMNS, as_csv, parse_prices
from planner.adapters.workspace import catalogs_dir
from planner.cost.cloud.price_level import usd_per_accelerator_hour
from planner.model.hardware.machines import ClusterSale
from planner.model.prices.offer import Price, PriceKind, PriceOrigin
from tests.bundled import bundled_catalog
from tests.every_row import every

CATALOG = bundled_catalog()
PATHS = sorted((catalogs_dir() / "prices").glob("*.csv"))


def rows_of(path: Path) -> list[tuple[int, Price]]:
    """Return the rows of a table, each with its line."""
    return parse_prices(path.read_text(encoding="utf-8"), where=path.name, origin=PriceOrigin.BUNDLED)


ROWS = [(f"{path.name}:{line}", row) for path in PATHS for line, row in rows_of(path)]
TODAY = date(2026, 11, 27)


def broken(rule):
    """Return the places of the rows that break a rule."""
    return [f"{place} {row.node} {row.region} {row.price_kind}" for place, row in ROWS if not rule(row)]


def amount(row: Price) -> float | None:
    return row.usd_per_million_tokens if hosted(row) else row.usd_per_hour


def hosted(row: Price) -> bool:
    return row.price_kind is PriceKind.HOSTED_TRAINING


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(lambda row: amount(row) is None or amount(row) > 0, id="positive"),
        pytest.param(lambda row: (amount(row) is None) == bool(row.no_price_reason), id="a price or a reason"),
        pytest.param(lambda row: len(row.source) > 5 and row.source_version, id="sourced"),
        pytest.param(lambda row: date(2024, 1, 1) <= row.as_of <= row.fetched_at <= TODAY, id="dated"),
        pytest.param(lambda row: row.currency == "USD", id="known unit"),
        pytest.param(lambda row: row.origin is PriceOrigin.BUNDLED, id="bundled"),
        pytest.param(lambda row: (row.node in CATALOG.nodes) is not hosted(row), id="its instance exists"),
        pytest.param(
            lambda row: hosted(row) or CATALOG.nodes[row.node].accelerator in CATALOG.accelerators,
            id="its card exists",
        ),
        pytest.param(
            lambda row: not hosted(row) or 0.05 < row.usd_per_million_tokens < 100,
            id="a million tokens cost 5 cents to 100 USD",
        ),
        pytest.param(
            lambda row: row.usd_per_hour is None or 0.02 < usd_per_accelerator_hour(row, CATALOG.nodes) < 20,
            id="an hour of one accelerator costs 2 cents to 20 USD",
        ),
        pytest.param(
            lambda row: row.price_kind is not PriceKind.SPOT or not row.usd_per_hour or row.high_usd_per_hour,
            id="spot says how high it can go",
        ),
        pytest.param(
            lambda row: (
                row.price_kind is not PriceKind.CAPACITY_BLOCK
                or (row.minimum_hours, row.upfront_fraction, row.billing_granularity_s) == (24, 1, 86400)
            ),
            id="a block is bought by the day, ahead",
        ),
        pytest.param(
            lambda row: (
                row.price_kind is PriceKind.CAPACITY_BLOCK
                or (row.minimum_hours < 1 and not row.upfront_fraction)
                or CATALOG.nodes[row.node].clusters is ClusterSale.RESERVED
            ),
            id="nothing but blocks and reserved clusters is paid ahead",
        ),
    ],
)
def test_every_row_is(rule):
    assert broken(rule) == []


def test_the_files_hold_what_the_project_says_they_hold():
    assert len(PATHS) >= 28
    assert len(ROWS) > 500
    assert sum(row.usd_per_hour is not None for _, row in ROWS) > 500


def test_no_price_stands_twice_on_one_day():
    keys = Counter((row.node, row.region, row.zone, row.price_kind, row.as_of) for _, row in ROWS)
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_file_has_its_provider_s_name_and_all_columns():
    for path in PATHS:
        rows = [row for _, row in rows_of(path)]
        assert {row.provider for row in rows} == {path.stem}
        assert path.read_text(encoding="utf-8") == as_csv(rows), "written as the planner writes it"
        assert path.read_text(encoding="utf-8").splitlines()[0] == ",".join(COLUMNS)


def test_more_accelerators_of_one_source_never_cost_less_each_by_more_than_a_third_or_double():
    """Per-instance and per-accelerator prices of one list belong together: larger shapes hardly change the rate."""
    rates = defaultdict(list)
    for place, row in ROWS:
        if (
            row.usd_per_hour is not None
            and row.price_kind is PriceKind.ON_DEMAND
            and row.provider in {"lambda", "nebius"}
        ):
            node = CATALOG.nodes[row.node]
            rates[row.provider, node.accelerator, row.source, row.as_of].append((node.accelerators, place, row))
    pairs = [pair for found in rates.values() for pair in pairwise(sorted(found, key=lambda item: item[0]))]
    assert len(pairs) > 5
    for (few, _, small), (many, place, large) in pairs:
        assert 2 / 3 < (large.usd_per_hour / many) / (small.usd_per_hour / few) < 1.5, place


def test_spot_is_never_above_the_on_demand_price_of_the_same_day_and_place():
    on_demand = {
        (row.node, row.region, row.as_of): row.usd_per_hour
        for _, row in ROWS
        if row.price_kind is PriceKind.ON_DEMAND and row.usd_per_hour
    }
    above = [
        place
        for place, row in ROWS
        if row.price_kind is PriceKind.SPOT
        and row.usd_per_hour
        and row.usd_per_hour > on_demand.get((row.node, row.region, row.as_of), row.usd_per_hour)
    ]
    assert above == []


@every(CATALOG.accelerators.items())
def test_a_peak_is_dense_for_its_generation(accelerator):
    """Each halving of the width doubles the rate, so one sparse figure among dense ones shows as a factor of 1 or 4."""
    half, eighth = accelerator.bf16_tflops, accelerator.fp8_tflops
    if half is not None and eighth is not None and accelerator.vendor in {"NVIDIA", "AMD"}:
        assert eighth / half == pytest.approx(2, rel=0.02), accelerator.trap
    if accelerator.tf32_tflops is not None and half is not None and accelerator.vendor == "NVIDIA":
        assert half / accelerator.tf32_tflops == pytest.approx(2, rel=0.02)


SPARSE = {
    "H100-SXM": 1979, "H100-PCIe": 1513, "H100-NVL": 1671, "H200-SXM": 1979, "H200-NVL": 1671, "B200-SXM": 4500,
    "A100-40GB-SXM": 624, "A100-80GB-PCIe": 624, "A30": 330, "A40": 299.4, "L4": 242, "L40": 362, "L40S": 733,
    "RTX-A6000": 309.7, "RTX-A4000": 153.4, "MI300X": 2614, "MI350X": 4614, "MI355X": 5033,
}  # fmt: skip
"""Largest 16-bit figures of the data sheets: with sparsity."""


@pytest.mark.parametrize(("accelerator", "sparse_tflops"), SPARSE.items())
def test_a_16_bit_peak_is_half_the_sparse_figure_of_the_data_sheet(accelerator, sparse_tflops):
    assert CATALOG.accelerators[accelerator].bf16_tflops == pytest.approx(sparse_tflops / 2, rel=0.02)
