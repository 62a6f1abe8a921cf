"""Hours of one training, line by line: the steps, and everything that stops them (docs/goodput.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from planner.duration.data_volumes import data_volumes
from planner.duration.goodput import Losses, is_hopeless, losses, never_ends
from planner.duration.practice import convergence_of, practice_factors, practice_line, stretched
from planner.duration.runtime_inputs import MODE, RuntimeInputs, moved, optimal_interval, runtime_inputs
from planner.model.answer.reason import Reason
from planner.model.answer.training_time import PracticeTime, TimeLine, TrainingTime
from planner.model.catalog import Catalog
from planner.model.network.workload import Strategy
from planner.model.plan.convergence import Convergence, Practice
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.quantity.conversion import MATERIAL_FRACTION, derived, interval, to_quantity
from planner.quantity.formula import named
from planner.quantity.interval import Interval, sum_of
from planner.quantity.spread import Swing, combined, signed_product, swings
from planner.quantity.time_units import SECONDS_PER_HOUR
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

STEPS, STATED = "steps", "lost, as the plan states"
STALL, EVALUATION, CHECKPOINTS = "waiting for samples", "evaluation", "checkpoints"
LOST = {"failure": "failures: work done again", "preemption": "preemption: work done again"}
RESTARTS = {"failure": "failures: restarts", "preemption": "preemption: restarts"}
WORTH_SAYING = 0.01
"""Share of the wall-clock time from which a loss, or a better interval's saving, is named."""
OFTEN = 0.1
"""Share of the wall-clock time from which interruptions are named, which always cost something."""


@dataclass(frozen=True)
class Timed:
    """The split of the time, or why the training would not end, with notes for the reader."""

    time: TrainingTime | None
    reason: Reason | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SteadyState:
    """A training without interruptions: its speed, the hours of its steps, and their strategy."""

    throughput: Quantity
    training: Quantity
    strategy: Strategy


def training_time(
    plan: Plan, job: Job, candidate: Candidate, catalog: Catalog, steady: SteadyState, *,
    startup: Quantity | None, own_logs: int = 0,
) -> Timed:  # fmt: skip
    """Count what one training loses besides its steps. `startup` holds the hours before the first step.

    `own_logs` is the number of the user's own training logs that corrected the speed.
    """
    if catalog.goodput_defaults is None or plan.assumptions.goodput_fraction is not None:
        return Timed(_as_stated(plan, job, catalog, steady.training, startup))
    factors = practice_factors(plan, job, candidate, catalog, throughput=steady.throughput, own_logs=own_logs)
    runtime = runtime_inputs(
        plan, job, candidate, catalog, catalog.goodput_defaults,
        throughput=steady.throughput, volumes=data_volumes(job, plan.data, catalog.bill_defaults),
        strategy=steady.strategy,
    )  # fmt: skip
    return _counted(plan, job, catalog, runtime, steady.training, startup, factors)


def _counted(
    plan: Plan, job: Job, catalog: Catalog, runtime: RuntimeInputs, training: Quantity, startup: Quantity | None,
    factors: Mapping[Practice, Quantity],
) -> Timed:  # fmt: skip
    interruptions = runtime.interruptions(runtime.values)
    if is_hopeless(interruptions):
        return Timed(None, never_ends(interruptions))
    spread = _Spread.of(runtime)
    total = spread.share(lambda part: part.total)
    whole = Interval(total.value, max(1.0, total.low), total.high)
    wall_hours = named("wall_hours", interval(training, Unit.HOURS).times(whole), "h", "first step to last")
    lines = [TimeLine(what=STEPS, hours=training), *_lost_lines(runtime, spread, training)]
    heavy = [line.hours for line in lines if line.hours.value >= MATERIAL_FRACTION * wall_hours.value]
    shown = " + ".join(f"{line.what} {line.hours.value:.5g}" for line in lines if line.hours.value > 0)
    at_benchmark = derived(wall_hours, Unit.HOURS, training, *heavy, source=f"{shown} h; {training.source}")
    practices = tuple(PracticeTime(practice=practice, factor=factor, wall_hours=stretched(at_benchmark, factor))
                      for practice, factor in factors.items())  # fmt: skip
    wall = next((item.wall_hours for item in practices if item.practice is plan.practice), at_benchmark)
    added = None
    if plan.practice in factors and plan.practice is not Practice.BENCHMARK:
        added = practice_line(plan.practice, factors[plan.practice], at_benchmark)
    best = optimal_interval(runtime)
    time = TrainingTime(
        lines=(*lines, *([added] if added else [])),
        wall_hours=wall,
        goodput=derived(whole.inverse(), Unit.RATIO, training, *heavy, source=f"steps / wall-clock time: {shown} h"),
        lost_hours=_lost(lines[1:]),
        launch_hours=startup,
        optimizer_steps=_steps(job),
        interruptions=_interruptions(runtime, wall),
        checkpoint_interval_hours=runtime.inputs["checkpoint_interval_hours"],
        optimal_interval_hours=best,
        limited_by=_limits(runtime, wall, lines),
        uncounted=runtime.uncounted,
        convergence=_convergence(plan, catalog, training),
        practices=practices,
        practice_hours=added.hours if added else None,
    )
    return Timed(time, notes=(*time.limited_by, *_better_interval(runtime, best, training)))


