"""Columns of tables of options, and the kinds of these tables."""

from __future__ import annotations

from enum import StrEnum

from planner.present.columns.entry import Entry
from planner.present.columns.table_column import TableColumn

OptionColumn = TableColumn[Entry]


class OptionTable(StrEnum):
    """A kind of table with options as rows."""

    ESTIMATE = "estimate"
    """One training per option, for programs: TSV, CSV and Markdown of a command."""
    CAMPAIGN = "campaign"
    COMPARISON = "comparison"
    SCREEN = "screen"
    """Table of a command on a terminal, and of a notebook."""
    PAGE = "page"
    """The app, and the report in HTML and PDF."""
    REPORT = "report"
    """The report in Markdown."""
    SHEET = "sheet"
    """The report as CSV and as a workbook, with all digits."""
    AGENT = "agent"
    """Short rows for agents."""
