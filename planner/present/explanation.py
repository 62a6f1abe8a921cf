"""An explanation as text: from the number to the parts of the step, their formulas, constants and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.model.answer.explanation import ExplainDocument, OptionExplanation
from planner.present.table import Row, quantity_text
from planner.present.time_table import time_facts, time_rows

MOST_CONSTANTS = 12
MOST_RUNS = 12
SMALLEST_SHARE = 0.0005
"""Of a step; `--json` has every part."""
BESIDE = "Beside this answer, the estimator says: "


def as_text(document: ExplainDocument) -> str:
    """Write all options, one after another."""
    lines = [document.plan]
    for option in document.options:
        lines += ["", *_option(option)]
    return "\n".join(lines) + "\n"


def _option(option: OptionExplanation) -> Iterator[str]:
    yield f"== {option.id}: {option.name}"
    if option.throughput is None:
        yield f"No speed is known: {option.why_not or '; '.join(option.notes)}"
    else:
        yield f"throughput {quantity_text(option.throughput)}"
        yield f"  {option.throughput.source}"
        if option.why_not is not None:
            yield f"Not known: {option.why_not}"
    if option.time is not None:
        yield from _block("Where the hours of one training go", time_rows(option.time))
        yield from (f"  - {fact}" for fact in time_facts(option.time))
    if option.physics is not None and option.throughput is not None and option.physics != option.throughput:
        yield f"{BESIDE}{quantity_text(option.physics)}"
    yield from _step(option)
    yield from _runs(option)
    yield from _next_runs(option)
    rows = [
        {
            "id": row.id, "source": row.source, "accelerators": f"{row.accelerators}x {row.accelerator}",
            "workload": row.workload, f"measured {option.step_unit}/s": f"{row.measured_per_s:,.0f}",
            "by the fit": f"{row.modelled_per_s:,.0f}", "distance": f"{row.distance:.2f}",
        }
        for row in option.nearest
    ]  # fmt: skip
    yield from _block("The nearest published measurements, per accelerator", rows)


def _step(option: OptionExplanation) -> Iterator[str]:
    if option.step_seconds is None or option.step_size is None:
        return
    title = f"The parts of a step of {option.step_size:,.0f} {option.step_unit}, {option.step_seconds:.4g} s"
    rows = [
        {
            "part": part.name, "seconds": f"{part.seconds:.4g}", "share": f"{part.share * 100:.1f} %",
            "formula": part.formula, "where": part.where,
        }
        for part in option.parts
        if part.share >= SMALLEST_SHARE
    ]  # fmt: skip
    yield from _block(title, rows)
    shown = option.constants[:MOST_CONSTANTS]
    rows = [
        {
            "constant": one.name, "value": f"{one.value:.4g}", "before evidence": f"{one.prior:.4g}",
            "bounds": f"{one.low:g}-{one.high:g}", "1 % more: step": f"{one.percent_per_percent:+.3f} %",
            "meaning": one.meaning,
        }
        for one in shown
    ]  # fmt: skip
    left = len(option.constants) - len(shown)
    more = f", {left} weaker ones left out" if left else ""
    yield from _block(f"The constants that move it most{more} (planner/speed/physics/*parameters.py)", rows)
    for effect in option.effects:
        known = "no evidence of it, so no effect"
        if effect.step_factor is not None:
            known = f"its steps take {effect.step_factor:.3f} times the physics' seconds"
        yield f"  {effect.level} {effect.label}: {known}"


def _next_runs(option: OptionExplanation) -> Iterator[str]:
    if option.throughput is None:
        return
    now = option.throughput.high / option.throughput.value - 1
    rows = [
        {
            "run": f"{one.accelerators} accelerator{'s' if one.accelerators > 1 else ''}, {one.strategy.value}",
            "range now": f"+{now * 100:.0f} %",
            "range with it": f"+{one.half_width * 100:.0f} %",
        }
        for one in option.next_runs
    ]
    yield from _block("What one more run there would do, if it came out as expected", rows)


def _runs(option: OptionExplanation) -> Iterator[str]:
    rows = []
    for one in option.runs[:MOST_RUNS]:
        moved = "-" if one.change_fraction is None else f"{one.change_fraction * 100:+.2f} %"
        rows.append(
            {
                "run": one.id,
                "weight": "-" if one.weight is None else f"{one.weight:+.3f}",
                "throughput without it": quantity_text(one.without),
                "it moves the answer by": moved,
            }
        )
    left = len(option.runs) - len(rows)
    more = f", {left} weaker ones left out" if left else ""
    yield from _block(f"What each run does to the answer{more}", rows)


def _block(title: str, rows: Sequence[Row]) -> Iterator[str]:
    """Write a title and aligned columns; the last column is not padded. Nothing where there are no rows."""
    if not rows:
        return
    yield f"{title}:"
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    for cells in (dict(zip(names, names, strict=True)), *rows):
        padded = [cells[name].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield ("  " + "  ".join(padded)).rstrip()
