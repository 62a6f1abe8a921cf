"""Prints a scaling table, for `planner bench --sweep-gpus` and `planner runs scaling`."""

from __future__ import annotations

from planner.cli.output import TableOptions
from planner.cli.streams import print_document, say
from planner.model.answer.sweep_answer import SweepDocument
from planner.present.table import scaling_rows


def print_scaling(document: SweepDocument, output: TableOptions) -> None:
    """Print one JSON document, or the table with its doubts and notes."""
    if output.json:
        print_document(document)
    else:
        output.print_rows(scaling_rows(document), title=_title(document))
    for doubt in document.doubts:
        say(f"Doubt: {doubt}.")
    for note in document.notes:
        say(f"Note: {note}.")


def _title(document: SweepDocument) -> str:
    parts = [
        document.strategy.value if document.strategy else None,
        document.precision.value if document.precision else None,
        f"micro-batch {document.micro_batch}" if document.micro_batch else None,
        f"{document.seq_len} tokens" if document.seq_len else None,
    ]
    return ", ".join([f"{document.workload} on {document.accelerator}", *(part for part in parts if part)])
