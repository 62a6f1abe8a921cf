"""The columns of the tables that people read, from a comparison written by hand."""

from __future__ import annotations

import pytest

from planner.model.answer.documents import ComparisonDocument
from planner.present.columns.registry import option_rows

COLUMNS = ["rank", "pareto", "campaign", "campaign cost", "price", "why not", "notes"]


@pytest.fixture
def rows(comparison: ComparisonDocument) -> list[dict[str, str]]:
    return option_rows(comparison)


def test_a_comparison_has_its_columns_in_order(rows):
    for row in rows:
        names = list(row)
        assert [name for name in names if name in COLUMNS] == COLUMNS


def test_a_row_says_value_range_and_basis(rows):
    owned, rented, unpriced = rows
    assert owned["campaign"] == "100.0 h (95.00-105.0, measured)"
    assert owned["campaign cost"].startswith("12.50 USD (10.00-15.00, assumed)")
    assert rented["price"] == "98.32 USD/h of 2026-11-01"
    assert rented["why not"] == "costs 1,966 USD, 966 USD over the budget"
    assert (unpriced["campaign cost"], unpriced["price"]) == ("-", "-")


def test_an_option_without_a_rank_has_none(rows):
    assert [row["rank"] for row in rows] == ["1", "2", "-"]
    assert [row["pareto"] for row in rows] == ["yes", "yes", ""]
