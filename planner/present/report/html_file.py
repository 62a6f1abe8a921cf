"""Writes the report as one self-contained HTML file: two printed pages, and the appendix if it is open."""

from __future__ import annotations

from planner.present.charts import CHART_READING, chart_svg, not_drawn
from planner.present.page.templating import render, style
from planner.present.report.report import Report


def as_html(report: Report, *, unfolded: bool = False) -> str:
    """Write the report. `unfolded` opens its appendix, so that it is printed too."""
    words = report.words
    undrawn = not_drawn(report.document)
    notes = [words(CHART_READING)] + ([words("Not drawn: {names}.", names="; ".join(undrawn))] if undrawn else [])
    page = render(
        "report.html", "whole", report, words, style=style("page.css", "report.css"),
        chart_svg=chart_svg(report.document), chart_notes=" ".join(notes), unfolded=unfolded,
    )  # fmt: skip
    return f"{page}\n"
