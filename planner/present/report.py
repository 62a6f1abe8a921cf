"""The answer as a document to hand on: Markdown, one standalone HTML file, CSV."""

from __future__ import annotations

import csv
import io
import re

from planner.model.answer.documents import Assumption, ComparisonDocument, RankedOption
from planner.model.quantity import Quantity
from planner.present import html
from planner.present.bill_table import bill_rows
from planner.present.bill_text import coverage_text, currency_text, local_text
from planner.present.charts import CHART_READING, not_drawn
from planner.present.facts import (
    LEFT_OUT,
    MODELLED_MEANS_ESTIMATED,
    QUANTITIES,
    RANGE_MEANS,
    WHAT_OWNED_COUNTS,
    chance_text,
    date_text,
    interval_text,
    known,
    machine_text,
    name_text,
    not_known,
    price_date_text,
    quantity_of,
    terms_text,
    trainings_text,
    value_text,
    verdict_text,
)
from planner.present.table import NOT_KNOWN
from planner.present.table import as_markdown as markdown_table
from planner.present.time_table import time_facts, time_rows

CSV_OPTION_COLUMNS = (
    "plan", "rank", "recommended", "pareto", "option", "name", "site", "offer", "region", "price_kind",
    "price_age_days", "price_stale",
    "nodes", "accelerators", "accelerator", "strategy", "split", "micro_batch", "checkpointing", "fits",
    "runs", "at_once", "finish", "meets_deadline", "within_budget", "why_not", "measured_runs", "doubts", "notes",
    "display_name", "hold", "ready_on", "done_by", "chance_deadline", "chance_budget",
)  # fmt: skip
CSV_QUANTITY_COLUMNS = ("value", "low", "high", "unit", "basis", "source", "as_of")


def as_markdown(comparison: ComparisonDocument) -> str:
    """Write the whole comparison as Markdown."""
    parts = [
        f"# {_plain(comparison.plan)}",
        _plain(comparison.sentence),
        limits_text(comparison),
        "## Options",
        markdown_table([_option_row(option, recommended=comparison.recommended) for option in comparison.options]),
    ]
    for option in comparison.options:
        parts += _option_section(option, recommended=comparison.recommended)
    parts += ["## Assumptions", markdown_table([_assumption_row(item) for item in comparison.assumptions])]
    parts += ["## How to read this", "\n".join(f"- {line}" for line in reading_notes())]
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def as_html(comparison: ComparisonDocument, chart_svg: str | None) -> str:
    """Write the whole comparison as one HTML file that needs nothing else."""
    return html.render(
        "report.html",
        comparison=comparison,
        limits=limits_text(comparison),
        chart_svg=chart_svg,
        CHART_READING=CHART_READING,
        not_drawn=not_drawn(comparison),
        reading_notes=reading_notes(),
    )


