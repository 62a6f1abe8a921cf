"""The options of an answer as rows: every quantity with value, range, unit, basis, source and date, all digits kept."""

from __future__ import annotations

from collections.abc import Iterable

from planner.model.answer.documents import ComparisonDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.quantity import Quantity
from planner.present.facts import QUANTITIES, quantity_of
from planner.text.table_cells import table_text

OPTION_COLUMNS = (
    "plan", "rank", "recommended", "pareto", "option", "name", "site", "offer", "region", "price_kind",
    "price_age_days", "price_stale",
    "nodes", "accelerators", "accelerator", "strategy", "split", "micro_batch", "checkpointing", "fits",
    "runs", "at_once", "finish", "meets_deadline", "within_budget", "why_not", "measured_runs", "doubts", "notes",
    "display_name", "hold", "ready_on", "done_by", "chance_deadline", "chance_budget", "chance_both",
)  # fmt: skip
QUANTITY_COLUMNS = ("value", "low", "high", "unit", "basis", "source", "as_of")


def as_csv(comparison: ComparisonDocument) -> str:
    """Write one row per option; every quantity takes seven columns."""
    return table_text([[_cell(value) for value in row] for row in option_rows(comparison)], ",")


def option_rows(comparison: ComparisonDocument) -> Iterable[list[object]]:
    """Yield the names of the columns, and one row per option; None where something is not known."""
    yield [*OPTION_COLUMNS, *(f"{field}_{column}" for field in QUANTITIES for column in QUANTITY_COLUMNS)]
    for option in comparison.options:
        cells = _option(option, comparison)
        for field in QUANTITIES:
            cells += _quantity(quantity_of(option, field))
        yield cells


def _option(option: RankedOption, comparison: ComparisonDocument) -> list[object]:
    values: dict[str, object] = {
        "plan": comparison.plan,
        "recommended": option.id == comparison.recommended,
        "option": option.id,
        "runs": comparison.runs,
        "measured_runs": "; ".join(option.runs),
        "doubts": "; ".join(option.doubts),
        "notes": "; ".join(option.notes),
    }
    return [values[name] if name in values else getattr(option, name) for name in OPTION_COLUMNS]


def _quantity(quantity: Quantity | None) -> list[object]:
    if quantity is None:
        return [None] * len(QUANTITY_COLUMNS)
    return [getattr(quantity, name) for name in QUANTITY_COLUMNS]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
