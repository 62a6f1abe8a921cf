"""How fast a candidate trains: somebody's own figure, a measurement, or the estimator's prediction."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date

from planner.model.answer.option_estimate import RunNotCounted
from planner.model.answer.reason import Reason, ReasonCode, codes_of
from planner.model.answer.rollout_estimate import RolloutEstimate
from planner.model.catalog import Catalog
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Strategy
from planner.model.plan.plan_option import UserStep
from planner.model.quantity import Basis
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job
from planner.scenario.trainer_abilities import trainers_of
from planner.speed.estimator.shared_causes import Causes
from planner.speed.memory.device_fit import DeviceFit
from planner.speed.throughput import power_cap
from planner.speed.throughput.auto_strategy import (
    NO_SPLIT_FITS,
    WORTH_DIVIDING,
    laid_out_fit,
    layouts,
    undivided_fit,
)
from planner.speed.throughput.evidence_text import measured_line, stated_line
from planner.speed.throughput.extrapolation import nearest_run
from planner.speed.throughput.matching_runs import measured_runs, runs_not_counted
from planner.speed.throughput.predict import predict
from planner.speed.throughput.prediction import NoPrediction
from planner.speed.throughput.probe_contradiction import CONTRADICTED_FRACTION, measurement_contradicted

NARROWEST_FRACTION = 0.02
"""No range is tighter: the public node-to-node spread of one accelerator is 0.6 to 2 %."""
SINGLE_RUN_FRACTION = 0.05
"""One run without repeats."""
UNSTATED_FRACTION = 0.10
"""The record does not state its strategy or its precision. Assumed."""
SHORT_WINDOW_FRACTION = 0.15
"""Measured for seconds, not minutes."""
STATED_FRACTION = {Basis.MEASURED: 0.05, Basis.QUOTED: 0.10, Basis.MODELLED: 0.50, Basis.ASSUMED: 0.50}
"""For a step time that the plan states without a range of its own."""


@dataclass(frozen=True)
class Speed:
    """Samples/s of the whole cluster in steady state. `samples_per_s` is None where `problems` say why."""

    samples_per_s: Interval | None
    basis: Basis
    write_source: Callable[[], str] = field(compare=False)
    """As of `Prediction`."""
    as_of: date | None
    strategy: Strategy
    fit: DeviceFit
    known_from: str | None = None
    """The evidence in a line, for people."""
    run_ids: tuple[str, ...] = ()
    steps: tuple[Candidate, ...] = ()
    """Options of the plan whose own steps corrected it."""
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    not_counted: tuple[RunNotCounted, ...] = ()
    problems: tuple[Reason, ...] = ()
    rollout: RolloutEstimate | None = None
    """One step of a training on its own completions."""
    causes: Causes = ()
    """Causes of its error that other machines may share, as shares of its standard deviation."""
    trainers: tuple[str, ...] = ()
    """Which run its layout, where it divides the network and the plan names no trainer."""
    whole: tuple[Candidate, Speed] | None = None
    """The same machine with the fastest layout that any trainer runs, beside one that divides the network."""

    @property
    def source(self) -> str:
        """From what a reader can recompute the value."""
        return self.write_source()


def speed(job: Job, candidate: Candidate, catalog: Catalog) -> Speed:
    """Answer from the best evidence there is; every number says which it was."""
    if candidate.option.step is not None:
        return _stated(candidate.option.step, candidate)
    runs = measured_runs(job, candidate, catalog)
    capped = candidate.option.power_cap_w is not None
    if runs:
        answer = _measured(runs, job, candidate, catalog)
        return _with_effect_of_the_cap(answer, runs, job, candidate, catalog) if capped else answer
    if candidate.parallel_config is not None:
        fitting = laid_out_fit(candidate.parallel_config, candidate.accelerator.hbm_gib)
    else:
        fitting = undivided_fit(job, candidate, catalog)
    if fitting.fits is False:
        assert fitting.reason is not None, "whatever does not fit has a reason"
        return _unknown(candidate, fitting, fitting.reason)
    if capped:
        return _unknown(candidate, fitting, power_cap.not_measured(candidate))
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
        notes=(
            *prediction.notes,
            *((fitting.note,) if fitting.note else ()),
        ),
        not_counted=runs_not_counted(job, candidate, catalog),
        rollout=prediction.rollout,
        causes=prediction.causes,
    )


def fastest(job: Job, candidate: Candidate, catalog: Catalog) -> tuple[Candidate, Speed]:
    """Return the candidate with the strategy that the plan names, or with the fastest that fits where it names none.

    A strategy that was measured there stands. Of those estimated, plainer ones come first that are not told apart from
    the fastest. A network is divided where nothing else fits, or where that is clearly faster: by the trainer that the
    plan names, else by one of those that a plan may mean. Beside adapters, which trainers seldom divide, only where
    nothing else fits.
    """
    if not candidate.any_strategy or candidate.option.step is not None:
        return candidate, speed(job, candidate, catalog)
    tried = [replace(candidate, strategy=one, any_strategy=False) for one in strategies_to_try(job, candidate, catalog)]
    answers = [(one, speed(job, one, catalog)) for one in tried]
    chosen, best = max(answers, key=lambda pair: (_value(pair[1]), -_lacking(pair[1])))
    fits = best.samples_per_s is not None
    in_vain = ReasonCode.NODE_NETWORK_NOT_KNOWN in codes_of(best.problems)
    may_divide = best.basis is Basis.MODELLED and (not fits or job.setup.adapters is None) and not in_vain
    if may_divide and (found := layouts(job, candidate, catalog)) is not None:
        in_parts = speed(job, found.divided, catalog)
        answers.append((found.divided, in_parts))
        if best.fit.fits is False or (found.is_worth_dividing and _value(in_parts) > _value(best)):
            plain, plain_speed = chosen, best
            chosen, best = found.divided, in_parts
            if job.setup.framework is None:
                if found.whole is not None:
                    plain, plain_speed = found.whole, speed(job, found.whole, catalog)
                best = _as_trainers_run_it(in_parts, chosen, plain, plain_speed)
    if best.basis is Basis.MODELLED and best.samples_per_s is not None and chosen.parallel_config is None:
        chosen, best = next(pair for pair in answers if WORTH_DIVIDING * _value(pair[1]) >= _value(best))
    if len(answers) == 1:
        return chosen, best
    if best.samples_per_s is None:
        too_large = job.setup.sample == "tokens" and ReasonCode.MEMORY_TOO_SMALL in codes_of(best.problems)
        return chosen, replace(best, problems=(*best.problems, NO_SPLIT_FITS)) if too_large else best
    shown = ", ".join(f"{_config_text(one)} {_rate(of)}" for one, of in answers)
    return chosen, replace(best, notes=(*best.notes, f"strategy found by search, samples/s: {shown}"))


def _as_trainers_run_it(answer: Speed, divided: Candidate, plain: Candidate, plain_speed: Speed) -> Speed:
    """Return the speed of a divided network with the trainers that run it, and how fast it is left whole."""
    trainers = trainers_of(divided.strategy, divided.split)
    said = f"layout: {_config_text(divided)}, as {' or '.join(trainers)} runs it"
    if plain_speed.samples_per_s is None:
        return replace(answer, trainers=trainers, notes=(said, *answer.notes))
    beside = f"{said}; left whole, {_config_text(plain)} of any trainer: {_rate(plain_speed)} samples/s"
    return replace(answer, trainers=trainers, whole=(plain, plain_speed), notes=(beside, *answer.notes))


def strategies_to_try(job: Job, candidate: Candidate, catalog: Catalog) -> list[Strategy]:
    """Return the strategies among which one is chosen, the plainest first.

    Those of runs that answer by themselves, if any. Where the network is not known nothing tells strategies apart: that
    of the run that is carried over. One accelerator alone shares nothing out, so the plain one is enough there.
    """
    answering = {choice: measured_runs(job, replace(candidate, strategy=choice), catalog) for choice in Strategy}
    measured = [choice for choice, runs in answering.items() if any(run.strategy is choice for run in runs)]
    if measured:
        return measured[:1] if candidate.accelerators == 1 else measured
    if job.setup.network is None:
        usual = (job.named_run.strategy if job.named_run else None) or Strategy.DDP
        anchor = nearest_run(job, replace(candidate, strategy=usual), catalog)
        return [(anchor.strategy if anchor else None) or usual]
    if candidate.accelerators == 1 or answering[Strategy.DDP]:
        return [Strategy.DDP]
    return list(Strategy)


def _config_text(candidate: Candidate) -> str:
    return " with ".join(filter(None, (candidate.strategy.value, str(candidate.split))))


def _rate(answer: Speed) -> str:
    return f"{answer.samples_per_s.value:.4g}" if answer.samples_per_s else "none"


def _value(answer: Speed) -> float:
    return answer.samples_per_s.value if answer.samples_per_s else 0.0


def _lacking(answer: Speed) -> float:
    """Return the GiB that an answer needs on each accelerator; 0 where that cannot be said, so that it comes first."""
    return answer.fit.memory.total_gib if answer.fit.memory else 0.0


def _with_effect_of_the_cap(
    answer: Speed, capped: list[RunRecord], job: Job, candidate: Candidate, catalog: Catalog
) -> Speed:
    option = candidate.option.model_copy(update={"power_cap_w": None})
    free = measured_runs(job, replace(candidate, option=option), catalog)
    effect = power_cap.effect(capped, free)
    return answer if effect is None else replace(answer, notes=(*answer.notes, effect))


def _stated(step: UserStep, candidate: Candidate) -> Speed:
    """Compute throughput = batch / seconds, with the plan's range, or one that fits its basis."""
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
    """Compute throughput = median of the runs; the range holds all of them, and their own ranges."""
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
        taken = " and ".join(assumed[name] for name in silent)
        notes.append(f"the record does not state its {' and '.join(silent)}: taken as {taken}")
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
    """Return the least half-width that these runs deserve: three restarts or more earn the narrowest."""
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
