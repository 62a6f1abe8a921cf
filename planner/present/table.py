"""Writes numbers and quantities as text, runs and probes as rows, and rows as TSV, CSV or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planner.model.answer.option_estimate import OptionEstimate
from planner.model.answer.sweep_answer import SweepDocument
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.quantity import Quantity, Unit
from planner.speed.evidence.compared_probes import comparison_text
from planner.text import markdown_text
from planner.text.visible_text import table_text

NOT_KNOWN = "-"
Row = dict[str, str]


def number_text(value: float, unit: Unit) -> str:
    """Write a number with digits that suit its unit: cents below 1,000 USD, four digits otherwise."""
    value += 0.0  # a negative zero has no sign on a screen
    if unit is Unit.USD:
        return f"{value:,.2f}" if abs(value) < 1000 else f"{value:,.0f}"
    if value != 0 and (abs(value) < 0.001 or abs(value) >= 1e9):
        return f"{value:.4g}"
    digits = max(0, 3 - len(str(int(abs(value)))) + (0 if abs(value) >= 1 else 1) + 1)
    return f"{value:,.{min(digits, 6)}f}"


def quantity_text(quantity: Quantity | None) -> str:
    """Write value, unit, range and basis: `56.69 h (53.86-59.69, measured)`."""
    if quantity is None:
        return NOT_KNOWN
    value = f"{number_text(quantity.value, quantity.unit)} {quantity.unit.value}"
    if quantity.low == quantity.high:
        return f"{value} ({quantity.basis.value})"
    return f"{value} ({range_text(quantity)}, {quantity.basis.value})"


def price_text(option: OptionEstimate) -> str:
    """Write a price with its date, `21.96 USD/h of 2026-11-09`, and its age if it is out of date."""
    price = option.price
    if price is None:
        return NOT_KNOWN
    stale = f" (stale: {option.price_age_days} days old)" if option.price_stale else ""
    listed = "" if option.list_price is None else f" net, list {option.list_price:,.2f},"
    return f"{price.value:,.2f} {price.unit.value}{listed}{f' of {price.as_of}' if price.as_of else ''}{stale}"


def accelerators_text(option: OptionEstimate) -> str:
    """Write `8x H100-SXM`, or "a service" if the accelerator is unknown."""
    return "a service" if option.accelerator is None else f"{option.accelerators}x {option.accelerator}"


def range_text(quantity: Quantity) -> str:
    """Write the 90 % range without the value."""
    dash = " to " if quantity.low < 0 else "-"
    return f"{number_text(quantity.low, quantity.unit)}{dash}{number_text(quantity.high, quantity.unit)}"


def run_rows(catalog: Catalog) -> list[Row]:
    """Return one row per measured run."""
    return [
        {
            "id": run.id,
            "origin": origin_of(run, catalog),
            "workload": run.workload,
            "machine": f"{run.hardware.nodes}x {run.hardware.accelerators_per_node}x {run.hardware.accelerator}",
            "strategy": run.strategy.value if run.strategy else NOT_KNOWN,
            "throughput": quantity_text(run.throughput),
            "date": str(run.throughput.as_of or NOT_KNOWN),
            "verdict": "; ".join(run.verdict),
        }
        for run in catalog.runs.values()
    ]


def probe_rows(catalog: Catalog) -> list[Row]:
    """Return one row per probe, compared with others of its kind of accelerator."""
    probes = list(catalog.probes.values())
    return [
        {
            "id": probe.id,
            "machine": f"{probe.hardware.nodes}x {probe.hardware.accelerators_per_node}x {probe.hardware.accelerator}",
            "kernels": f"{len(probe.kernels)}",
            "date": str(probe.measured_on),
            "compared": comparison_text(probe, probes),
            "verdict": "; ".join(probe.verdict),
        }
        for probe in probes
    ]


def scaling_rows(document: SweepDocument) -> list[Row]:
    """Return one row per run, the smallest count of accelerators first."""
    return [
        {
            "accelerators": f"{row.accelerators}" + (f" ({row.nodes} nodes)" if row.nodes > 1 else ""),
            "throughput": quantity_text(row.throughput),
            "speed-up": f"{row.speedup:.2f}x",
            "efficiency": f"{row.efficiency:.0%}".replace("%", " %"),
            "per accelerator": quantity_text(row.throughput_per_accelerator),
            "run": row.run,
        }
        for row in document.rows
    ]


def origin_of(run: RunRecord, catalog: Catalog) -> str:
    """Return "catalog" for a bundled run, or "store" for one of the user's."""
    return "catalog" if run.id in catalog.bundled_runs else "store"


def as_tsv(rows: Sequence[Row]) -> str:
    """Write rows as tab-separated values with a header."""
    return _separated(rows, "\t")


def as_csv(rows: Sequence[Row]) -> str:
    """Write rows as comma-separated values with a header."""
    return _separated(rows, ",")


WRITERS: dict[str, Callable[[Sequence[Row]], str]] = {"tsv": as_tsv, "csv": as_csv, "md": markdown_text.table}


def _separated(rows: Sequence[Row], separator: str) -> str:
    if not rows:
        return ""
    head = list(rows[0])
    return table_text([head, *([row[column] for column in head] for row in rows)], separator)
