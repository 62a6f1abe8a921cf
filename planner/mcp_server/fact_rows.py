"""Rows of a tool's answer for memory, a run's check and prices."""

from __future__ import annotations

from planner.mcp_server.tool_answer import ToolAnswer, table_of
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.answer.price_answer import PricesDocument
from planner.model.answer.run_check import RunCheckDocument
from planner.present.memory_screen import parts_of, verdict_text
from planner.present.price_rows import price_rows
from planner.present.table import Row, quantity_text

MOST_SOURCES = 4


def memory_answer(document: MemoryDocument) -> ToolAnswer:
    """Return whether it fits, with its chance; the kinds of checkpointing, then what would make it fit."""
    parts = ", ".join(f"{name} {quantity_text(part)}" for name, part in parts_of(document).items() if part)
    ways: list[Row] = [
        {
            "checkpointing": way.checkpointing.value,
            "needs": quantity_text(way.total_gib),
            "fits": way.fits or "not known",
            "chance": _percent(way.chance),
            "largest micro-batch": "not known" if way.largest_micro_batch is None else str(way.largest_micro_batch),
        }
        for way in document.ways
    ]
    changes: list[Row] = [
        {"change": remedy.change, "costs": remedy.costs, "chance": _percent(remedy.chance)}
        for remedy in document.remedies
    ]
    rows, left = table_of([*ways, *changes])
    return ToolAnswer(
        headline=[verdict_text(document), f"On one device: {parts}."],
        rows=rows,
        rows_left_out=left,
        assumptions=list(document.notes),
        answer_id=document.answer_id,
    )


def run_check_answer(document: RunCheckDocument) -> ToolAnswer:
    """Return whether a run is normal, and what may slow it down, with the gain and the cheapest test."""
    expected = "not known" if document.expected is None else quantity_text(document.expected)
    peak = "" if document.share_of_peak is None else f"; MFU {document.share_of_peak:.0%}"
    causes: list[Row] = [
        {
            "may hold it back": cause.text,
            "times as fast without it": f"{cause.gain:.2f} ({cause.gain_low:.2f}-{cause.gain_high:.2f})",
            "sure": f"{cause.probability:.0%}",
            "evidence": cause.evidence,
            "fix": cause.fix,
            "test": cause.test,
        }
        for cause in document.causes
    ]
    rows, left = table_of(causes)
    doubts = [
        f"doubtful: {doubt}" for doubt in (*document.doubts, *(finding.says for finding in document.audit.findings))
    ]
    return ToolAnswer(
        headline=[document.sentence, f"Measured {quantity_text(document.measured)}, expected {expected}{peak}."],
        rows=rows,
        rows_left_out=left,
        assumptions=[*document.assumed, *doubts],
        answer_id=document.answer_id,
    )


def prices_answer(document: PricesDocument) -> ToolAnswer:
    """Return the lowest prices per accelerator-hour, with their age."""
    rows, left = table_of(price_rows(document.prices, brief=True))
    sources = list(dict.fromkeys(price.source for price in document.prices[: len(rows)]))
    stale = sum(price.stale for price in document.prices)
    return ToolAnswer(
        headline=[f"{len(document.prices)} prices, the lowest per accelerator-hour first; {stale} are out of date."],
        rows=rows,
        rows_left_out=left,
        assumptions=[f"source: {source}" for source in sources[:MOST_SOURCES]],
        next=["planner prices refresh fetches new ones; a person runs it"] if stale else [],
    )


def _percent(chance: float | None) -> str:
    return "not known" if chance is None else f"{min(max(chance, 0.01), 0.99):.0%}"
