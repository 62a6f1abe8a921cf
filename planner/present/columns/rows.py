"""Writes the options of an answer as rows of titles and texts, for programs and agents."""

from __future__ import annotations

from collections.abc import Sequence

from planner.model.answer.documents import CampaignDocument, EstimateDocument
from planner.present.columns.entry import OptionsDocument, entries_of
from planner.present.columns.option_column import OptionTable
from planner.present.columns.registry import columns_of
from planner.present.table import Row


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
