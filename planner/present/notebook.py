"""Turns answers into pandas DataFrames, and into HTML for notebooks: the headline and the table of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import Enum
from html import escape
from typing import TYPE_CHECKING, Any, get_args

from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.price_answer import PricesDocument
from planner.model.base import Frozen
from planner.model.quantity import Quantity
from planner.present.answer_screen import Screen
from planner.present.columns.entry import OptionsDocument, entries_of
from planner.present.columns.registry import COLUMNS
from planner.present.columns.table_column import OptionColumn
from planner.present.memory_screen import memory_tables, verdict_text
from planner.present.option_marks import marks_explained
from planner.present.option_table import option_cells, scales
from planner.present.price_rows import price_rows
from planner.present.screen import Column, again

if TYPE_CHECKING:
    import pandas as pd

PLAIN = (str, int, float, bool, date, Enum)
"""Types of values that fit into one cell."""


def frame_of(rows: Sequence[Frozen], *, first: Sequence[str] = (), sources: bool = False) -> pd.DataFrame:
    """Return a row per model and a column per field. `first` names the first columns.

    A quantity `x_usd` becomes `x_usd`, `x_usd_low`, `x_usd_high` (its 90 % range) and `x_usd_basis`, and with `sources`
    also `x_usd_source` and `x_usd_as_of`. Several texts are joined by "; ". Nested fields (bills, hours by cause) are
    left out; the answer's `document` has them.
    """
    import pandas as pd

    if not rows:
        return pd.DataFrame(columns=list(first))
    frame = pd.DataFrame([_cells(row, sources=sources) for row in rows])
    order = [name for name in first if name in frame] + [name for name in frame if name not in first]
    return frame[order]


def options_frame(
    document: OptionsDocument, first: Sequence[str], *, every: bool, sources: bool, more: Sequence[str]
) -> pd.DataFrame:
    """Return a row per option of an answer: the `first` columns, and the columns whose keys are in `more`.

    `every` adds all other fields. `sources` adds them too, with the source of each number.
    """
    import pandas as pd

    frame = frame_of(document.options, first=first, sources=sources)
    if not (every or sources):
        frame = frame[[name for name in first if name in frame]]
    entries = entries_of(document)
    for column in (COLUMNS[key] for key in more):
        values = [column.value(entry) for entry in entries]
        rows = [_of_column(column, value, sources=sources) for value in values]
        added = pd.DataFrame(rows, index=frame.index)
        frame = frame.drop(columns=[name for name in added if name in frame]).join(added)
    return frame


def _of_column(column: OptionColumn, value: object, *, sources: bool) -> dict[str, Any]:
    if column.quantity:
        return _of_quantity(column.key, value if isinstance(value, Quantity) else None, sources=sources)
    return {column.key: value.value if isinstance(value, Enum) else value}


def _cells(row: Frozen, *, sources: bool) -> Mapping[str, Any]:
    cells: dict[str, Any] = {}
    for name, field in type(row).model_fields.items():
        value = getattr(row, name)
        kinds = get_args(field.annotation) or (field.annotation,)
        if Quantity in kinds:
            cells |= _of_quantity(name, value, sources=sources)
        elif value is None and any(isinstance(kind, type) and issubclass(kind, PLAIN) for kind in kinds):
            cells[name] = None
        elif isinstance(value, Enum):
            cells[name] = value.value
        elif isinstance(value, PLAIN):
            cells[name] = value
        elif isinstance(value, tuple) and isinstance(kinds[0], type) and issubclass(kinds[0], str):
            cells[name] = "; ".join(text.value if isinstance(text, Enum) else text for text in value)
    return cells


def _of_quantity(name: str, quantity: Quantity | None, *, sources: bool) -> dict[str, Any]:
    parts = {"": "value", "_low": "low", "_high": "high", "_basis": "basis"}
    if sources:
        parts |= {"_source": "source", "_as_of": "as_of"}
    cells = {name + ending: None if quantity is None else getattr(quantity, part) for ending, part in parts.items()}
    return cells | {f"{name}_basis": None if quantity is None else quantity.basis.value}


MOST_PRICES = 20


def screen_html(screen: Screen, *, assumed: Iterable[str] = ()) -> str:
    """Return an answer with its whole table, the meaning of its marks, its notes and assumptions."""
    units = scales(screen.entries, screen.currency)
    columns, rows = option_cells(screen.entries, units, screen.more)
    marks = marks_explained([entry.option for entry in screen.entries], units.money_text)
    notes = [*marks, *screen.notes, *(f"Assumed: {assumption}" for assumption in assumed), *again(screen.answer_id)]
    return _block([*screen.headline] or [screen.title], [_table(columns, rows)], notes)


def memory_html(document: MemoryDocument) -> str:
    """Return the verdict, the memory parts of a device, and the ways to checkpoint."""
    tables = [_table(columns, rows) for columns, rows in memory_tables(document)]
    return _block([verdict_text(document)], tables, [*document.notes, *again(document.answer_id)])


def prices_html(document: PricesDocument) -> str:
    """Return the lowest prices."""
    rows = price_rows(document.prices[:MOST_PRICES], brief=True)
    columns = [Column(key=name, title=name) for name in (rows[0] if rows else ())]
    left = len(document.prices) - len(rows)
    return _block([f"{len(document.prices)} prices"], [_table(columns, rows)], [f"and {left} more"] if left else [])


def _block(headline: Sequence[str], tables: Sequence[str], notes: Sequence[str]) -> str:
    first, *others = headline
    said = [f"<p><b>{escape(first)}</b></p>", *(f"<p>{escape(sentence)}</p>" for sentence in others)]
    small = "".join(f"<br>{escape(note)}" for note in notes)
    return f"<div>{''.join([*said, *tables])}<small>{small.removeprefix('<br>')}</small></div>"


def _table(columns: Sequence[Column], rows: Sequence[Mapping[str, str]]) -> str:
    def line(tag: str, cells: Iterable[tuple[Column, str]]) -> str:
        written = (
            f'<{tag} style="text-align:{"right" if column.right else "left"}">{escape(text)}</{tag}>'
            for column, text in cells
        )
        return f"<tr>{''.join(written)}</tr>"

    head = line("th", ((column, column.title) for column in columns))
    body = "".join(line("td", ((column, row.get(column.key, "")) for column in columns)) for row in rows)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
