"""Shows the answer of `strategies`: the fastest way to spread a training, and the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from planner.decide.options.display_name import strategy_name
from planner.present.screen import Column, fewer_rows, table_lines, wrapped
from planner.present.short_figures import short_text

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
