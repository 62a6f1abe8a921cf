"""`planner report`: a file for each ending, the language, the appendix, a frozen answer, and what cannot be written."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from planner.adapters import pdf_printer
from planner.adapters.workspace import examples_dir
from tests.cli.refusals import one_error

PAGES_OF_A_REPORT = 2
CHROMIUM = next((path for name in pdf_printer.BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture
def two(reports_once, changed) -> Path:
    """Return a plan of two options of an example, whose report is computed once for all tests."""
    return Path(changed("campaign_mix", only=[0, 2]).name)


@pytest.mark.parametrize(
    ("ending", "begins"),
    [
        ("html", b"<!DOCTYPE html>"), ("htm", b"<!DOCTYPE html>"), ("md", b"# "), ("csv", b"plan,"), ("json", b"{"),
        ("xlsx", b"PK"), ("HTML", b"<!DOCTYPE html>"),
    ],
)  # fmt: skip
def test_every_ending_is_written(planner, two, tmp_path, ending: str, begins: bytes) -> None:
    out = tmp_path / f"report.{ending}"
    answer = planner("report", two, "--out", out)
    assert (answer.code, answer.out) == (0, "")
    assert out.read_bytes().startswith(begins)


def test_json_is_both_answers(planner, two, tmp_path) -> None:
    out = tmp_path / "report.json"
    planner("report", two, "--out", out)
    said = json.loads(out.read_text())
    compared = json.loads(planner("compare", two, "--json").out)
    assert (said["schema_version"], said["kind"]) == (1, "report")
    assert said["comparison"] == compared
    assert said["recommendation"]["headline"] == compared["headline"]
    assert said["recommendation"]["turning_points"]


@pytest.mark.slow
def test_the_pages_say_what_compare_says_and_what_would_change_it(planner, two) -> None:
    text = planner("report", two).out
    for sentence in json.loads(planner("compare", two, "--json").out)["headline"]:
        assert sentence in text
    for point in json.loads(planner("recommend", two, "--json").out)["turning_points"][:3]:
        assert point["sentence"] in text


def test_korean(planner, two, tmp_path) -> None:
    out = tmp_path / "report.html"
    planner("report", two, "--out", out, "--lang", "ko")
    text = out.read_text(encoding="utf-8")
    assert '<html lang="ko">' in text
    assert "답을 바꿀 수 있는 것" in text


def test_the_workbook_of_an_example_holds_its_bills(planner, two, tmp_path) -> None:
    out = tmp_path / "report.xlsx"
    planner("report", two, "--out", out)
    head, *lines = openpyxl.load_workbook(out)["Bill lines"].iter_rows(values_only=True)
    usd, option = head.index("usd"), head.index("option")
    for row in json.loads(planner("compare", two, "--json").out)["options"]:
        paid = sum(line[usd] for line in lines if line[option] == row["id"])
        assert paid == pytest.approx(row["bill"]["usd_total"]["value"], abs=0.01)


@pytest.mark.slow
def test_a_frozen_answer_is_reported_as_of_its_day(planner, two, tmp_path, monkeypatch) -> None:
    assert planner("estimate", two, "--freeze").code == 0
    first = planner("report", two).out
    monkeypatch.setattr("planner.clock.today", lambda: pytest.fail("a frozen answer asks no clock"))
    assert planner("report", two, "--locked").out == first


@pytest.mark.parametrize(
    ("more", "wrong"),
    [
        pytest.param(("--out", "report.docx"), "report.docx: a report is written as", id="ending"),
        pytest.param(("--out", "report"), "report: a report is written as", id="none"),
        pytest.param(("--lang", "fr"), "--lang fr is not known", id="language"),
        pytest.param(("--out", "no/such/folder/report.html"), "cannot be written", id="folder"),
    ],
)
def test_what_cannot_be_written_is_one_error(planner, two, more, wrong) -> None:
    one_error(planner("report", two, *more), wrong)


def test_without_a_browser_a_pdf_is_one_error(planner, two, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pdf_printer, "_browser", lambda: None)
    answer = planner("report", two, "--out", tmp_path / "report.pdf")
    one_error(answer, "A PDF is printed by Chromium or Chrome, and neither is installed here.")
    assert "print that from a browser" in answer.err
    assert not (tmp_path / "report.pdf").exists()


def test_a_browser_that_prints_nothing_is_one_error(planner, two, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pdf_printer, "_browser", lambda: "/bin/false")
    one_error(planner("report", two, "--out", tmp_path / "r.pdf"), "printed nothing and ended with code 1")


def test_a_browser_that_does_not_end_is_one_error(planner, two, tmp_path, monkeypatch) -> None:
    def late(command: list[str], **_: Any) -> None:
        raise subprocess.TimeoutExpired(command, 120)

    monkeypatch.setattr(pdf_printer, "_browser", lambda: "/bin/true")
    monkeypatch.setattr(subprocess, "run", late)
    one_error(planner("report", two, "--out", tmp_path / "r.pdf"), "printed nothing: TimeoutExpired")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("name", sorted(path.stem for path in examples_dir().glob("*.yaml")))
def test_the_report_of_an_example_prints_on_two_pages(planner, example, tmp_path, name: str, language: str) -> None:
    out = tmp_path / "report.pdf"
    assert planner("report", example(name), "--out", out, "--lang", language).code == 0
    assert out.read_bytes().count(b"/Type /Page\n") == PAGES_OF_A_REPORT


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
def test_the_appendix_is_printed_where_it_is_asked_for(planner, two, tmp_path) -> None:
    out = tmp_path / "report.pdf"
    assert planner("report", two, "--out", out, "--appendix").code == 0
    assert out.read_bytes().count(b"/Type /Page\n") > PAGES_OF_A_REPORT
