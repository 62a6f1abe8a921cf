"""Speed of a candidate: the plan's own figure, a measurement, or the estimator's prediction."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date

from planner.model.answer.option_estimate import RunNotCounted
from planner.model.answer.reason import Reason
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Strategy
from planner.model.plan.plan_option import UserStep
from planner.model.quantity import Basis
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.speed.estimator.shared_causes import Causes
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.throughput import power_cap
from planner.speed.throughput.auto_strategy import fit_of_config, undivided_fit
from planner.speed.throughput.evidence_text import measured_line, stated_line
from planner.speed.throughput.matching_runs import measured_runs, runs_not_counted
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction
from planner.speed.throughput.probe_evidence import CONTRADICTED_FRACTION, measurement_contradicted

NARROWEST_FRACTION = 0.02
"""Smallest half-width of any range: published speeds of one accelerator differ between nodes by 0.6 to 2 %."""
SINGLE_RUN_FRACTION = 0.05
"""Smallest half-width of one run without repeats."""
UNSTATED_FRACTION = 0.10
"""Smallest half-width of a record that does not state its strategy or precision. Assumed."""
SHORT_WINDOW_FRACTION = 0.15
"""Smallest half-width of a measurement over seconds instead of minutes."""
STATED_FRACTION = {Basis.MEASURED: 0.05, Basis.QUOTED: 0.10, Basis.MODELLED: 0.50, Basis.ASSUMED: 0.50}
"""Half-width of a step time that the plan states without a range."""


@dataclass(frozen=True)
class Speed:
    """Samples/s of the whole cluster in steady state; None with `problems` that say why."""

    samples_per_s: Interval | None
    basis: Basis
    write_source: Callable[[], str] = field(compare=False)
    """Function that returns `source`, called on demand."""
    as_of: date | None
    strategy: Strategy
    fit: DeviceFit
    known_from: str | None = None
    """Evidence in one line, for people."""
    run_ids: tuple[str, ...] = ()
    steps: tuple[Candidate, ...] = ()
    """Options of the plan whose steps corrected the speed."""
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_counted: tuple[RunNotCounted, ...] = ()
    problems: tuple[Reason, ...] = ()
    rollout: RolloutEstimate | None = None
    """Step of a training on its own completions."""
    causes: Causes = ()
    """Causes of the error that other machines may share, as shares of its standard deviation."""
    trainers: tuple[str, ...] = ()
    """Trainers that run a divided layout, if the plan names no trainer."""
    whole: tuple[Candidate, Speed] | None = None
    """Fastest undivided layout on the same machine, for comparison with a divided one."""

    @property
    def source(self) -> str:
        """Text from which a reader can recompute the value."""
        return self.write_source()


def speed(job: Job, candidate: Candidate, catalog: Catalog) -> Speed:
    """Return the speed from the best evidence: the plan's step, matching runs, or a prediction."""
    if candidate.option.step is not None:
        return _stated(candidate.option.step, candidate)
    runs = measured_runs(job, candidate, catalog)
    capped = candidate.option.power_cap_w is not None
    if runs:
        answer = _measured(runs, job, candidate, catalog)
        return _with_effect_of_the_cap(answer, runs, job, candidate, catalog) if capped else answer
    if candidate.parallel_config is not None:
        fitting = fit_of_config(candidate.parallel_config, candidate.accelerator.hbm_gib)
    else:
        fitting = undivided_fit(job, candidate, catalog)
    if fitting.fits is False:
        assert fitting.reason is not None, "a training that does not fit has a reason"
        return _unknown(candidate, fitting, fitting.reason)
    if capped:
        return _unknown(candidate, fitting, power_cap.cap_not_measured(candidate))
    prediction = predict(job, candidate, catalog, fitting)
    if isinstance(prediction, NoPrediction):
        return _unknown(candidate, fitting, prediction.reason)
    return Speed(
        samples_per_s=prediction.samples_per_s,
        basis=prediction.basis,
        write_source=prediction.write_source,
        as_of=prediction.as_of,
        strategy=candidate.strategy,
        fit=fitting,
        known_from=prediction.known_from,
        run_ids=tuple(run.id for run in prediction.runs),
        steps=prediction.steps,
        doubts=_doubts(prediction.runs),
        notes=(*prediction.notes, *((fitting.note,) if fitting.note else ())),
        not_counted=runs_not_counted(job, candidate, catalog),
        rollout=prediction.rollout,
        causes=prediction.causes,
    )


