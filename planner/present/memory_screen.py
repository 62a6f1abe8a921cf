"""The answer of `memory` on one screen: whether it fits, what fills a device, and what checkpointing would change."""

from __future__ import annotations

from collections.abc import Iterator

from planner.decide.options.display_name import card_names, strategy_name
from planner.model.answer.documents import MemoryDocument
from planner.model.quantity import Quantity
from planner.present.screen import Column, table_lines, wrapped
from planner.present.short_figures import Scale
from planner.present.table import NOT_KNOWN

GIB = Scale("GiB", 1.0)
PARTS = (
    Column(key="part", title="on one device"),
    Column(key="gib", title=GIB.title, right=True),
    Column(key="range", title="(90 %)", gap=1, drop=1),
)
WAYS = (
    Column(key="way", title="checkpointing"),
    Column(key="gib", title=GIB.title, right=True),
    Column(key="range", title="(90 %)", gap=1, drop=1),
    Column(key="fits", title="fits"),
    Column(key="largest", title="micro-batch up to", right=True),
    Column(key="mark"),
)


def parts_of(document: MemoryDocument) -> dict[str, Quantity | None]:
    """Return what fills one device, and the device."""
    return {
        "states": document.states_gib,
        "activations": document.activations_gib,
        "logits": document.logits_gib,
        "buffers": document.buffers_gib,
        "total": document.total_gib,
        "device": document.hbm_gib,
    }


def memory_lines(document: MemoryDocument, *, width: int, details: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`; with `details`, how each part is computed, and notes."""
    parts = [{"part": name} | _gib(quantity) for name, quantity in parts_of(document).items()]
    ways = [
        {
            "way": way.checkpointing.value,
            "fits": way.fits or NOT_KNOWN,
            "largest": _largest(way.largest_micro_batch),
            "mark": "<-" if way.checkpointing is document.checkpointing else "",
        }
        | _gib(way.total_gib)
        for way in document.ways
    ]
    lines = [*wrapped(_title(document), width=width), "", *wrapped(verdict_text(document), width=width, indent="  ")]
    lines += ["", *table_lines(PARTS, parts, width=width), "", *table_lines(WAYS, ways, width=width)]
    if not details:
        return [*lines, "Sources: --details"]
    return [*lines, *(line for text in _details(document) for line in wrapped(text, width=width, indent="    "))]


def verdict_text(document: MemoryDocument) -> str:
    """Write whether it fits, and what to do where it does not."""
    needed = GIB.value(document.total_gib)
    of = "" if document.hbm_gib is None else f" of {GIB.value(document.hbm_gib)}"
    how = f"with {document.checkpointing.value} checkpointing" if document.checkpointing != "none" else "as it is"
    other = next((way for way in document.ways if way.fits == "yes"), None)
    if document.fits == "yes":
        return f"Fits {how}: {needed}{of} GiB, micro-batch up to {_largest(document.largest_micro_batch)}."
    if document.fits is None:
        return f"Whether it fits is not known: it needs {needed} GiB, and the device's memory is not known."
    instead = f" With {other.checkpointing.value} checkpointing it fits." if other is not None else ""
    if document.fits == "uncertain":
        return f"Uncertain {how}: {needed}{of} GiB. Measure it, or leave more room.{instead}"
    return f"Does not fit {how}: {needed}{of} GiB.{instead}"


def _title(document: MemoryDocument) -> str:
    card = card_names({document.accelerator})[document.accelerator]
    length = " images" if document.seq_len is None else f" x {document.seq_len:,} tokens"
    return (
        f"{document.workload} on {document.accelerators}x {card}: {strategy_name(document.strategy)}, "
        f"{document.precision.value}, micro-batch {document.micro_batch}{length}"
    )


def _details(document: MemoryDocument) -> Iterator[str]:
    for name, part in parts_of(document).items():
        if part is not None:
            yield f"{name}: {part.source}"
    yield from document.notes


def _gib(quantity: Quantity | None) -> dict[str, str]:
    return {} if quantity is None else {"gib": GIB.value(quantity), "range": GIB.interval(quantity)}


def _largest(micro_batch: int | None) -> str:
    return NOT_KNOWN if micro_batch is None else str(micro_batch or "none")
