"""Every option is a row, with every digit."""

from __future__ import annotations

import csv
import io

from planner.model.answer.documents import ComparisonDocument
from planner.present.facts import QUANTITIES
from planner.present.report.workbook import QUANTITY_COLUMNS, as_csv

PLAIN_COLUMNS = 36
"""Columns of the plan, its option, limits and chances, counted in the golden file."""


def test_the_csv_report(comparison: ComparisonDocument, golden) -> None:
    golden.check("report.csv", as_csv(comparison))


def test_csv_has_one_row_per_option_and_all_digits(comparison: ComparisonDocument) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(comparison))))
    assert [row["option"] for row in rows] == ["our-dgx", "cloud/8x:any:on_demand", "cloud/mystery"]
    assert len(rows[0]) == PLAIN_COLUMNS + len(QUANTITIES) * len(QUANTITY_COLUMNS)
    assert rows[1]["campaign_usd_value"] == "1966.4"
    assert rows[1]["campaign_usd_low"] == "983.2"
    assert rows[1]["usd_per_hour_as_of"] == "2026-11-01"
    assert rows[0]["recommended"] == "yes"


def test_csv_leaves_unknown_numbers_empty(comparison: ComparisonDocument) -> None:
    mystery = list(csv.DictReader(io.StringIO(as_csv(comparison))))[2]
    assert {mystery[f"campaign_usd_{column}"] for column in QUANTITY_COLUMNS} == {""}
    assert mystery["rank"] == ""


def test_csv_text_is_never_a_spreadsheet_formula(comparison: ComparisonDocument) -> None:
    assert next(csv.DictReader(io.StringIO(as_csv(comparison))))["notes"].startswith("'=")
