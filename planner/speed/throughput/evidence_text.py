"""Texts that state the evidence of an estimate: a line for tables, and a clause with all counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from planner.model.evidence.run import RunRecord
from planner.model.hardware.accelerator_name import spelled
from planner.model.plan.plan_option import UserStep
from planner.model.quantity import Basis

if TYPE_CHECKING:
    from collections.abc import Collection

    from planner.model.evidence.calibration import Calibration
    from planner.speed.physics.observation import Labels, Observation
    from planner.speed.throughput.own_evidence import OwnEvidence

ASSUMED_SHARE, PLANNED_SHARE = "share of the peak (assumed)", "share of the peak (the plan's mfu)"
LONGEST_LINE = 60
"""Largest number of characters of a line in a table; longer lines omit names."""
MODULES = ("SXM", "SXM2", "SXM3", "DGXS", "per", "GPU")
"""Parts of an accelerator's id that lines omit. Cards keep "PCIe" and "NVL", because they are slower."""
MOST_NAMES = 2
"""Largest number of accelerators that a clause names."""
STATED = " (step)"
"""End of the line for a step that the plan states."""


def evidence_clause(
    label: Labels, calibration: Calibration, own: OwnEvidence[Observation], bundled_runs: Collection[str]
) -> str:
    """Return the counts of an estimate's evidence: published runs, the user's steps and runs, bundled runs, probes."""
    rows_seen = calibration.seen["accelerator"].get(label.accelerator)
    published = f"{calibration.rows:,} published runs, "
    if rows_seen is not None:
        published += f"{rows_seen.rows:,} of them on {spelled(label.accelerator)}"
    else:
        others = calibration.seen["generation"].get(label.generation)
        published += f"none of them on {spelled(label.accelerator)}, "
        published += f"{others.rows:,} on other {label.generation} accelerators" if others else "nor of its generation"
    counted = [published]
    if own.steps:
        counted.append(f"your step on {_named(step.accelerator.id for step in own.steps)}")
    for is_own, singular, plural in ((True, "your run", "of your runs"), (False, "1 bundled run", "bundled runs")):
        runs = [run for run in own.runs if (run.id not in bundled_runs) is is_own]
        if runs:
            count = singular if len(runs) == 1 else f"{len(runs)} {plural}"
            counted.append(f"{count} on {_named(run.hardware.accelerator for run in runs)}")
    if own.probe.probes:
        newest = max(probe.measured_on for probe in own.probe.probes)
        whose = "your probe" if own.probe.of_this_machine else "a probe of another machine of the kind"
        counted.append(f"{whose} of {newest}")
    return counted[0] if len(counted) == 1 else f"{', '.join(counted[:-1])}, and {counted[-1]}"


def estimated_line(
    label: Labels, calibration: Calibration, own: OwnEvidence[Observation], bundled_runs: Collection[str]
) -> str:
    """Return an estimate's evidence in one line: the user's measurements, or else the rows of this accelerator."""
    line = f"estimated from {calibration.rows:,} published runs"
    own_count = sum(run.id not in bundled_runs for run in own.runs)
    if own.steps or own_count:
        step, runs = "your step", f"{own_count} of your runs" if own_count > 1 else "your run"
        return f"{line} and {step if own.steps else runs}"
    if own.probe.probes:
        return f"{line} and {'your' if own.probe.of_this_machine else 'another'} probe"
    rows_seen = calibration.seen["accelerator"].get(label.accelerator)
    count = f"{rows_seen.rows:,}" if rows_seen else "none"
    return _shortened(f"{line}, {count} on {short_name(label.accelerator)}", f"{line}, {count} on this one")


def rests_on_own_figures(line: str) -> bool:
    """Return whether a line names a figure of the user: a run, a probe, or a step that the plan states."""
    return " your " in line or line.endswith(STATED)


def stated_line(step: UserStep) -> str:
    """Return the line for a step that the plan states."""
    by = "measured by you" if step.basis is Basis.MEASURED else f"{step.basis.value} by the plan"
    return f"{by}{STATED}"


def measured_line(runs: Sequence[RunRecord], basis: Basis, bundled_runs: Collection[str]) -> str:
    """Return the line for runs that answer directly, without an estimate."""
    own_count = sum(run.id not in bundled_runs for run in runs)
    if len(runs) == 1:
        whose = "your" if own_count else "bundled"
        return _shortened(f"{basis.value} ({whose} run {runs[0].id})", f"{basis.value} ({whose} run)")
    if own_count == len(runs):
        return f"{basis.value} ({own_count} of your runs)"
    count = f"{len(runs)} runs, {own_count} of them yours" if own_count else f"{len(runs)} bundled runs"
    return f"{basis.value} ({count})"


def scaled_line(run: RunRecord, bundled_runs: Collection[str], *, of_another_network: bool = False) -> str:
    """Return the line for a rate that is scaled from a run elsewhere, or from another network on the same machine."""
    bundled = run.id in bundled_runs
    if of_another_network:
        return f"scaled from {'a' if bundled else 'your'} run of another network there"
    where = f"{run.hardware.accelerators}x {short_name(run.hardware.accelerator)}"
    return f"scaled from {f'the run {run.basis.value}' if bundled else 'your run'} on {where}"


def short_name(accelerator: str) -> str:
    """Return an accelerator's name without its memory and module: H100 of H100-SXM, RTX 4090 of RTX-4090."""
    return spelled(" ".join(part for part in accelerator.split("-") if part not in MODULES and not part.endswith("GB")))


def _named(accelerators: Iterable[str]) -> str:
    names = sorted({spelled(accelerator) for accelerator in accelerators})
    return " and ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} accelerators"


def _shortened(line: str, without_name: str) -> str:
    return line if len(line) <= LONGEST_LINE else without_name