def _as_stated(plan: Plan, job: Job, catalog: Catalog, training: Quantity, startup: Quantity | None) -> TrainingTime:
    """Split the hours by the plan's goodput. Without one (an old lock) nothing is lost."""
    fraction = plan.assumptions.goodput_fraction or 1.0
    hours = interval(training, Unit.HOURS)
    source = f"the plan: assumptions.goodput_fraction {fraction:g}; {training.source}"
    lines = [TimeLine(what=STEPS, hours=derived(hours.scaled(fraction), Unit.HOURS, training, source=source))]
    if fraction < 1:
        lost = derived(hours.scaled(1 - fraction), Unit.HOURS, training, source=source)
        lines.append(TimeLine(what=STATED, hours=lost))
    return TrainingTime(
        lines=tuple(lines),
        wall_hours=training,
        goodput=to_quantity(Interval.exact(fraction), Unit.RATIO, Basis.ASSUMED, source),
        lost_hours=None,
        launch_hours=startup,
        optimizer_steps=_steps(job),
        interruptions=None,
        checkpoint_interval_hours=None,
        optimal_interval_hours=None,
        limited_by=(),
        uncounted=(),
        convergence=_convergence(plan, catalog, lines[0].hours),
    )


@dataclass(frozen=True)
class _Spread:
    """Losses at the inputs' values, and with each uncertain input at its low and high end."""

    value: Losses
    ends: tuple[tuple[str, Losses, Losses], ...]

    @classmethod
    def of(cls, runtime: RuntimeInputs) -> _Spread:
        values = runtime.values

        def at(name: str, value: float) -> Losses:
            return losses(runtime.interruptions(moved(values, name, value)))

        ends = (
            (name, at(name, spread_of_input.low), at(name, spread_of_input.high))
            for name, spread_of_input in runtime.ranges.items()
            if spread_of_input.low < spread_of_input.high
        )
        return cls(losses(runtime.interruptions(values)), tuple(ends))

    def share(self, read: Callable[[Losses], float]) -> Interval:
        """Return one figure of the losses with its range: the moves of all inputs in quadrature."""
        return combined(read(self.value), [Swing(name, read(low), read(high)) for name, low, high in self.ends])


def _lost_lines(runtime: RuntimeInputs, spread: _Spread, training: Quantity) -> list[TimeLine]:
    """Return the lines of losses. Those that stay 0 over their whole range are left out."""
    values = runtime.values
    stops = runtime.interruptions(values)
    read, samples = runtime.inputs["read_gb_per_s"], runtime.inputs.get("bytes_per_sample")
    checkpoint, every = runtime.inputs.get("checkpoint_gb"), runtime.inputs["checkpoint_interval_hours"]
    wall = training.value * spread.value.total
    rows: list[tuple[str, Callable[[Losses], float], str, tuple[str, ...]]] = []
    if samples is not None:
        text = (
            f"{runtime.inputs['samples_per_s'].value:.5g} samples/s x {samples.value:,.0f} B need "
            f"{runtime.needed_gb_per_s(values):.3g} GB/s; {runtime.read_from.name} reads {read.value:.3g}"
        )
        rows.append((STALL, lambda part: part.input_stall, text, ("read_gb_per_s", "bytes_per_sample")))
    rows.append((
        EVALUATION, lambda part: part.evaluation, f"{values['evaluation_fraction']:g} of the time of the steps",
        ("evaluation_fraction",),
    ))  # fmt: skip
    if checkpoint is not None:
        how = "until it is written" if values[MODE] else "for the copy to the host's memory"
        text = (
            f"one every {stops.interval_hours:.3g} h, of {checkpoint.value:.4g} GB, stops the training for "
            f"{stops.checkpoint_hours * SECONDS_PER_HOUR:.3g} s {how}; {runtime.written_to.name} writes "
            f"{runtime.inputs['write_gb_per_s'].value:.3g} GB/s"
        )
        inputs = ("checkpoint_gb", "write_gb_per_s", "host_copy_gb_per_s", "checkpoint_interval_hours", MODE)
        rows.append((CHECKPOINTS, lambda part: part.checkpoints, text, inputs))
    rates = {"failure": stops.failures_per_hour, "preemption": stops.preemptions_per_hour}
    each = {"failure": "gpu_hours_per_failure", "preemption": "node_hours_per_preemption"}
    count = {"failure": f"{runtime.accelerators} accelerators", "preemption": f"{runtime.nodes} node(s)"}
    for kind, rate in rates.items():
        if rate == 0:
            continue
        often = f"{rate * wall:.3g} expected: {count[kind]} / {values[each[kind]]:,.6g} h"
        lost = f"{often}, each losing about half of {every.value:.3g} h, and {stops.unsaved_hours:.2g} h of writing"
        rows.append((LOST[kind], _part(f"{kind}_lost"), lost, (each[kind], "checkpoint_interval_hours")))
        stop = f"{often}, each stopping for {stops.restart_hours:g} h"
        rows.append((RESTARTS[kind], _part(f"{kind}_restarts"), stop, (each[kind], "restart_hours")))
    lines = []
    for what, part, text, names in rows:
        share = spread.share(part)
        if share.high == 0:
            continue
        hours = named(what, signed_product(interval(training, Unit.HOURS), share), "h")
        used = [runtime.inputs[name] for name in names]
        source = "; ".join([text, *dict.fromkeys(quantity.source for quantity in used)])
        lines.append(TimeLine(what=what, hours=derived(hours, Unit.HOURS, *used, source=source)))
    return lines


