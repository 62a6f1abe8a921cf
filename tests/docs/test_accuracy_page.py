"""The figures of docs/accuracy*.md and of the README stand in the tables that the benchmarks wrote."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.accuracy_tables import MARKS, page_tables, read_table

README = Path(__file__).parents[2] / "README.md"


def test_the_tables_of_the_pages_are_those_that_the_benchmarks_wrote():
    for path, tables in page_tables().items():
        page = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = (mark.format(name) for mark in MARKS)
            assert page.partition(begin)[2].partition(end)[0].strip("\n") == table, name


def test_the_readme_quotes_the_tables():
    shown = re.findall(
        r"^\| ([^|]+) \| ([\d,]+) \| (\d+) / (\d+) \| (\d+) / (\d+) \|$", README.read_text(), re.MULTILINE
    )
    rows = {
        (row["left_out"], row["rows_are"]): row["rows"]
        for row in read_table("splits")
        if (row["network"], row["runs_known"]) == ("text", "0")
    }
    methods = {
        (row["left_out"], row["rows_are"], row["method"]): row
        for row in read_table("baselines")
        if row["network"] == "text"
    }
    expected = [
        (name, rows[key], *_two(methods[*key, "planner"]), *_two(methods[*key, "constant_mfu"]))
        for name, key in (
            ("source, all published rows", ("source", "all")),
            ("source, complete rows", ("source", "fitted")),
            ("accelerator generation", ("family", "fitted")),
            ("128 accelerators and more", ("scale", "fitted")),
        )
    ]
    assert [(name, rows.replace(",", ""), *figures) for name, rows, *figures in shown] == expected


def test_a_table_of_sources_counts_the_rows_of_the_headline():
    sources = read_table("sources")
    splits = [row for row in read_table("splits") if (row["left_out"], row["runs_known"]) == ("source", "0")]
    for split in splits:
        rows = [row for row in sources if row["network"] == split["network"]]
        column = {"fitted": "fitted_rows", "all": "rows"}[split["rows_are"]]
        assert int(split["rows"]) == sum(int(row[column]) for row in rows)
        assert int(split["sources"]) == sum(int(row[column]) > 0 for row in rows)


def _two(row: dict[str, str]) -> tuple[str, str]:
    return row["mape_pct"], row["median_ape_pct"]
