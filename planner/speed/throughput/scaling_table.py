"""Scaling of a series of measured runs, and the ratio of two accelerators in runs of one workload."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from planner.errors import InputError
from planner.model.answer.sweep_answer import RatioDocument, SweepDocument, SweepRow
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchMode
from planner.model.quantity import Quantity, Unit, weakest

MAX_EFFICIENCY = 1.05
"""Largest believable efficiency. More than perfect scaling is rarely real; usually the run on few was slow."""

SETTINGS = (
    "seq_len",
    "strategy",
    "precision",
    "mode",
    "micro_batch",
    "data",
    "checkpointing",
    "compiled",
    "loss_chunks",
    "channels_last",
    "method",
    "method_version",
)
"""Fields of a record in which runs must agree so that their difference is due to their counts."""


def speedup(*, samples_per_s: float, base_samples_per_s: float) -> float:
    """Return the speed-up = rate / rate of the smallest count."""
    return samples_per_s / base_samples_per_s


def efficiency(*, samples_per_s: float, accelerators: int, base_samples_per_s: float, base_accelerators: int) -> float:
    """Return the efficiency = (rate / accelerators) / (rate / accelerators of the smallest count); 1 is perfect.

    It is weak scaling if each accelerator does the same work per step, and strong scaling if all counts have one global
    batch, as tuned runs do; `_kind_of_scaling` says which.
    """
    return (samples_per_s / accelerators) / (base_samples_per_s / base_accelerators)


def scaling_table(runs: Sequence[RunRecord]) -> SweepDocument:
    """Return the table of runs of one workload on one kind of accelerator, the smallest count first.

    All runs are compared with the median rate of the runs on the smallest count. Raises InputError for runs of
    different networks or accelerators, for repeated runs, and if there are not at least two counts.
    """
    _refuse_other_things(runs)
    ordered = sorted(runs, key=lambda run: (run.hardware.accelerators, run.id))
    base_accelerators = ordered[0].hardware.accelerators
    base_samples_per_s = statistics.median(
        run.throughput.value for run in ordered if run.hardware.accelerators == base_accelerators
    )
    rows = tuple(
        SweepRow(
            accelerators=run.hardware.accelerators,
            nodes=run.hardware.nodes,
            run=run.id,
            throughput=run.throughput,
            throughput_per_accelerator=_per_accelerator(run),
            speedup=speedup(samples_per_s=run.throughput.value, base_samples_per_s=base_samples_per_s),
            efficiency=efficiency(
                samples_per_s=run.throughput.value,
                accelerators=run.hardware.accelerators,
                base_samples_per_s=base_samples_per_s,
                base_accelerators=base_accelerators,
            ),
        )
        for run in ordered
    )
    first = ordered[0]
    shared = {name for name in SETTINGS if len({getattr(run, name) for run in ordered}) == 1}
    return SweepDocument(
        workload=first.workload,
        accelerator=first.hardware.accelerator,
        strategy=first.strategy if "strategy" in shared else None,
        precision=first.precision if "precision" in shared else None,
        seq_len=first.seq_len if "seq_len" in shared else None,
        micro_batch=first.micro_batch if "micro_batch" in shared else None,
        rows=rows,
        doubts=tuple(dict.fromkeys([*_different_settings(ordered), *_too_good(rows), *_run_problems(ordered)])),
        notes=_notes(ordered),
    )


def too_good_against(run: RunRecord, base: RunRecord) -> tuple[str, ...]:
    """Return a doubt if a run's efficiency over one on fewer accelerators is more than 105 %."""
    scaled = efficiency(
        samples_per_s=run.throughput.value,
        accelerators=run.hardware.accelerators,
        base_samples_per_s=base.throughput.value,
        base_accelerators=base.hardware.accelerators,
    )
    if scaled <= MAX_EFFICIENCY:
        return ()
    return (_too_good_text(run.hardware.accelerators, base.hardware.accelerators, scaled),)


def _too_good_text(accelerators: int, base: int, scaled: float) -> str:
    return (
        f"{accelerators} accelerators each do {scaled:.0%} of what each of {base} does; "
        f"over {MAX_EFFICIENCY:.0%} is hardly ever real: look for what slowed the run on {base}"
    )


def _refuse_other_things(runs: Sequence[RunRecord]) -> None:
    if len({run.id for run in runs}) < 2:
        raise InputError("a scaling table needs at least two runs.", fix="Name two or more different runs.")
    if len({run.id for run in runs}) < len(runs):
        raise InputError("a run is named twice.", fix="Name every run once.")
    workloads = list(dict.fromkeys(run.workload for run in runs))
    networks = {run.architecture.model_dump_json() for run in runs if run.architecture is not None}
    if len(workloads) > 1 or len(networks) > 1:
        raise InputError(
            f"the runs trained different networks: {', '.join(workloads)}.", fix="Name runs of one workload."
        )
    accelerators = list(dict.fromkeys(run.hardware.accelerator for run in runs))
    if len(accelerators) > 1:
        raise InputError(
            f"the runs were made on different accelerators: {', '.join(accelerators)}.",
            fix="Name runs on one kind of accelerator.",
        )
    if len({run.hardware.accelerators for run in runs}) < 2:
        raise InputError(
            f"all runs were made on {runs[0].hardware.accelerators} accelerator(s).", fix="Name runs of several counts."
        )


def _per_accelerator(run: RunRecord) -> Quantity:
    count, whole = run.hardware.accelerators, run.throughput
    return whole.model_copy(
        update={
            "value": whole.value / count,
            "low": whole.low / count,
            "high": whole.high / count,
            "source": f"run {run.id}: {whole.value:.6g} samples/s / {count} accelerators",
        }
    )


