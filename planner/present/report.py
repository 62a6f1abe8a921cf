"""The answer as a document to hand on: Markdown, one standalone HTML file, CSV."""

from __future__ import annotations

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
from planner.present.time_table import time_facts, time_rows
from planner.text import markdown_text
from planner.text.markdown_text import inline
from planner.text.table_cells import table_text

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
        f"# {inline(comparison.plan)}",
        markdown_text.line(comparison.sentence),
        markdown_text.line(limits_text(comparison)),
        "## Options",
        markdown_text.table([_option_row(option, recommended=comparison.recommended) for option in comparison.options]),
    ]
    for option in comparison.options:
        parts += _option_section(option, recommended=comparison.recommended)
    parts += ["## Assumptions", markdown_text.table([_assumption_row(item) for item in comparison.assumptions])]
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
    quantity_columns = [f"{field}_{column}" for field in QUANTITIES for column in CSV_QUANTITY_COLUMNS]
    rows = [[*CSV_OPTION_COLUMNS, *quantity_columns]]
    for option in comparison.options:
        cells = _csv_option(option, comparison)
        for field in QUANTITIES:
            cells += _csv_quantity(quantity_of(option, field))
        rows.append(cells)
    return table_text(rows, ",")


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
        "option": name_text(option),
        "accelerators": machine_text(option),
        "terms": terms_text(option),
        "campaign time": _brief(option.campaign_hours),
        "done by": str(option.done_by or NOT_KNOWN),
        "to pay": _brief(option.payable_usd) + local_text(option),
        "chance": chance_text(option),
        "Pareto front": "yes" if option.pareto else "",
        "price of": price_date_text(option),
        "why, or why not": verdict_text(option, recommended=recommended),
    }


def _option_section(option: RankedOption, *, recommended: str | None) -> list[str]:
    rows = [{"what": name} | _quantity_row(quantity) for name, quantity in known(option)]
    missing = not_known(option)
    parts = [
        f"### {inline(name_text(option))} ({inline(option.id)})",
        markdown_text.line(verdict_text(option, recommended=recommended)),
        markdown_text.table(rows),
    ]
    if option.time is not None:
        parts += ["Where the hours of one training go:", markdown_text.table(time_rows(option.time))]
        parts.append("\n".join(f"- {markdown_text.line(fact)}" for fact in time_facts(option.time)))
    if option.bill is not None and option.offer is not None:
        bill = markdown_text.table(bill_rows(option.bill))
        parts += [f"Bill of {trainings_text(option.bill.trainings)}:", bill]
        parts.append(f"Coverage: {inline(coverage_text(option.bill))}.")
    if missing:
        parts.append(f"Not known: {'; '.join(missing)}.")
    remarks = [f"**Doubtful:** {inline(doubt)}" for doubt in option.doubts]
    remarks += [markdown_text.line(note) for note in option.notes if note not in option.doubts]
    if remarks:
        parts.append("\n".join(f"- {remark}" for remark in remarks))
    return parts


def _assumption_row(item: Assumption) -> dict[str, str]:
    return {"assumption": item.name} | _quantity_row(item.quantity)


def _quantity_row(quantity: Quantity) -> dict[str, str]:
    return {
        "value": value_text(quantity),
        "90 % range": interval_text(quantity),
        "basis": quantity.basis.value,
        "as of": date_text(quantity),
        "formula and source": quantity.source,
    }


def _brief(quantity: Quantity | None) -> str:
    if quantity is None:
        return "not known"
    return f"{value_text(quantity)} ({interval_text(quantity)}), {quantity.basis.value}"


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
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
