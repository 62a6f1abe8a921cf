"""Writes an explanation as text: the number, the parts of the step, their formulas, constants and runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.model.answer.explanation import ExplainDocument, OptionExplanation, ThroughputFrom
from planner.present.explanation_answer import answer_lines, mix_lines
from planner.present.facts import name_text
from planner.present.formula_lines import HOW_TO_READ, formula_lines
from planner.present.screen import again, wrapped_lines
from planner.present.table import Row, number_text, quantity_text
from planner.present.time_table import time_facts, time_rows
from planner.speed.throughput.prediction_notes import part_names

MOST_CONSTANTS = 16
MOST_RUNS = 12
SMALLEST_SHARE = 0.0005
"""Smallest share of a step that is shown. `--json` has every part."""
ANSWER_FROM: dict[ThroughputFrom | None, str] = {
    "runs": "measured",
    "step": "from the plan's step time",
    "mfu": "from the plan's MFU",
    "extrapolation": "extrapolated from a run",
    "share_of_peak": "from a share of the peak",
}


def as_text(document: ExplainDocument, *, width: int | None = None) -> str:
    """Write all options, one after another, in lines of at most `width` if it is given."""
    lines = [document.plan, *mix_lines(document)]
    for option in document.options:
        lines += ["", *_option(option, document)]
    lines += again(document.answer_id)
    return "".join(f"{line}\n" for line in wrapped_lines(lines, width))


def _option(option: OptionExplanation, document: ExplainDocument) -> Iterator[str]:
    yield f"== {option.id}: {option.name if option.answer is None else name_text(option.answer)}"
    if option.answer is not None:
        yield from answer_lines(option.answer, document)
    if option.host is not None:
        yield f"Host of a node: {option.host}."
    if option.throughput is None:
        yield f"No speed is known: {option.why_not or '; '.join(option.notes)}"
    else:
        yield f"throughput {quantity_text(option.throughput)}"
        yield f"  {option.throughput.source}"
        if option.why_not is not None:
            yield f"Not known: {option.why_not}"
    if option.answer is not None:
        yield from (f"Note: {run.text}" for run in option.answer.runs_not_counted)
    if option.formulas:
        yield f"How the figures are computed ({HOW_TO_READ}):"
        yield from formula_lines(option.formulas, full=True)
    if option.time is not None:
        yield from _block("Where the hours of one training go", time_rows(option.time))
        yield from (f"  - {fact}" for fact in time_facts(option.time))
    yield from _configuration(option)
    if option.physics is not None and _answer_from(option):
        yield f"Besides, the estimator says: {quantity_text(option.physics)}"
    yield from _step(option)
    yield from _extrapolated(option)
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
    title = f"Parts of a step of {option.step_size:,.0f} {option.step_unit}, {option.step_seconds:.4g} s"
    if option.physics is not None and (other := _answer_from(option)):
        own = f"{number_text(option.physics.value, option.physics.unit)} samples/s"
        title = f"Parts of the estimator's step ({own}; {other}): {option.step_size:,.0f} {option.step_unit}, "
        title += f"{option.step_seconds:.4g} s"
    names = part_names("image" if option.step_unit == "images" else "tokens")
    rows = [
        {
            "part": names.get(part.name, part.name), "seconds": f"{part.seconds:.4g}",
            "share": f"{part.share * 100:.1f} %", "times": "-" if part.times is None else f"{part.times:.4g}",
            "formula": part.formula, "where": part.where,
        }
        for part in option.parts
        if part.share >= SMALLEST_SHARE
    ]  # fmt: skip
    yield from _block(title, rows)
    yield from _correction(option)
    shown = option.constants[:MOST_CONSTANTS]
    rows = [
        {
            "constant": constant.name, "value": f"{constant.value:.4g}", "prior": f"{constant.prior:.4g}",
            "prior +-": "-" if constant.spread is None else f"{constant.spread * 100:.0f} %",
            "allowed range": f"{constant.low:g}-{constant.high:g}",
            "1 % more: step": f"{constant.percent_per_percent:+.3f} %", "meaning": constant.meaning,
        }
        for constant in shown
    ]  # fmt: skip
    left = len(option.constants) - len(shown)
    more = f", {left} weaker ones left out" if left else ""
    yield from _block(f"The constants that move it most{more} (planner/speed/physics/parameters.csv)", rows)
    for effect in option.effects:
        known = "no evidence of it, so no effect"
        if effect.step_factor is not None:
            subject = "its own work takes" if effect.level in ("chip", "accelerator") else "its steps take"
            known = f"{subject} {effect.step_factor:.3f} times the physics' seconds"
        yield f"  {effect.level} {effect.label}: {known}"


def _answer_from(option: OptionExplanation) -> str | None:
    """Return the answer and its origin; None if it comes from the estimator, or there is none."""
    if option.throughput is None or option.throughput_from not in ANSWER_FROM:
        return None
    rate = number_text(option.throughput.value, option.throughput.unit)
    return f"the answer, {rate}, is {ANSWER_FROM[option.throughput_from]}"


def _configuration(option: OptionExplanation) -> Iterator[str]:
    config = option.configuration
    if config is None:
        return
    said = [f"{config.strategy.value} on {config.accelerators}", config.split or "no split"]
    if config.micro_batch is not None:
        said.append(f"micro-batch {config.micro_batch:g}")
    if config.accumulation is not None:
        said.append(f"accumulation {config.accumulation:g}")
    if config.checkpointing is not None:
        again = f" (recomputed {config.recomputed:g})" if config.recomputed else ""
        said.append(f"checkpointing {config.checkpointing.value}{again}")
    if config.precision is not None:
        said.append(config.precision.value)
    yield f"Configuration estimated: {', '.join(said)}"
    if option.setup:
        yield f"Stated by the plan: {', '.join(f'{name} {value}' for name, value in option.setup.items())}"


def _correction(option: OptionExplanation) -> Iterator[str]:
    """Write the factors of a part's seconds."""
    if option.correction is None:
        return
    correction = option.correction
    runs = (
        f"corrected by {correction.runs} measurement{'s' if correction.runs > 1 else ''}: x {correction.by_runs:.4g}"
        if correction.runs
        else "not corrected by measurements"
    )
    labels = f"effects of labels, below: x {correction.by_labels:.4g}"
    yield f"  seconds = formula x times x {correction.factor:.4g} ({runs}; {labels})"
    yield "  times: micro-batches, as far as nothing hides them, the chip and the kernels; -: a share of the rest"