def _different_settings(runs: Sequence[RunRecord]) -> list[str]:
    """Return a doubt for every setting that differs between the runs."""
    doubts = []
    for name in SETTINGS:
        values = list(dict.fromkeys(getattr(run, name) for run in runs))
        if len(values) > 1:
            shown = ", ".join("not stated" if value is None else str(value) for value in values)
            doubts.append(f"the runs differ in more than their count: {name} is {shown}")
    return doubts


def _too_good(rows: Sequence[SweepRow]) -> list[str]:
    base = rows[0].accelerators
    return [
        f"{row.run}: {_too_good_text(row.accelerators, base, row.efficiency)}"
        for row in rows
        if row.efficiency > MAX_EFFICIENCY
    ]


def _run_problems(runs: Sequence[RunRecord]) -> list[str]:
    return [f"{run.id}: {problem}" for run in runs for problem in run.verdict]


def _notes(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    notes = list(dict.fromkeys(run.note for run in runs if run.note is not None and run.document is None))
    notes += _kind_of_scaling(runs)
    if any(run.short_window for run in runs):
        notes.append("Measured for seconds only: a demonstration, not evidence")
    if runs[0].hardware.accelerator == "CPU":
        notes.append("Processes on one CPU share its cores, so this does not show how accelerators scale")
    return tuple(notes)


def _kind_of_scaling(runs: Sequence[RunRecord]) -> list[str]:
    """Return a note that names weak or strong scaling; none if a run does not state its global batch."""
    counts = [run.hardware.accelerators for run in runs]
    batches = [run.global_batch for run in runs if run.global_batch is not None]
    if len(batches) < len(runs):
        return []
    if len(set(batches)) == 1:
        return [
            f"Strong scaling: every count does {batches[0]} samples a step, so more accelerators accumulate less and "
            "average gradients as often"
        ]
    if len({batch / count for batch, count in zip(batches, counts, strict=True)}) == 1:
        return [
            f"Weak scaling: each accelerator does {batches[0] / counts[0]:g} samples a step at every count, so the "
            "global batch grows with it"
        ]
    return [
        "Neither weak nor strong scaling: the global batch is "
        + ", ".join(f"{batch} on {count}" for batch, count in zip(batches, counts, strict=True))
    ]


LEAST_DIFFERENCE = 0.03
"""Smallest difference that counts. Two instances of one kind differ by up to 2 %."""
MAY_DIFFER_TUNED = ("mode", "micro_batch")


def hardware_ratio(run: RunRecord, base: RunRecord) -> RatioDocument:
    """Return the ratio (rate / accelerators) of `run` / (rate / accelerators) of `base`; 2 is twice as fast.

    Its range is low / high to high / low of the two rates. Raises InputError if the runs are the same or trained
    different networks.
    """
    if run.id == base.id:
        raise InputError("a run is compared with itself.", fix="Name two different runs.")
    networks = {record.architecture.model_dump_json() for record in (run, base) if record.architecture is not None}
    if run.workload != base.workload or len(networks) > 1:
        raise InputError(
            f"the runs trained different networks: {run.workload}, {base.workload}.", fix="Name runs of one workload."
        )
    over = base.hardware.accelerators / run.hardware.accelerators
    ours, theirs = run.throughput, base.throughput
    ratio = Quantity(
        value=ours.value / theirs.value * over,
        low=ours.low / theirs.high * over,
        high=ours.high / theirs.low * over,
        unit=Unit.RATIO,
        basis=weakest(ours.basis, theirs.basis),
        source=f"samples/s of an accelerator: {ours.value:.6g} / {run.hardware.accelerators} in {run.id}, over "
        f"{theirs.value:.6g} / {base.hardware.accelerators} in {base.id}",
        as_of=min((day for day in (ours.as_of, theirs.as_of) if day is not None), default=None),
    )
    return RatioDocument(
        workload=run.workload,
        accelerator=run.hardware.accelerator,
        base_accelerator=base.hardware.accelerator,
        run=run.id,
        base_run=base.id,
        mode=run.mode if run.mode is base.mode else None,
        ratio=ratio,
        doubts=tuple(_doubts(run, base, ratio)),
    )


def _doubts(run: RunRecord, base: RunRecord, ratio: Quantity) -> list[str]:
    doubts = []
    both_tuned = run.mode is base.mode is BenchMode.TUNED
    if not both_tuned:
        shown = ", ".join(record.mode.value if record.mode else "not stated" for record in (run, base))
        doubts.append(
            f"a ratio between hardware comes from two tuned runs, and these are {shown}: at a micro-batch that suits "
            "one device, the other is not at its best"
        )
    for name in (*SETTINGS, "global_batch"):
        values = [getattr(record, name) for record in (run, base)]
        if values[0] != values[1] and name != "mode" and not (both_tuned and name in MAY_DIFFER_TUNED):
            shown = ", ".join("not stated" if value is None else str(value) for value in values)
            doubts.append(f"the runs differ in more than their hardware: {name} is {shown}")
    counts = [record.hardware.accelerators for record in (run, base)]
    if counts[0] != counts[1]:
        doubts.append(
            f"{counts[0]} accelerators against {counts[1]}: the ratio also contains how well each count scales"
        )
    if abs(ratio.value - 1) < LEAST_DIFFERENCE:
        doubts.append(
            f"under {LEAST_DIFFERENCE:.0%} is not a difference: one instance differs from the next by as much"
        )
    return doubts + [f"{record.id}: {problem}" for record in (run, base) for problem in record.verdict]
