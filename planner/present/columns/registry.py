"""Lists every column of tables of options, for screens, files, pages, sheets and frames.

`written_columns.py` defines the columns. Every other field of an answer's option is a column too, unless it is nested.
Programs and agents get the options as rows of titles and texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, get_args

from planner.errors import NotFoundError
from planner.model.answer.documents import CampaignDocument, EstimateDocument
from planner.model.answer.option_estimate import RankedOption
from planner.model.base import Frozen
from planner.model.network.workload import Split
from planner.model.quantity import Quantity
from planner.present.columns.entry import Entry, OptionsDocument, entries_of
from planner.present.columns.table_column import OptionColumn, OptionTable
from planner.present.columns.written_columns import KNOWN, WRITTEN, value_of_field
from planner.present.facts import QUANTITIES
from planner.present.page.words import Words
from planner.present.table import Row

ENGLISH = Words()


def _kinds(name: str) -> tuple[Any, ...]:
    annotation = RankedOption.model_fields[name].annotation
    return get_args(annotation) or (annotation,)


def _field(name: str) -> OptionColumn:
    """Return the column of a field of an answer's option."""
    kinds = _kinds(name)
    return OptionColumn(
        key=name,
        title=name.replace("_", " "),
        words=QUANTITIES.get(name, ""),
        quantity=Quantity in kinds,
        right=int in kinds or float in kinds,
        value=lambda entry: value_of_field(entry.option, name),
    )


def _is_nested(name: str) -> bool:
    """Return True if a field contains more than fits into a cell, such as a bill."""
    models = [kind for kind in _kinds(name) if isinstance(kind, type) and issubclass(kind, Frozen)]
    return any(kind not in (Quantity, Split) for kind in models)


COLUMNS: dict[str, OptionColumn] = {
    **{name: _field(name) for name in RankedOption.model_fields if not _is_nested(name)},
    **{column.key: column for column in WRITTEN},
}
"""All columns by key."""

MORE = "+"
"""Position in a layout of the columns that the user adds."""
_LIMITS_KEPT = ("pay_now_usd", "to_pay", "ready_on", "done_by", "chance_deadline", "chance_budget", "chance_both")
LAYOUTS: dict[OptionTable, tuple[str, ...]] = {
    OptionTable.ESTIMATE: (
        "option", "accelerators", "epoch_hours", "training_hours", "wall_hours", "price", "usd_total", "usd_marginal",
        "energy_kwh", "why_not", "notes", "machine", "hold", MORE,
    ),
    OptionTable.CAMPAIGN: (
        "option", "accelerators", "at_once", "campaign_hours", "finish", "campaign_usd", "meets_deadline",
        "within_budget", "why_not", "notes", "machine", "hold", *_LIMITS_KEPT, MORE,
    ),
    OptionTable.COMPARISON: (
        "rank", "pareto", "option", "accelerators", "campaign_hours", "campaign_usd", "price", "why_not", "notes",
        "machine", "hold", *_LIMITS_KEPT, MORE,
    ),
    OptionTable.SCREEN: (
        "number", "hold", "machine", "done_by", "time", "money", "usd", "chance", MORE, KNOWN, "mark",
    ),
    OptionTable.PAGE: ("number", "hold", "machine", "done_by", "time", "to_pay", "chance", MORE, KNOWN),
    OptionTable.REPORT: (
        "number", "machine", "accelerators", "terms", "time", "done_by", "to_pay", "chance", "price_of", MORE,
        "feasible", "verdict",
    ),
    OptionTable.SHEET: (
        "rank", "recommended", "pareto", "option", "name", "site", "offer", "region", "price_kind", "price_age_days",
        "price_stale", "nodes", "accelerators", "accelerator", "strategy", "split", "micro_batch", "checkpointing",
        "fits", "runs", "at_once", "finish", "meets_deadline", "within_budget", "why_not", "measured_runs", "doubts",
        "notes", "display_name", "hold", "ready_on", "done_by", "chance_deadline", "chance_budget", "chance_both",
        *QUANTITIES, MORE,
    ),
    OptionTable.AGENT: (
        "number", "option", "machine", "hold", "pay_now_usd", "time", "money", "done_by", "chance", "price", MORE,
        "why_not",
    ),
}  # fmt: skip


def columns_of(table: OptionTable, more: Sequence[str] = ()) -> list[OptionColumn]:
    """Return a table's columns, with the columns whose keys are in `more`; each once."""
    layout = LAYOUTS[table]
    asked = [key for key in dict.fromkeys(more) if key not in layout]
    return [COLUMNS[key] for name in layout for key in (asked if name == MORE else (name,))]


def offered_columns() -> list[OptionColumn]:
    """Return the columns that a page offers besides its own: those with a description."""
    written = {column.key for column in WRITTEN}
    return [
        column
        for key, column in COLUMNS.items()
        if column.words and key not in LAYOUTS[OptionTable.PAGE] and key in written
    ]


def asked_columns(text: str | None) -> tuple[str, ...]:
    """Return the keys in `+co2,+energy_kwh`. Raises NotFoundError for an unknown column."""
    names = [part.strip().removeprefix("+").strip() for part in (text or "").split(",")]
    return tuple(_key_of(name) for name in names if name)


def _key_of(name: str) -> str:
    shorter = {column.also: key for key, column in COLUMNS.items() if column.also}
    key = shorter.get(name, name.replace("-", "_").replace(" ", "_"))
    if key not in COLUMNS:
        raise NotFoundError(
            "column", name, [*COLUMNS, *shorter], where="--columns", fix=f"Known: {', '.join(COLUMNS)}."
        )
    return key


def not_known(entries: Sequence[Entry], more: Sequence[str], words: Words = ENGLISH) -> Iterator[str]:
    """Yield a line for each column in `more` without any value, with the key that a plan would have to state."""
    for column in (COLUMNS[key] for key in more):
        if any(column.value(entry) not in (None, "") for entry in entries):
            continue
        title = words(column.title)
        if column.stated_by:
            yield words("No option has '{title}': the plan states no {key}.", title=title, key=column.stated_by)
        else:
            yield words("No option has '{title}'.", title=title)


def option_rows(document: OptionsDocument, more: Sequence[str] = ()) -> list[Row]:
    """Return one row per option: of one training, of the campaign on it alone, or of a comparison, best first."""
    table = OptionTable.COMPARISON
    if isinstance(document, EstimateDocument):
        table = OptionTable.ESTIMATE
    elif isinstance(document, CampaignDocument):
        table = OptionTable.CAMPAIGN
    columns = columns_of(table, more)
    return [{column.head(table): column.cell(entry) for column in columns} for entry in entries_of(document)]


def short_rows(document: OptionsDocument, more: Sequence[str] = ()) -> list[Row]:
    """Return one short row per option for agents, without unknown values."""
    columns = columns_of(OptionTable.AGENT, more)
    cells = [
        {column.head(OptionTable.AGENT): column.cell_short(entry) for column in columns}
        for entry in entries_of(document)
    ]
    return [{title: cell for title, cell in row.items() if cell} for row in cells]
