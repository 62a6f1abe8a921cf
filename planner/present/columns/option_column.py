"""A column of a table of options, and the tables in which options stand."""

from __future__ import annotations

from enum import StrEnum

from planner.present.columns.entry import Entry
from planner.present.columns.table_column import TableColumn

OptionColumn = TableColumn[Entry]


class OptionTable(StrEnum):
    """Where options stand in rows."""

    ESTIMATE = "estimate"
    """One training on each, for programs: TSV, CSV and Markdown of a command."""
    CAMPAIGN = "campaign"
    COMPARISON = "comparison"
    SCREEN = "screen"
    """Of a command and of a notebook."""
    PAGE = "page"
    """The app, and the report in HTML and PDF."""
    REPORT = "report"
    """The report in Markdown."""
    SHEET = "sheet"
    """The report as CSV and as a workbook: values with all their digits."""
    AGENT = "agent"
    """The short rows of a tool's answer."""
