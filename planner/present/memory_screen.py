"""Shows the answers of `memory` (whether it fits, the parts, the effect of checkpointing) and of `strategies`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.decide.options.card_name import card_names
from planner.decide.options.display_name import strategy_name
from planner.model.answer.memory_answer import MemoryDocument
from planner.model.quantity import Quantity
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.screen import Column, again, fewer_rows, table_lines, wrapped, wrapped_items, wrapped_lines
from planner.present.short_figures import Scale, short_text
from planner.present.table import NOT_KNOWN, Row

CHANGES = (
    Column(key="change", title="change"),
    Column(key="fits", title="fits", right=True),
    Column(key="option", title="option", drop=2),
    Column(key="costs", title="costs", drop=1),
)
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
    Column(key="fits", title="fits", right=True),
    Column(key="largest", title="micro-batch to", right=True),
    Column(key="mark"),
)


def parts_of(document: MemoryDocument) -> dict[str, Quantity | None]:
    """Return the memory parts of one device, their total, and the device's capacity."""
    return {
        "states": document.states_gib,
        "activations": document.activations_gib,
        "logits": document.logits_gib,
        "buffers": document.buffers_gib,
        "total": document.total_gib,
        "device": document.hbm_gib,
    }


def memory_lines(document: MemoryDocument, *, width: int, details: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`. `details` adds the computation of each part, and notes."""
    (_, parts), (_, ways) = memory_tables(document)
    lines = [*wrapped(_title(document), width=width), "", *wrapped(verdict_text(document), width=width, indent="  ")]
    lines += ["", *table_lines(PARTS, parts, width=width), "", *table_lines(WAYS, ways, width=width)]
    if document.remedies:
        lines += ["", *wrapped("What would make it fit, cheapest first, each on top of the last:", width=width)]
        rows = [
            {
                "change": remedy.change,
                "option": remedy.option,
                "fits": _chance(remedy.chance, None),
                "costs": remedy.costs,
            }
            for remedy in document.remedies
        ]
        lines += table_lines(CHANGES, rows, width=width)
    if not details:
        last = ["Sources: --details", *again(document.answer_id)]
        return [*lines, *wrapped_items(last, width=width, separator="    ")]
    lines_of_details = [line for text in _details(document) for line in wrapped(text, width=width, indent="    ")]
    if document.formulas:
        lines_of_details += wrapped_lines([f"How the total and the chance are computed ({HOW_TO_READ}):"], width)
        lines_of_details += wrapped_lines(list(formula_lines(document.formulas, full=True)), width)
    return [*lines, *lines_of_details, *again(document.answer_id)]


def memory_tables(document: MemoryDocument) -> list[tuple[tuple[Column, ...], list[Row]]]:
    """Return columns and rows of both tables: the memory parts of one device, and the ways to checkpoint."""
    parts = [{"part": name} | _gib(quantity) for name, quantity in parts_of(document).items()]
    ways = [
        {
            "way": way.checkpointing.value,
            "fits": _chance(way.chance, way.fits),
            "largest": _largest(way.largest_micro_batch),
            "mark": "<-" if way.checkpointing is document.checkpointing else "",
        }
        | _gib(way.total_gib)
        for way in document.ways
    ]
    return [(PARTS, parts), (WAYS, ways)]


def verdict_text(document: MemoryDocument) -> str:
    """Write whether the training fits, with its chance and the assumptions."""
    needed = GIB.value(document.total_gib)
    of_device = "" if document.hbm_gib is None else f" of {GIB.value(document.hbm_gib)}"
    how = f"with {document.checkpointing.value} checkpointing" if document.checkpointing != "none" else "as it is"
    if document.fits is None:
        return f"Whether it fits is not known: it needs {needed} GiB, and the device's memory is not known."
    chance = _chance(document.chance, document.fits)
    word = {"yes": f"Fits {how}, {chance}", "no": f"Does not fit {how}: chance {chance}"}
    said = f"{word.get(document.fits, f'May fit {how}, {chance}')}: {needed}{of_device} GiB"
    if document.fits == "yes":
        said += f", micro-batch up to {_largest(document.largest_micro_batch)}"
    return f"{said}.{_assumed(document)}"


def _assumed(document: MemoryDocument) -> str:
    """Write the values that were assumed for settings that are not stated."""
    named = [name for name in document.unstated if name in OPTIONS]
    if document.trainer is None or not named:
        return ""
    taken = " and ".join(f"{OPTIONS[name]} {getattr(document.trainer, name).value}" for name in named)
    return f" Parts as with {taken}; range and chance hold the others too."


OPTIONS = {"loss": "--loss", "kernels": "--kernels"}
"""Options for the trainer's settings that change the chance if they are not stated."""


def _chance(chance: float | None, fits: str | None) -> str:
    """Write a chance in whole percent, never 0 or 100; for an old answer without a chance, its word."""
    if chance is None:
        return fits or NOT_KNOWN
    return "under 1 %" if chance < 0.01 else "over 99 %" if chance > 0.99 else f"{chance * 100:.0f} %"


def _title(document: MemoryDocument) -> str:
    card = card_names({document.accelerator})[document.accelerator]
    length = " images" if document.seq_len is None else f" x {document.seq_len:,} tokens"
    split = f", {document.split}" if document.split else ""
    return (
        f"{document.workload} on {document.accelerators}x {card}: {strategy_name(document.strategy)}{split}, "
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


COLUMNS = (
    Column(key="number", title="#", right=True),
    Column(key="strategy", title="strategy"),
    Column(key="split", title="split", wrap=12),
    Column(key="micro_batch", title="micro-batch", right=True, drop=1),
    Column(key="accumulation", title="accumulation", right=True, drop=5),
    Column(key="checkpointing", title="checkpointing", drop=2),
    Column(key="gib", title="GiB", right=True, drop=3),
    Column(key="rate", title="samples/s", right=True),
    Column(key="range", title="(90 %)", gap=1, drop=4),
    Column(key="against", title="of best", right=True),
)
SPLITS = ("tensor", "pipeline", "context", "experts")


def strategies_lines(ranking: Mapping[str, Any], machine: str, *, width: int, whole: bool = False) -> list[str]:
    """Return the screen in lines of at most `width`. `whole` shows all ways instead of those that fit."""
    ways: Sequence[Mapping[str, Any]] = ranking["ways"]
    title = [*wrapped(f"{ranking['workload']} on {machine}: ways to spread one training", width=width), ""]
    below = wrapped(ranking["note"], width=width)
    if not ways:
        return [*title, *below]
    title += [*wrapped(_headline(ways[0], ranking["accelerators"]), width=width, indent="  "), ""]
    rows = [_row(number, way, ranking["accelerators"]) for number, way in enumerate(ways, start=1)]

    def lines(shown: int) -> list[str]:
        left = len(rows) - shown
        more = [f"and {left} more: --all"] if left else []
        return [*title, *table_lines(COLUMNS, rows[:shown], width=width), *more, *below]

    return lines(len(rows)) if whole else fewer_rows(lines, len(rows))


def _headline(best: Mapping[str, Any], devices: int) -> str:
    return f"Take {', '.join(_words(best, devices))}: {_rate(best['samples_per_s'])} samples/s (modelled)."


def _words(way: Mapping[str, Any], devices: int) -> Iterator[str]:
    yield strategy_name(way["strategy"])
    if split := _split(way, devices):
        yield split
    yield f"micro-batch {way['micro_batch']}"
    yield "no checkpointing" if way["checkpointing"] == "none" else f"{way['checkpointing']} checkpointing"


def _row(number: int, way: Mapping[str, Any], devices: int) -> dict[str, str]:
    return {
        "number": str(number),
        "strategy": strategy_name(way["strategy"]),
        "split": _split(way, devices),
        "micro_batch": str(way["micro_batch"]),
        "accumulation": str(way["accumulation"]),
        "checkpointing": way["checkpointing"],
        "gib": f"{way['hbm_gib']:.0f}",
        "rate": _rate(way["samples_per_s"]),
        "range": f"({_rate(way['low'], digits=2)}-{_rate(way['high'], digits=2)})",
        "against": f"{way['against_best'] * 100:.0f} %",
    }


def _split(way: Mapping[str, Any], devices: int) -> str:
    said = [f"{name} {way[name]}" for name in SPLITS if way[name] > 1]
    hybrid = way["shards"] * way["tensor"] * way["pipeline"] < devices
    return ", ".join([*said, *([f"sharded over {way['shards']}"] if hybrid else [])])


def _rate(value: float, *, digits: int = 3) -> str:
    return short_text(value, digits=digits)