def _extrapolated(option: OptionExplanation) -> Iterator[str]:
    """Write the step and the ratios of an extrapolated rate, which has no parts."""
    extrapolation = option.extrapolation
    if extrapolation is None or option.throughput is None:
        return
    rate = f"{number_text(option.throughput.value, option.throughput.unit)} samples/s"
    step = (
        ""
        if extrapolation.seconds is None
        else f"; a step of {extrapolation.batch:,} samples takes {extrapolation.batch:,} / rate = "
        f"{extrapolation.seconds:.4g} s"
    )
    yield f"Extrapolated from {', '.join(extrapolation.runs)}, so without parts: {rate}{step}"
    rows = [
        {"ratio": ratio.what, "factor": f"{ratio.value:.5g}", "formula": ratio.formula}
        for ratio in extrapolation.ratios
    ]
    yield from _block("Factors between the run and the answer", rows)


def _next_runs(option: OptionExplanation) -> Iterator[str]:
    if option.throughput is None:
        return
    now = option.throughput.high / option.throughput.value - 1
    rows = [
        {
            "run": f"{run.accelerators} accelerator{'s' if run.accelerators > 1 else ''}, {run.strategy.value}",
            "range now": f"+{now * 100:.0f} %",
            "range with it": f"+{run.half_width * 100:.0f} %",
        }
        for run in option.next_runs
    ]
    yield from _block("What one more run there would do, if it came out as expected", rows)


def _runs(option: OptionExplanation) -> Iterator[str]:
    rows = []
    for run in option.runs[:MOST_RUNS]:
        moved = "-" if run.change_fraction is None else f"{run.change_fraction * 100:+.2f} %"
        rows.append(
            {
                "run": run.id,
                "weight": "-" if run.weight is None else f"{run.weight:+.3f}",
                "throughput without it": quantity_text(run.without),
                "it moves the answer by": moved,
                "differs in": ", ".join([*run.different, *(f"{name} (not stated)" for name in run.unknown)]) or "-",
            }
        )
    left = len(option.runs) - len(rows)
    more = f", {left} weaker ones left out" if left else ""
    yield from _block(f"What each run does to the answer{more}", rows)


def _block(title: str, rows: Sequence[Row]) -> Iterator[str]:
    """Write a title and aligned columns without trailing blanks; nothing if there are no rows."""
    if not rows:
        return
    yield f"{title}:"
    names = list(rows[0])
    widths = [max(len(name), *(len(row[name]) for row in rows)) for name in names]
    for cells in (dict(zip(names, names, strict=True)), *rows):
        padded = [cells[name].ljust(width) for name, width in zip(names, widths, strict=True)]
        yield ("  " + "  ".join(padded)).rstrip()