def _with_effect_of_the_cap(
    answer: Speed, capped: list[RunRecord], job: Job, candidate: Candidate, catalog: Catalog
) -> Speed:
    option = candidate.option.model_copy(update={"power_cap_w": None})
    free = measured_runs(job, replace(candidate, option=option), catalog)
    effect = power_cap.effect(capped, free)
    return answer if effect is None else replace(answer, notes=(*answer.notes, effect))


def _stated(step: UserStep, candidate: Candidate) -> Speed:
    """Compute throughput = batch / seconds, with the plan's range or that of its basis."""
    spread = STATED_FRACTION[step.basis]
    low_s = step.low_seconds or step.seconds / (1 + spread)
    high_s = step.high_seconds or step.seconds * (1 + spread)
    return Speed(
        samples_per_s=Interval(step.batch / step.seconds, step.batch / high_s, step.batch / low_s),
        basis=step.basis,
        write_source=lambda: (
            f"the plan: {step.seconds:g} s per step of {step.batch}" + (f" ({step.source})" if step.source else "")
        ),
        as_of=None,
        strategy=candidate.strategy,
        fit=DeviceFit(True, micro_batch=_per_device(step.batch, candidate), note="the plan says that this batch runs"),
        known_from=stated_line(step),
    )


def _measured(runs: list[RunRecord], job: Job, candidate: Candidate, catalog: Catalog) -> Speed:
    """Compute throughput = median of the runs; the range includes the ranges of all runs."""
    value = statistics.median(run.throughput.value for run in runs)
    interval = Interval(
        value,
        min(value, *(run.throughput.low for run in runs)),
        max(value, *(run.throughput.high for run in runs)),
    ).widened_to(_doubt_fraction(runs))
    first = runs[0]
    dates = [run.throughput.as_of for run in runs if run.throughput.as_of]
    notes = []
    if any(run.short_window for run in runs):
        notes.append("measured for seconds only: run the benchmark without --quick for a figure to rely on")
    if job.setup.global_batch and first.global_batch and job.setup.global_batch != first.global_batch:
        notes.append(f"measured at a global batch of {first.global_batch}; the plan says {job.setup.global_batch}")
    one_device = candidate.accelerators == 1
    assumed = {
        "strategy": candidate.strategy.value,
        "precision": job.setup.precision.value if job.setup.precision else "16 bit",
    }
    contradicted = measurement_contradicted(runs, candidate, catalog)
    if contradicted is not None:
        notes.append(contradicted)
        interval = interval.widened_to(CONTRADICTED_FRACTION)
    silent = [name for name in assumed if getattr(first, name) is None and not (name == "strategy" and one_device)]
    if silent:
        values = " and ".join(assumed[name] for name in silent)
        notes.append(f"the record does not state its {' and '.join(silent)}: taken as {values}")
        interval = interval.widened_to(UNSTATED_FRACTION)
    names = ", ".join(run.id for run in runs)
    basis = max((run.basis for run in runs), key=list(Basis).index)
    return Speed(
        samples_per_s=interval,
        basis=basis,
        write_source=lambda: f"run{'s' if len(runs) > 1 else ''} {names}: {value:.6g} samples/s",
        as_of=min(dates, default=None),
        strategy=first.strategy or candidate.strategy,
        fit=DeviceFit(True, micro_batch=first.micro_batch),
        known_from=measured_line(runs, basis, catalog.bundled_runs),
        run_ids=tuple(run.id for run in runs),
        doubts=_doubts(runs),
        notes=tuple(dict.fromkeys(notes)),
    )


def _doubts(runs: Iterable[RunRecord]) -> tuple[str, ...]:
    return tuple(f"{run.id}: {problem}" for run in runs for problem in run.verdict)


def _doubt_fraction(runs: list[RunRecord]) -> float:
    """Return the least half-width for these runs; three restarts or more get the narrowest."""
    if any(run.short_window for run in runs):
        return SHORT_WINDOW_FRACTION
    restarts = sum(max(1, len(run.repeats)) for run in runs)
    return NARROWEST_FRACTION if restarts >= 3 else SINGLE_RUN_FRACTION


def _unknown(candidate: Candidate, fitting: DeviceFit, problem: Reason) -> Speed:
    return Speed(
        samples_per_s=None,
        basis=Basis.MODELLED,
        write_source=lambda: "",
        as_of=None,
        strategy=candidate.strategy,
        fit=fitting,
        problems=(problem,),
    )


def _per_device(batch: int, candidate: Candidate) -> int | None:
    return batch // candidate.accelerators if batch % candidate.accelerators == 0 else None
