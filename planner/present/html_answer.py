"""Writes answers as HTML for notebooks: the headline and the table of the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.price_answer import PricesDocument
from planner.present.answer_screen import Screen
from planner.present.memory_screen import memory_tables, verdict_text
from planner.present.option_marks import marks_explained
from planner.present.option_table import option_cells, scales
from planner.present.price_rows import price_rows
from planner.present.screen import Column, again

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
