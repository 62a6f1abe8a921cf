"""Speed of one accelerator over that of another in training, from two measured runs of one workload."""

from __future__ import annotations

from planner.errors import InputError
from planner.model.answer.sweep_answer import RatioDocument
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import BenchMode
from planner.model.quantity import Quantity, Unit, weakest
from planner.speed.throughput.scaling_table import SETTINGS

LEAST_DIFFERENCE = 0.03
"""Least difference that counts. Two instances of one kind differ by up to 2 %."""
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
