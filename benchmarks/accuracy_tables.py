"""Writes the tables of docs/accuracy/ (CSV, from the benchmarks), and from them those of docs/accuracy*.md."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1] / "docs"
PAGE, ALL_TABLES = DOCS / "accuracy.md", DOCS / "accuracy-tables.md"
FOLDER = DOCS / "accuracy"
WORST = 5
MARKS = "<!-- {}: begin -->", "<!-- {}: end -->"
FIGURES = {
    "mape_pct": 1, "median_ape_pct": 1, "p90_ape_pct": 1, "bias_pct": 1, "coverage_80_pct": 0, "coverage_90_pct": 0,
    "coverage_90_low_pct": 0, "coverage_90_high_pct": 0, "half_width_90_pct": 0,
}  # fmt: skip
"""Columns of several tables, with their decimals."""
SPLITS, PARTS, SOURCES, BASELINES, PEERS = "splits", "parts", "sources", "baselines", "peers"
CALIBRATED = "llm-analysis, calibrated per accelerator"

Row = Mapping[str, object]


def rounded(figures: Mapping[str, float | None], *, only: Collection[str] = FIGURES) -> dict[str, object]:
    """Return the figures of a table's row in the order of the columns. An unknown figure is an empty cell."""
    shown: dict[str, object] = {}
    for name, decimals in FIGURES.items():
        if name in figures and name in only:
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
    """Rewrite a table, but keep the rows of other networks and of splits that were not run.

    Rows with other columns belong to an older table and are removed.
    """
    path = FOLDER / f"{name}.csv"
    made = {row.get("left_out") for row in rows}
    kept = [
        row
        for row in (read_table(name) if path.exists() else [])
        if set(row) == set(rows[0]) and (row["network"] != network or row.get("left_out") not in made)
    ]
    write_table(name, sorted([*rows, *kept], key=lambda row: row["network"] != "text"))


def publish(tables: Mapping[str, Sequence[Row]], network: str, *, write: bool) -> None:
    """Print the tables of a network, and write them and the headline if asked for."""
    for name, rows in tables.items():
        print(name, *rows, sep="\n")
        if write and rows and "network" in rows[0]:
            replace_rows(name, rows, network=network)
        elif write:
            write_table(name, rows)
    if write:
        write_headline()


def write_headline() -> None:
    """Write the tables of both pages."""
    for path, tables in page_tables().items():
        page = path.read_text(encoding="utf-8")
        for name, table in tables.items():
            begin, end = (mark.format(name) for mark in MARKS)
            before, _, rest = page.partition(begin)
            page = f"{before}{begin}\n{table}\n{end}{rest.partition(end)[2]}"
        path.write_text(page, encoding="utf-8")


def page_tables() -> dict[Path, dict[str, str]]:
    """Return the tables of each page by the name in their marks."""
    return {
        PAGE: {"worst": worst_parts(), "errors": errors_table()},
        ALL_TABLES: {"parts": parts_table(), "headline": headline()},
    }


def worst_parts() -> str:
    """Return the parts with the lowest coverage, and the part with the best evidence."""
    rows = _parts()
    best_known = [row for row in rows if (row["network"], row["part"]) == ("text", "all stated, evidence near")]
    lines = [
        "| network | rows | runs known | rows of sources | by source in 90 % | half-width | error by source |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in [*rows[:WORST], *(row for row in best_known if row not in rows[:WORST])]:
        cells = [
            row["network"], row["part"], row["runs_known"], f"{int(row['rows']):,} of {row['sources']}",
            _over_sources(row), row["half_width_90_pct"], row["mape_pct_over_sources"],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def errors_table() -> str:
    """Return the errors of each split of text and of images, worst mean first, with those of a constant MFU."""
    mfu = _constant_mfu()
    lines = [
        "| network | held out | runs known | rows | planner | half-width | constant MFU |",
        "|---|---|---|---|---|---|---|",
    ]
    splits = [row for row in read_table(SPLITS) if row["rows_are"] == "fitted" or row["left_out"] == "source"]
    shown = [
        row for row in splits if row["runs_known"] == "0" or (row["left_out"], row["rows_are"]) == ("source", "fitted")
    ]
    for row in sorted(shown, key=lambda row: -float(row["mape_pct"])):
        other = mfu.get((row["network"], row["left_out"], row["rows_are"])) if row["runs_known"] == "0" else None
        cells = [
            row["network"], row["left_out"], row["runs_known"], f"{int(row['rows']):,} {row['rows_are']}", _three(row),
            row["half_width_90_pct"], _three(other),
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _parts() -> list[dict[str, str]]:
    return sorted(read_table(PARTS), key=lambda row: int(row["coverage_90_pct_over_sources"]))


def _constant_mfu() -> dict[tuple[str, str, str], dict[str, str]]:
    return {
        (row["network"], row["left_out"], row["rows_are"]): row
        for row in read_table(BASELINES)
        if row["method"] == "constant_mfu"
    }


def parts_table() -> str:
    """Return the coverage by stated settings and by distance of the evidence, worst coverage first."""
    lines = [
        "| network | rows | runs known | rows of sources | in 90 %, by row | by source | half-width | error by row | "
        "by source |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in _parts():
        cells = [
            row["network"], row["part"], row["runs_known"], f"{int(row['rows']):,} of {row['sources']}",
            row["coverage_90_pct"], _over_sources(row), row["half_width_90_pct"], row["mape_pct"],
            row["mape_pct_over_sources"],
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _over_sources(row: Mapping[str, str]) -> str:
    low, high = (row[f"coverage_90_{end}_pct_over_sources"] for end in ("low", "high"))
    return f"{row['coverage_90_pct_over_sources']} ({low} to {high})"


def headline() -> str:
    """Return the headline: every split, for fitted rows and for all rows."""
    mfu = _constant_mfu()
    peer = {
        row["left_out"]: row for row in read_table(PEERS) if (row["rows_are"], row["method"]) == ("all", CALIBRATED)
    }
    lines = [
        "| network | held out | runs known | rows | by row | by source | in 90 %, by row | by source | half-width | "
        "constant MFU | llm-analysis |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in read_table(SPLITS):
        first = row["runs_known"] == "0"
        text = row["network"] == "text" and row["rows_are"] == "fitted"
        others = (
            mfu.get((row["network"], row["left_out"], row["rows_are"])) if first else None,
            peer.get(row["left_out"]) if first and text else None,
        )
        lines.append(_line(row, others))
    return "\n".join(lines)


def _line(row: Mapping[str, str], others: Iterable[Mapping[str, str] | None]) -> str:
    cells = [
        row["network"], row["left_out"], row["runs_known"],
        f"{int(row['rows']):,} {row['rows_are']} of {row['sources']}", _three(row), row["mape_pct_over_sources"],
        row["coverage_90_pct"], _over_sources(row), row["half_width_90_pct"],
        *(_three(other) for other in others),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def _three(row: Mapping[str, str] | None) -> str:
    names = ("mape_pct", "median_ape_pct", "p90_ape_pct")
    return "" if row is None else " / ".join(row[name] for name in names)


def three(figures: Mapping[str, Any], decimals: int) -> dict[str, object]:
    """Return mean, median and 90th percentile of the absolute error of a method without ranges."""
    return {name: f"{figures[name]:.{decimals}f}" for name in ("mape_pct", "median_ape_pct", "p90_ape_pct")}
