"""The workbook as another library reads it: plain tables, numbers as numbers, no text a formula."""

from __future__ import annotations

import io
import math
from datetime import datetime
from typing import Any

import openpyxl
import pytest

from planner.model.answer.bill import CreditUsed
from planner.model.answer.documents import ComparisonDocument
from planner.present.report.workbook import BILL_COLUMNS, LONGEST, QUANTITY_COLUMNS, as_workbook
from tests.present.conftest import advice, report_of


def opened(comparison: ComparisonDocument, language: str = "en", **more: Any) -> Any:
    return openpyxl.load_workbook(io.BytesIO(as_workbook(report_of(comparison, language, **more))))


def rows(sheet: Any) -> list[dict[str, Any]]:
    head, *others = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in others]


def test_it_has_the_answer_and_three_plain_tables(comparison: ComparisonDocument) -> None:
    book = opened(comparison)
    assert book.sheetnames == ["Answer", "Inputs", "Options", "Bill lines"]
    assert [cell.value for cell in book["Answer"][1][:2]] == ["Question", comparison.plan]


def test_the_sheets_have_korean_names(comparison: ComparisonDocument) -> None:
    assert opened(comparison, "ko").sheetnames == ["답", "입력", "선택지", "청구 항목"]


def test_options_hold_numbers_days_and_ids(comparison: ComparisonDocument) -> None:
    owned, rented, unpriced = rows(opened(comparison)["Options"])
    assert len(owned) == 36 + 20 * len(QUANTITY_COLUMNS)
    assert (owned["option"], owned["recommended"]) == ("our-dgx", True)
    assert owned["finish"] == datetime(2026, 11, 26)
    assert (rented["campaign_usd_value"], rented["campaign_usd_low"]) == (1966.4, 983.2)
    assert unpriced["campaign_usd_value"] is None


def test_bill_lines_add_up_to_the_bill(comparison: ComparisonDocument) -> None:
    lines = rows(opened(comparison)["Bill lines"])
    assert set(lines[0]) == set(BILL_COLUMNS)
    assert [line["line"] for line in lines] == ["compute", "provisioning and set-up", "upload"]
    assert sum(line["usd"] for line in lines) == pytest.approx(1966.40)  # 1,946.40 + 20.00 + 0
    assert {line["local_currency"] for line in lines} == {"KRW"}


def test_credits_are_lines_that_are_taken_off(comparison: ComparisonDocument) -> None:
    rented = comparison.options[1]
    credit = CreditUsed(name="grant", usd=966.40, source="a letter")
    bill = rented.bill.model_copy(update={"credits": (credit,), "usd_to_pay": 1000.0})
    options = (rented.model_copy(update={"bill": bill}),)
    lines = rows(opened(comparison.model_copy(update={"options": options}))["Bill lines"])
    assert lines[-1]["line"] == "credits: grant"
    assert sum(line["usd"] for line in lines) == pytest.approx(1000.0)


def test_inputs_hold_limits_and_assumptions(comparison: ComparisonDocument) -> None:
    inputs = {row["input"]: row for row in rows(opened(comparison)["Inputs"])}
    assert inputs["trainings"]["value"] == 10
    assert inputs["budget"]["value"] == 1000
    assert (inputs["electricity"]["value"], inputs["electricity"]["unit"]) == (0.125, "USD/kWh")


def test_no_text_is_a_formula_or_a_link(comparison: ComparisonDocument) -> None:
    evil = ("=1+1", '=HYPERLINK("http://x")', "@SUM(A1)", "+1", "https://example.org/x", "{=1}")
    for text in evil:
        owned = comparison.options[0].model_copy(update={"notes": (text,), "display_name": text, "id": text})
        book = opened(comparison.model_copy(update={"plan": text, "options": (owned,)}))
        cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
        assert text in [cell.value for cell in cells]
        assert {cell.data_type for cell in cells} <= {"s", "n", "d", "b"}
        assert not [cell for cell in cells if cell.hyperlink]


def test_what_no_cell_can_hold_is_shortened_or_left_out(comparison: ComparisonDocument) -> None:
    owned = comparison.options[0]
    wild = owned.model_copy(
        update={
            "notes": ("x" * 40_000,),
            "doubts": ("a\x00b\x1b\ud800",),
            "campaign_usd": owned.campaign_usd.model_copy(update={"high": math.inf}),
        }
    )
    (row,) = rows(opened(comparison.model_copy(update={"options": (wild,)}))["Options"])
    assert len(row["notes"]) == LONGEST
    assert row["doubts"] == "a\\x00b\\x1b\\ud800"
    assert row["campaign_usd_high"] is None


def test_what_would_change_the_answer_stands_with_its_command(comparison: ComparisonDocument) -> None:
    sheet = opened(comparison, advice=advice())["Answer"]
    assert "planner launch cpu-smoke" in [row[2] for row in sheet.iter_rows(values_only=True)]
