"""Answers for notebooks and scripts: each turns into a pandas DataFrame, and shows its headline and table as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import Enum
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

from planner.errors import MissingExtraError
from planner.model.answer.documents import ComparisonDocument, EstimateDocument
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.price_answer import PricesDocument
from planner.model.base import Frozen
from planner.model.quantity import Quantity
from planner.present.answer_screen import Screen, comparison_screen, estimate_screen
from planner.present.columns.entry import OptionsDocument, entries_of
from planner.present.columns.registry import COLUMNS, asked_columns
from planner.present.columns.table_column import OptionColumn
from planner.present.memory_screen import memory_tables, verdict_text
from planner.present.option_marks import marks_explained
from planner.present.option_table import option_cells, scales
from planner.present.price_rows import price_rows
from planner.present.screen import Column, again

if TYPE_CHECKING:
    import altair as alt
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


def _options_frame(
    document: OptionsDocument, first: tuple[str, ...], *, every: bool, sources: bool, columns: str
) -> pd.DataFrame:
    """Return a row per option of an answer: the `first` columns, and those that `columns` names.

    `every` adds all other fields. `sources` adds them too, with the source of each number.
    """
    more = asked_columns(columns)
    frame = _frame(document.options, first, every=every, sources=sources)
    import pandas as pd

    entries = entries_of(document)
    for column in (COLUMNS[key] for key in more):
        values = [column.value(entry) for entry in entries]
        rows = [_column_fields(column, value, sources=sources) for value in values]
        added = pd.DataFrame(rows, index=frame.index)
        frame = frame.drop(columns=[name for name in added if name in frame]).join(added)
    return frame


def _column_fields(column: OptionColumn, value: object, *, sources: bool) -> dict[str, Any]:
    if column.quantity:
        return _quantity_fields(column.key, value if isinstance(value, Quantity) else None, sources=sources)
    return {column.key: value.value if isinstance(value, Enum) else value}


def _cells(row: Frozen, *, sources: bool) -> Mapping[str, Any]:
    cells: dict[str, Any] = {}
    for name, field in type(row).model_fields.items():
        if field.exclude:
            continue
        value = getattr(row, name)
        kinds = get_args(field.annotation) or (field.annotation,)
        if Quantity in kinds:
            cells |= _quantity_fields(name, value, sources=sources)
        elif value is None and any(isinstance(kind, type) and issubclass(kind, PLAIN) for kind in kinds):
            cells[name] = None
        elif isinstance(value, Enum):
            cells[name] = value.value
        elif isinstance(value, PLAIN):
            cells[name] = value
        elif isinstance(value, tuple) and isinstance(kinds[0], type) and issubclass(kinds[0], str):
            cells[name] = "; ".join(text.value if isinstance(text, Enum) else text for text in value)
    return cells


def _quantity_fields(name: str, quantity: Quantity | None, *, sources: bool) -> dict[str, Any]:
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


def _with_range(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


OF_COMPARISON = (
    "rank", "id", "display_name", "hold", *_with_range("campaign_hours"), *_with_range("campaign_usd"), "done_by",
    "why_not",
)  # fmt: skip
OF_ESTIMATE = (
    "id", "display_name", "hold", *_with_range("training_hours"), *_with_range("usd_marginal"), "throughput",
    "usd_total", "why_not",
)  # fmt: skip
OF_PRICES = (
    "item", "region", "price_kind", "usd_per_hour", "usd_per_accelerator_hour", "accelerator", "accelerators",
    "provider", "as_of", "age_days", "stale", "source",
)  # fmt: skip
"""Columns of a frame of prices. `all=True` adds the others."""


@dataclass(frozen=True)
class Comparison:
    """The options of a plan, ranked under its limits: `planner compare`, `planner ask`."""

    document: ComparisonDocument
    assumed: tuple[str, ...] = ()
    """Assumptions about a question, each with the option of the command that changes it."""

    @property
    def headline(self) -> str:
        """At most three sentences with the recommendation. `document.headline` has them one by one."""
        return self.document.sentence

    @property
    def recommended(self) -> str | None:
        """Id of the recommended option; None if no option meets the limits."""
        return self.document.recommended

    def to_frame(self, *, all: bool = False, sources: bool = False, columns: str = "") -> pd.DataFrame:
        """Return a row per option, best first, in twelve columns; see `frame_of`.

        `all` adds every column. `sources` adds them with the source of each number. `columns` names more ("+co2").
        """
        return _options_frame(self.document, OF_COMPARISON, every=all, sources=sources, columns=columns)

    def chart(self) -> alt.LayerChart | None:
        """Draw cost against time of all options with their 90 % ranges; None if no option has both.

        Raises MissingExtraError if altair is not installed.
        """
        from planner.present.charts import cost_time_chart

        _needs("altair")
        return cost_time_chart(self.document)

    def __str__(self) -> str:
        return self.headline

    def _repr_html_(self) -> str:
        return screen_html(comparison_screen(self.document, plan=None), assumed=self.assumed)


@dataclass(frozen=True)
class Estimate:
    """One training on each option of a plan: `planner estimate`."""

    document: EstimateDocument

    def to_frame(self, *, all: bool = False, sources: bool = False, columns: str = "") -> pd.DataFrame:
        """Return a row per option in the plan's order. The parameters are those of `Comparison.to_frame`."""
        return _options_frame(self.document, OF_ESTIMATE, every=all, sources=sources, columns=columns)

    def _repr_html_(self) -> str:
        return screen_html(estimate_screen(self.document, plan=None))


@dataclass(frozen=True)
class Memory:
    """Memory of one accelerator in training: `planner memory`."""

    document: MemoryDocument

    @property
    def fits(self) -> str | None:
        """Yes, no, or uncertain (the device's size lies in the 90 % range); None if its size is unknown."""
        return self.document.fits

    def to_frame(self, *, sources: bool = False) -> pd.DataFrame:
        """Return a row per kind of activation checkpointing: GiB with range, whether it fits, largest micro-batch."""
        return _frame(self.document.ways, ("checkpointing",), every=True, sources=sources)

    def _repr_html_(self) -> str:
        return memory_html(self.document)


@dataclass(frozen=True)
class Prices:
    """Prices of machines as plans use them: `planner prices show`."""

    document: PricesDocument

    def to_frame(self, *, all: bool = False) -> pd.DataFrame:
        """Return a row per price, with source, date and age, in twelve columns. `all` adds the others."""
        return _frame(self.document.prices, OF_PRICES, every=all)

    def _repr_html_(self) -> str:
        return prices_html(self.document)


def _frame(rows: Sequence[Frozen], first: tuple[str, ...], *, every: bool, sources: bool = False) -> pd.DataFrame:
    _needs("pandas")
    frame = frame_of(rows, first=first, sources=sources)
    return frame if every or sources else frame[[name for name in first if name in frame]]


def _needs(library: str) -> None:
    if find_spec(library) is None:
        raise MissingExtraError(library, "app")
