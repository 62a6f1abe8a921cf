"""The tables in docs/accuracy/ (CSV, written by the benchmarks), and the headline of docs/accuracy.md made of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
FOLDER = PAGE.with_suffix("")
BEGIN, END = "<!-- headline: begin -->", "<!-- headline: end -->"
FIGURES = {
    "mape_pct": 1, "median_ape_pct": 1, "p90_ape_pct": 1, "bias_pct": 1, "mape_over_sources_pct": 1,
    "coverage_80_pct": 0, "coverage_90_pct": 0, "half_width_90_pct": 0,
}  # fmt: skip
"""Columns that stand in several tables, with the decimals that are kept."""
ALL_ROWS, SPLITS, BASELINES, PEERS = "all_rows", "splits", "baselines", "peers"
CALIBRATED = "llm-analysis, calibrated per accelerator"

Row = Mapping[str, object]


def rounded(figures: Mapping[str, float | None]) -> dict[str, object]:
    """Return the figures of a table's row, in the order of the columns; an unknown one is an empty cell."""
    shown: dict[str, object] = {}
    for name, decimals in FIGURES.items():
        if name in figures:
            value = figures[name]
            shown[name] = "" if value is None else f"{value:.{decimals}f}"
    return shown


def write_table(name: str, rows: Sequence[Row]) -> None:
    """Write a table with the columns of its first row."""
    FOLDER.mkdir(exist_ok=True)
    with (FOLDER / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_table(name: str) -> list[dict[str, str]]:
    """Read a table that a benchmark wrote."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def replace_rows(name: str, rows: Sequence[Row], *, network: str) -> None:
    """Write a table anew, except for the rows of other networks: text and images are scored apart."""
    path = FOLDER / f"{name}.csv"
    kept = [row for row in read_table(name) if row["network"] != network] if path.exists() else []
    write_table(name, sorted([*kept, *rows], key=lambda row: row["network"] != "text"))


def write_headline() -> None:
    """Write the headline into the page."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{headline()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def headline() -> str:
    """Return the headline: every split, and below the first one the same with the rows that calibrate nothing."""
    constant_mfu = {
        (row["network"], row["left_out"]): row for row in read_table(BASELINES) if row["method"] == "constant_mfu"
    }
    peer = {
        row["left_out"]: row for row in read_table(PEERS) if (row["rows_are"], row["method"]) == ("all", CALIBRATED)
    }
    lines = [
        "| network | held out | runs known | rows | planner | in 90 % | half-width | constant MFU | llm-analysis |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in read_table(SPLITS):
        first = row["runs_known"] == "0"
        others = (
            constant_mfu.get((row["network"], row["left_out"])) if first else None,
            peer.get(row["left_out"]) if first and row["network"] == "text" else None,
        )
        lines.append(_line(row, row["left_out"], row["runs_known"], others))
        if (row["left_out"], row["runs_known"]) == ("source", "0"):
            lines += [
                _line(every, f"source, {every['rows_are']} rows", "0", (None, None))
                for every in read_table(ALL_ROWS)
                if every["network"] == row["network"] and every["rows_are"] != "fitted"
            ]
    return "\n".join(lines)


def _line(row: Mapping[str, str], held_out: str, known: str, others: Iterable[Mapping[str, str] | None]) -> str:
    cells = [
        row["network"], held_out, known, f"{int(row['rows']):,}", _three(row), row["coverage_90_pct"],
        row["half_width_90_pct"], *(_three(other) for other in others),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _three(row: Mapping[str, str] | None) -> str:
    names = ("mape_pct", "median_ape_pct", "p90_ape_pct")
    return "" if row is None else " / ".join(row[name] for name in names)


def three(figures: Mapping[str, Any], decimals: int) -> dict[str, object]:
    """Return mean, median and 90th percentile of the absolute error, of a method that gives no range."""
    return {name: f"{figures[name]:.{decimals}f}" for name in ("mape_pct", "median_ape_pct", "p90_ape_pct")}
