"""Writes the report as Markdown: first the recommendation with its basis, then every number."""

from __future__ import annotations

from planner.model.answer.documents import Assumption
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Quantity
from planner.present.bills import bill_rows, coverage_text
from planner.present.columns.entry import entries_of
from planner.present.columns.registry import columns_of
from planner.present.columns.table_column import OptionTable
from planner.present.facts import (
    date_text,
    interval_text,
    known,
    name_text,
    not_known,
    trainings_text,
    value_text,
    verdict_text,
)
from planner.present.page.words import Words
from planner.present.report.report import Report
from planner.present.time_table import time_facts, time_rows
from planner.text import markdown_text
from planner.text.markdown_text import inline

Row = dict[str, str]


def as_markdown(report: Report) -> str:
    """Write the whole answer."""
    document, words = report.document, report.words
    parts = [
        f"# {inline(document.plan)}",
        " ".join(markdown_text.line(sentence) for sentence in report.sentences()),
        markdown_text.line(report.limits()),
        _heading(2, words("Options")),
        _table(_options(report), words),
        _heading(2, words("What would change this")),
        _changes(report),
    ]
    if report.prices():
        parts += [_heading(2, words("Prices")), _table(_prices(report), words)]
    parts += [_heading(2, words("What was assumed"))]
    parts += [_table([_assumption(item, words) for item in document.assumptions], words)]
    parts += [_heading(2, words("How to read this")), _bullets([*report.notes(), *report.reading()])]
    parts += [_heading(2, words("Every number"))]
    for option in document.options:
        parts += _section(option, report)
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _options(report: Report) -> list[Row]:
    table = OptionTable.REPORT
    columns = columns_of(table, report.more)
    return [
        {column.head(table): column.cell_translated(entry, report.words) for column in columns}
        for entry in entries_of(report.document)
    ]


def _changes(report: Report) -> str:
    turns = report.changes()
    if not turns and report.advice is None:
        return report.words("Not looked at.")
    if not turns:
        return report.words(
            "Nothing that was tried within a factor of 5 turns the answer, and no measurement is worth its cost."
        )
    return "\n".join(
        f"- {markdown_text.line(turn.sentence)}" + (f" `{turn.command}`" if turn.command else "") for turn in turns
    )


def _prices(report: Report) -> list[Row]:
    stale = report.words("stale")
    return [
        {
            "Machine": line.name,
            "Terms": line.terms,
            "Price": line.price + (f" ({report.words('list {usd}', usd=line.listed)})" if line.listed else ""),
            "As of": line.day + (f", {stale}" if line.stale else ""),
            "Source": line.source,
        }
        for line in report.prices()
    ]


def _section(option: RankedOption, report: Report) -> list[str]:
    words = report.words
    rows = [{"what": words(name)} | _quantity(quantity, words) for name, quantity in known(option)]
    parts = [
        f"### {inline(name_text(option))} ({inline(option.id)})",
        markdown_text.line(verdict_text(option, recommended=report.document.recommended)),
        _table(rows, words),
    ]
    if option.time is not None:
        parts += [words("Where the hours of one training go") + ":", _table(time_rows(option.time), words)]
        parts.append(_bullets(time_facts(option.time)))
    if option.bill is not None and option.offer is not None:
        parts += [
            f"{words('The bill')}: {trainings_text(option.bill.trainings)}",
            _table(bill_rows(option.bill), words),
        ]
        parts.append(f"{words('Coverage')}: {inline(coverage_text(option.bill))}.")
    missing = not_known(option)
    if missing:
        parts.append(f"{words('Not known')}: {'; '.join(words(name) for name in missing)}.")
    remarks = [f"**{words('The evidence is doubtful')}:** {inline(doubt)}" for doubt in option.doubts]
    remarks += [markdown_text.line(note) for note in option.notes if note not in option.doubts]
    if remarks:
        parts.append("\n".join(f"- {remark}" for remark in remarks))
    return parts


def _assumption(item: Assumption, words: Words) -> Row:
    return {"Assumption": words(item.name)} | _quantity(item.quantity, words)


def _quantity(quantity: Quantity, words: Words) -> Row:
    return {
        "Value": value_text(quantity),
        "90 % range": words(interval_text(quantity)),
        "Basis": words(quantity.basis.value),
        "As of": date_text(quantity),
        "formula and source": quantity.source,
    }


def _heading(level: int, text: str) -> str:
    return f"{'#' * level} {text}"


def _table(rows: list[Row], words: Words) -> str:
    """Return a Markdown table with translated column names."""
    return markdown_text.table([{words(name): row.get(name, "") for name in rows[0]} for row in rows])


def _bullets(lines: list[str]) -> str:
    return "\n".join(f"- {markdown_text.line(line)}" for line in lines)