def _lost(lines: list[TimeLine]) -> Quantity | None:
    """Add the losses, range by range, as if all erred together."""
    if not any(line.hours.high > 0 for line in lines):
        return None
    hours = named("lost_hours", sum_of([interval(line.hours, Unit.HOURS) for line in lines]), "h")
    source = " + ".join(f"{line.what} {line.hours.value:.3g} h" for line in lines)
    return derived(hours, Unit.HOURS, *(line.hours for line in lines), source=source)


def _part(name: str) -> Callable[[Losses], float]:
    return lambda part: getattr(part, name)


def _interruptions(runtime: RuntimeInputs, wall: Quantity) -> Quantity:
    """Return the expected number: wall-clock hours x interruptions an hour."""

    def rate(values: Mapping[str, float]) -> float:
        return runtime.interruptions(values).per_hour

    values = runtime.values
    per_hour = combined(rate(values), swings(rate, values, runtime.ranges, moved))
    used = [
        runtime.inputs[name]
        for name in ("gpu_hours_per_failure", "node_hours_per_preemption")
        if name in runtime.inputs
    ]
    source = f"{wall.value:.5g} h x {per_hour.value:.3g} an hour; {'; '.join(quantity.source for quantity in used)}"
    return derived(interval(wall, Unit.HOURS).times(per_hour), Unit.RATIO, *used, source=source)


def _limits(runtime: RuntimeInputs, wall: Quantity, lines: list[TimeLine]) -> tuple[str, ...]:
    """Name the limits of the training besides the accelerators."""
    values = runtime.values
    stops, limits = runtime.interruptions(values), []
    needed, read = runtime.needed_gb_per_s(values), values["read_gb_per_s"]
    if needed > read:
        limits.append(
            f"storage limits the speed: samples need {needed:.3g} GB/s and {runtime.read_from.name} reads {read:.3g}, "
            f"so the accelerators wait {1 - read / needed:.0%} of the time".replace("%", " %")
        )
    if stops.unsaved_hours > values["checkpoint_interval_hours"]:
        limits.append(
            f"storage limits the checkpoints: writing one takes {stops.unsaved_hours:.3g} h, longer than the interval "
            f"of {values['checkpoint_interval_hours']:.3g} h"
        )
    interrupted = sum(line.hours.value for line in lines if line.what in (*LOST.values(), *RESTARTS.values()))
    if interrupted > OFTEN * wall.value:
        share = f"{interrupted / wall.value:.0%}".replace("%", " %")
        limits.append(f"interruptions, one every {1 / stops.per_hour:.3g} h, take {share} of the time")
    return tuple(limits)


def _better_interval(runtime: RuntimeInputs, best: Quantity | None, training: Quantity) -> tuple[str, ...]:
    """Return the saving of the best interval, if it is large enough to mention."""
    if best is None:
        return ()
    values = runtime.values
    now = losses(runtime.interruptions(values)).total
    chosen_freely = replace(runtime, longest_hours=None)
    then = losses(chosen_freely.interruptions(moved(values, "checkpoint_interval_hours", best.value))).total
    saved = training.value * (now - then)
    if saved < WORTH_SAYING * training.value * now:
        return ()
    chosen = values["checkpoint_interval_hours"]
    return (
        f"checkpoints every {chosen:.3g} h: the best interval, after Young and Daly, is {best.value:.3g} h and would "
        f"save {saved:.3g} h",
    )


def _steps(job: Job) -> float | None:
    return None if job.setup.global_batch is None else job.samples_per_epoch * job.epochs / job.setup.global_batch


def _convergence(plan: Plan, catalog: Catalog, training: Quantity) -> Convergence | None:
    if plan.work.target is None:
        return None
    return convergence_of(catalog.find_convergence(plan.work.target, where="work.target"), training)
