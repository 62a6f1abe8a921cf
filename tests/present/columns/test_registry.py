"""One entry of the registry is a column everywhere: on screens, in files, pages, sheets and frames, and in the app."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace

import openpyxl
import pytest

from planner.api import Comparison
from planner.cli.main import run
from planner.errors import NotFoundError
from planner.mcp_server.plan_rows import comparison_answer
from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Basis, Quantity, Unit
from planner.present.answer_screen import comparison_screen, screen_lines
from planner.present.columns.entry import entries_of
from planner.present.columns.registry import COLUMNS, LAYOUTS, MORE, asked_columns, columns_of, not_known, option_rows
from planner.present.columns.table_column import OptionColumn, OptionTable
from planner.present.columns.written_columns import WRITTEN
from planner.present.notebook import screen_html
from planner.present.page.answer import AnswerPage
from planner.present.page.words import Words
from planner.present.report.markdown_file import as_markdown
from planner.present.report.report import Report, as_html
from planner.present.report.workbook import as_csv, as_workbook
from planner.present.table import WRITERS

AMOUNT = Quantity(value=7321, low=6000, high=9000, unit=Unit.KWH, basis=Basis.MODELLED, source="a toy's formula")
TOYS = {
    "quantity": OptionColumn(key="toy", title="toy kWh", quantity=True, value=lambda _: AMOUNT),
    "text": OptionColumn(key="toy", title="toy kWh", value=lambda entry: f"7321 of {entry.option.id}"),
    "share": OptionColumn(key="toy", title="toy kWh", share=True, value=lambda _: 0.7321),
}
"""A whole column, of each kind of value, is one entry."""
WRITTEN_AS = {
    "quantity": ("7,321", "7,320", "7321"),
    "text": ("7321 of our-dgx",),
    "share": ("73 %", "0.7321"),
}
"""People read three digits and percent; files hold all digits."""


@pytest.fixture(params=list(TOYS))
def toy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(COLUMNS, "toy", TOYS[request.param])
    return request.param


def _rows_as(form: str) -> Callable[[ComparisonDocument, tuple[str, ...]], str]:
    return lambda document, more: WRITERS[form](option_rows(document, more))


def _screen(document: ComparisonDocument, more: tuple[str, ...]) -> str:
    screen = replace(comparison_screen(document, plan=None), more=more)
    return "\n".join(screen_lines(screen, width=160, whole=True))


def _notebook(document: ComparisonDocument, more: tuple[str, ...]) -> str:
    return screen_html(replace(comparison_screen(document, plan=None), more=more))


def _report(document: ComparisonDocument, more: tuple[str, ...]) -> Report:
    page = AnswerPage(document, Words(), _day(document), more)
    return Report(document, page.words, page.start, page.start, None, more)


def _day(document: ComparisonDocument):
    return document.options[0].finish


def _workbook(document: ComparisonDocument, more: tuple[str, ...]) -> str:
    book = openpyxl.load_workbook(io.BytesIO(as_workbook(_report(document, more))))
    return "\n".join(str(cell) for row in book["Options"].iter_rows(values_only=True) for cell in row)


FORMATS: dict[str, Callable[[ComparisonDocument, tuple[str, ...]], str]] = {
    "screen": _screen,
    "notebook": _notebook,
    "tsv": _rows_as("tsv"),
    "csv": _rows_as("csv"),
    "markdown": _rows_as("md"),
    "report in Markdown": lambda document, more: as_markdown(_report(document, more)),
    "report in HTML": lambda document, more: as_html(_report(document, more)),
    "report as CSV": as_csv,
    "workbook": _workbook,
    "app": lambda document, more: AnswerPage(document, Words(), _day(document), more).rows_html(),
    "agent": lambda document, more: str(comparison_answer(document, more=more).rows),
    "frame": lambda document, more: Comparison(document).to_frame(columns=",".join(more)).to_csv(),
}


@pytest.mark.parametrize("form", list(FORMATS))
def test_one_entry_is_a_column_in_every_format(form: str, toy: str, comparison: ComparisonDocument) -> None:
    without, text = FORMATS[form](comparison, ()), FORMATS[form](comparison, ("toy",))
    assert "toy" not in without
    assert "toy" in text
    assert any(written in text for written in WRITTEN_AS[toy])
    assert not any(written in without for written in WRITTEN_AS[toy])


def test_a_page_says_its_title_and_its_range(comparison: ComparisonDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COLUMNS, "toy", TOYS["quantity"])
    text = FORMATS["app"](comparison, ("toy",))
    assert "toy kWh (90 %)" in text
    assert "6,000-9,000" in text


def test_a_page_makes_room_for_what_it_adds_alone(comparison: ComparisonDocument) -> None:
    text = FORMATS["app"](comparison, ("done_by", "energy_kwh"))
    assert "--more: repeat(1, " in text
    assert "--more" not in FORMATS["app"](comparison, ("done_by",))


def test_a_screen_that_is_too_narrow_leaves_its_range_out_first(
    comparison: ComparisonDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(COLUMNS, "toy", TOYS["quantity"])
    screen = replace(comparison_screen(comparison, plan=None), more=("toy",))
    narrow = screen_lines(screen, width=90, whole=True)
    assert any("toy kWh" in line for line in narrow)
    assert not any("6,000" in line for line in narrow)
    assert max(map(len, narrow)) <= 90


def test_every_layout_names_columns_once_and_says_where_others_stand() -> None:
    assert len({column.key for column in WRITTEN}) == len(WRITTEN)
    for layout in LAYOUTS.values():
        assert layout.count(MORE) == 1
        assert len(set(layout)) == len(layout)
        assert set(layout) - {MORE} <= set(COLUMNS)


def test_every_field_of_an_option_that_fits_a_cell_is_a_column(comparison: ComparisonDocument) -> None:
    assert {"bill", "network", "reasons", "between_turns"} & set(COLUMNS) == set()
    assert {"availability", "split", "micro_batch", "lead_days", "doubts", "quota"} <= set(COLUMNS)
    frame = Comparison(comparison).to_frame(all=True)
    known = {name for name in RankedOption.model_fields if name in frame}
    assert known <= set(COLUMNS)


def test_what_stands_in_a_table_is_not_added_again() -> None:
    usual = columns_of(OptionTable.COMPARISON)
    assert columns_of(OptionTable.COMPARISON, ("price", "price")) == usual
    assert [column.key for column in columns_of(OptionTable.COMPARISON, ("fits", "fits"))][-1] == "fits"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param(None, (), id="none"),
        pytest.param("+co2", ("carbon_kg",), id="a shorter name"),
        pytest.param(" +co2 , energy-kwh,", ("carbon_kg", "energy_kwh"), id="blanks and hyphens"),
    ],
)
def test_columns_are_asked_for_by_name(text: str | None, keys: tuple[str, ...]) -> None:
    assert asked_columns(text) == keys


def test_a_name_that_no_column_has_is_an_error_with_the_nearest() -> None:
    with pytest.raises(NotFoundError, match="no column 'energy_kw'") as raised:
        asked_columns("+energy_kw")
    assert "energy_kwh" in raised.value.fix


def test_a_column_without_values_says_what_would_have_to_be_stated(comparison: ComparisonDocument) -> None:
    (line,) = not_known(entries_of(comparison), ("carbon_kg",))
    assert line == "No option has 'kg CO2 a training': the plan states no assumptions.carbon_kg_per_kwh."
    assert not list(not_known(entries_of(comparison), ("energy_kwh",)))


PLAN = {
    "schema_version": 1,
    "name": "with its carbon",
    "workload": {"measured": "seed-000-dgx-station-v100"},
    "work": {"epochs": 2, "samples_per_epoch": 3600},
    "assumptions": {"carbon_kg_per_kwh": 0.4, "pue": 1.5},
    "options": [
        {
            "site": "dgx-station-v100",
            "power_kw": 1.0,
            "step": {"batch": 8, "seconds": 2.0, "basis": "measured", "source": "by hand"},
        }
    ],
}
"""7,200 samples at 4 a second are 0.5 h; 0.5 h x 1 kW x PUE 1.5 x 0.4 kg/kWh = 0.3 kg."""


@pytest.mark.parametrize("command", ["estimate", "compare", "campaign"])
def test_emissions_are_energy_times_pue_times_the_stated_factor(command: str, tmp_path, capsys) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(PLAN))
    assert run([command, str(plan), "--columns", "+co2", "--format", "csv"]) == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    value, unit, *_ = row["kg CO2 a training"].split()
    assert float(value) == pytest.approx(0.3, rel=2e-3)  # interruptions add less than a thousandth
    assert unit == "kgCO2e"
    assert run([command, str(plan)]) == 0
    assert "CO2" not in capsys.readouterr().out


def test_a_wrong_column_is_refused_before_anything_is_read(capsys) -> None:
    assert run(["compare", "no such plan.yaml", "--columns", "+carbn"]) == 2
    assert "--columns: there is no column 'carbn'." in capsys.readouterr().err
