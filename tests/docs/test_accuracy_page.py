"""The figures of docs/accuracy.md and of the README stand in the tables that the benchmarks wrote."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.accuracy_tables import BEGIN, END, PAGE, headline, read_table

README = Path(__file__).parents[2] / "README.md"


def test_the_headline_is_the_one_of_the_tables():
    page = PAGE.read_text(encoding="utf-8")
    assert page.partition(BEGIN)[2].partition(END)[0].strip("\n") == headline()


def test_the_readme_quotes_the_tables():
    shown = re.findall(
        r"^\| ([^|]+) \| ([\d,]+) \| (\d+) / (\d+) \| (\d+) / (\d+) \|$", README.read_text(), re.MULTILINE
    )
    splits = {
        row["left_out"]: row for row in read_table("splits") if (row["network"], row["runs_known"]) == ("text", "0")
    }
    methods = {(row["left_out"], row["method"]): row for row in read_table("baselines") if row["network"] == "text"}
    every = {row["method"]: row for row in read_table("all_rows_baselines")}
    expected = [
        ("source, all published rows", str(sum(int(row["rows"]) for row in read_table("sources"))),
         *_two(every["planner"]), *_two(every["constant_mfu"])),
        *(
            (name, splits[split]["rows"], *_two(methods[split, "planner"]), *_two(methods[split, "constant_mfu"]))
            for name, split in (
                ("source, complete rows", "source"),
                ("accelerator generation", "family"),
                ("128 accelerators and more", "scale"),
            )
        ),
    ]  # fmt: skip
    assert [(name, rows.replace(",", ""), *figures) for name, rows, *figures in shown] == expected


def test_a_table_of_sources_counts_the_rows_of_the_headline():
    sources = read_table("sources")
    for every in read_table("all_rows"):
        rows = [row for row in sources if row["network"] == every["network"]]
        fitted, total = (sum(int(row[name]) for row in rows) for name in ("fitted_rows", "rows"))
        assert int(every["rows"]) == {"fitted": fitted, "all": total, "excluded": total - fitted}[every["rows_are"]]


def _two(row: dict[str, str]) -> tuple[str, str]:
    return row["mape_pct"], row["median_ape_pct"]