def as_csv(comparison: ComparisonDocument) -> str:
    """Write one row per option; every quantity takes seven columns, all digits kept."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    quantity_columns = [f"{field}_{column}" for field in QUANTITIES for column in CSV_QUANTITY_COLUMNS]
    writer.writerow([*CSV_OPTION_COLUMNS, *quantity_columns])
    for option in comparison.options:
        cells = _csv_option(option, comparison)
        for field in QUANTITIES:
            cells += _csv_quantity(quantity_of(option, field))
        writer.writerow(cells)
    return text.getvalue()


def limits_text(comparison: ComparisonDocument) -> str:
    """Write the campaign and its limits in one line."""
    deadline = f"deadline {comparison.deadline}" if comparison.deadline else "no deadline"
    budget = f"budget {comparison.budget_usd:,.2f} USD" if comparison.budget_usd is not None else "no budget"
    rate = (
        f" {comparison.currency.code} counted with {currency_text(comparison.currency)}." if comparison.currency else ""
    )
    return f"Campaign: {trainings_text(comparison.runs)}; {deadline}; {budget}.{rate}"


def reading_notes() -> tuple[str, ...]:
    """Return what the numbers mean and what they leave out."""
    bases = (
        "Basis: measured (a run on this machine), quoted (a price list or data sheet), modelled (computed from runs "
        "elsewhere), assumed (stated, not checked). A computed number carries the weakest basis of its inputs."
    )
    return (RANGE_MEANS, bases, WHAT_OWNED_COUNTS, MODELLED_MEANS_ESTIMATED, LEFT_OUT)


def _option_row(option: RankedOption, *, recommended: str | None) -> dict[str, str]:
    return {
        "#": str(option.rank or "-"),
        "option": _plain(name_text(option)),
        "accelerators": _plain(machine_text(option)),
        "terms": _plain(terms_text(option)),
        "campaign time": _brief(option.campaign_hours),
        "done by": str(option.done_by or NOT_KNOWN),
        "to pay": _brief(option.payable_usd) + local_text(option),
        "chance": chance_text(option),
        "Pareto front": "yes" if option.pareto else "",
        "price of": price_date_text(option),
        "why, or why not": _plain(verdict_text(option, recommended=recommended)),
    }


def _option_section(option: RankedOption, *, recommended: str | None) -> list[str]:
    rows = [{"what": name} | _quantity_row(quantity) for name, quantity in known(option)]
    missing = not_known(option)
    parts = [
        f"### {_plain(name_text(option))} ({_plain(option.id)})",
        _plain(verdict_text(option, recommended=recommended)),
        markdown_table(rows),
    ]
    if option.time is not None:
        lines = [{name: _plain(cell) for name, cell in row.items()} for row in time_rows(option.time)]
        parts += ["Where the hours of one training go:", markdown_table(lines)]
        parts.append("\n".join(f"- {_plain(fact)}" for fact in time_facts(option.time)))
    if option.bill is not None and option.offer is not None:
        bill = [{name: _plain(cell) for name, cell in row.items()} for row in bill_rows(option.bill)]
        parts += [f"Bill of {trainings_text(option.bill.trainings)}:", markdown_table(bill)]
        parts.append(f"Coverage: {_plain(coverage_text(option.bill))}.")
    if missing:
        parts.append(f"Not known: {'; '.join(missing)}.")
    remarks = [f"**Doubtful:** {_plain(doubt)}" for doubt in option.doubts]
    remarks += [_plain(note) for note in option.notes if note not in option.doubts]
    if remarks:
        parts.append("\n".join(f"- {remark}" for remark in remarks))
    return parts


def _assumption_row(item: Assumption) -> dict[str, str]:
    return {"assumption": _plain(item.name)} | _quantity_row(item.quantity)


def _quantity_row(quantity: Quantity) -> dict[str, str]:
    return {
        "value": value_text(quantity),
        "90 % range": interval_text(quantity),
        "basis": quantity.basis.value,
        "as of": date_text(quantity),
        "formula and source": _plain(quantity.source),
    }


def _brief(quantity: Quantity | None) -> str:
    if quantity is None:
        return "not known"
    return f"{value_text(quantity)} ({interval_text(quantity)}), {quantity.basis.value}"


def _plain(text: str) -> str:
    """Keep text from being read as Markdown or HTML; a table escapes the bar itself."""
    return re.sub(r"([\\`*\[\]<>#])", r"\\\1", " ".join(text.split()))


def _csv_option(option: RankedOption, comparison: ComparisonDocument) -> list[str]:
    values: dict[str, object] = {
        "plan": comparison.plan,
        "recommended": option.id == comparison.recommended,
        "option": option.id,
        "runs": comparison.runs,
        "measured_runs": "; ".join(option.runs),
        "doubts": "; ".join(option.doubts),
        "notes": "; ".join(option.notes),
    }
    return [_cell(values[name] if name in values else getattr(option, name)) for name in CSV_OPTION_COLUMNS]


def _csv_quantity(quantity: Quantity | None) -> list[str]:
    if quantity is None:
        return [""] * len(CSV_QUANTITY_COLUMNS)
    return [_cell(getattr(quantity, name)) for name in CSV_QUANTITY_COLUMNS]


def _cell(value: object) -> str:
    """Write a cell; text that a spreadsheet would run as a formula gets a leading apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text[:1] in tuple("=+-@\t\r") else text
