"""How a scaling table is printed: by `planner bench --sweep-gpus` and `planner runs scaling`."""

from __future__ import annotations

from planner.cli.output import Format, print_document, print_rows, say
from planner.model.answer.documents import SweepDocument
from planner.present.table import scaling_rows


def print_scaling(document: SweepDocument, form: Format | None, *, as_json: bool) -> None:
    """Print one JSON document, or the table, with doubts and notes beside it."""
    if as_json or form is Format.JSON:
        print_document(document)
    else:
        print_rows(scaling_rows(document), form, title=_title(document))
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
