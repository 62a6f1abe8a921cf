"""Factors from benchmark speed to a whole training (docs/practice.md), and the spread of runs to a quality target."""

from __future__ import annotations

import math

from planner.model.answer.training_time import TimeLine
from planner.model.catalog import Catalog
from planner.model.evidence.whole_training import T4_95, PracticeFit, TrainingKind
from planner.model.plan.convergence import Convergence, ConvergenceSpread, Practice
from planner.model.plan.plan import Plan
from planner.model.quantity import Basis, Quantity, Unit
from planner.network.flops import parameters
from planner.quantity.conversion import derived, interval, to_quantity
from planner.quantity.formula import formula, named
from planner.quantity.interval import Interval
from planner.scenario.candidate import Candidate
from planner.scenario.job import Job

LOWER_QUARTER = 0.674
"""Standard deviations from the middle of a normal distribution to its lower quarter."""
FULL_TOKENS_PER_PARAMETER = 0.2
"""Tokens per parameter below which a text network counts as fine-tuned."""


def practice_factors(
    plan: Plan, job: Job, candidate: Candidate, catalog: Catalog, *, throughput: Quantity, own_logs: int
) -> dict[Practice, Quantity]:
    """Return hours of a whole training / hours at benchmark speed, by practice; empty if nothing is to be added.

    Nothing is added to speeds measured or stated for this machine (a step of the plan, a measured speed, the plan's own
    goodput or MFU), or if the network is unknown, because its speed comes from a run.
    """
    fit = _fit_of(plan, job, catalog)
    if fit is None or candidate.option.step or throughput.basis is Basis.MEASURED:
        return {}
    kind = kind_of(job)
    typical, tuned = factors(fit, kind, own_logs=own_logs)
    whose = f", and {own_logs} whole training(s) of your own" if own_logs else ""
    source = f"{fit.trainings} whole trainings of {fit.sources} sources, {kind.value}{whose} (docs/practice.md)"
    intervals = {Practice.BENCHMARK: Interval.exact(1.0), Practice.TYPICAL: typical, Practice.TUNED: tuned}
    return {
        name: to_quantity(factor, Unit.RATIO, Basis.MODELLED, source, fit.made_on) for name, factor in intervals.items()
    }


def middle_factor(plan: Plan, job: Job, catalog: Catalog) -> float:
    """Return the middle factor of the plan's practice for an estimated speed; 1 if none is added."""
    fit = _fit_of(plan, job, catalog)
    if fit is None:
        return 1.0
    typical, tuned = factors(fit, kind_of(job))
    return {Practice.BENCHMARK: 1.0, Practice.TYPICAL: typical.value, Practice.TUNED: tuned.value}[plan.practice]


def _fit_of(plan: Plan, job: Job, catalog: Catalog) -> PracticeFit | None:
    """Return the fit; None if the plan states the losses, or its network is unknown."""
    stated = plan.assumptions.goodput_fraction or job.mfu
    return None if stated or job.setup.network is None else catalog.practice


def kind_of(job: Job) -> TrainingKind:
    """Return the kind of training of a job. Few tokens for its size mean fine-tuning."""
    if job.setup.sample == "image":
        return TrainingKind.IMAGES
    if job.setup.adapters is not None:
        return TrainingKind.LORA
    tokens = (job.tokens_per_epoch or 0.0) * job.epochs
    small = tokens < FULL_TOKENS_PER_PARAMETER * _size(job)
    return TrainingKind.FULL if small else TrainingKind.PRETRAINING


def _size(job: Job) -> float:
    assert job.setup.network is not None, "asked of known networks alone"
    return float(parameters(job.setup.network))


def factors(fit: PracticeFit, kind: TrainingKind, *, own_logs: int = 0) -> tuple[Interval, Interval]:
    """Return the factors of a typical and of a tuned training, each with its 90 % range.

    typical: exp(w m), from / to exp(2.132 sqrt(w) s), m the kind's middle and s the scale between owners
    tuned:   exp(w m - 0.674 sqrt(w) s), the faster quarter; never under 1, and never over the typical one
    w = 1 / (1 + k (s / v)^2) with k whole trainings of the user's own, whose speeds spread by v: their logs correct the
    speed itself, so less remains to be added.
    """
    weight = 1 / (1 + own_logs * (fit.between / fit.within) ** 2)
    scale, middle = math.sqrt(weight) * fit.between, weight * fit.middle[kind]
    typical = Interval.within_factor(max(1.0, math.exp(middle)), math.exp(T4_95 * scale))
    fast = min(typical.value, max(1.0, math.exp(middle - LOWER_QUARTER * scale)))
    return typical, Interval(fast, typical.low, max(fast, typical.value))


RANGE_OF_NORMALS = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847, 9: 2.970, 10: 3.078}
"""Expected (largest - smallest) of n draws, in standard deviations: the d2 of control charts, ISO 7870-2, annex B."""
NORMAL_90 = 1.645


def half_range_90(*, spread_fraction: float, runs: int) -> float:
    """Return half of the 90 % range of one run, as a share of the mean.

    half = 1.645 x spread / d2(runs)        for approximately normal times; spread = (longest - shortest) / mean
    """
    return NORMAL_90 * spread_fraction / RANGE_OF_NORMALS[runs]


def convergence_of(spread: ConvergenceSpread, training: Quantity) -> Convergence:
    """Return the uncertainty that a quality target adds: the estimated hours of the steps, from convergence alone."""
    value, low, high = (
        half_range_90(spread_fraction=part, runs=spread.runs)
        for part in (spread.spread_fraction, spread.spread_low, spread.spread_high)
    )
    source = (
        f"1.645 x {spread.spread_fraction:g} / {RANGE_OF_NORMALS[spread.runs]:g}: (longest - shortest) / mean of "
        f"{spread.runs} runs; {spread.name}: {spread.source}"
    )
    fraction = to_quantity(Interval(value, low, high), Unit.RATIO, Basis.MODELLED, source, spread.as_of)
    hours = interval(training, Unit.HOURS).value
    band = Interval(hours, hours * (1 - value), hours * (1 + value))
    about = f"{hours:.5g} h +- {value:.3g} by seed and data order alone, at the estimated speed; {source}"
    return Convergence(
        like=spread.id,
        fraction=fraction,
        training_hours=to_quantity(band, Unit.HOURS, Basis.MODELLED, about, spread.as_of),
    )


PRACTICE = {Practice.TYPICAL: "as people get it", Practice.TUNED: "as tuned trainings get it"}
"""Names of the time added to a benchmark's hours, by practice."""


def stretched(hours: Quantity, factor: Quantity) -> Quantity:
    """Return hours x factor. Both ranges count."""
    if factor.low == factor.high == 1:
        return hours
    source = f"{hours.value:.5g} h at benchmark speed x {factor.value:.5g}, from {factor.source}; {hours.source}"
    stretched = stretched_hours(interval(hours, Unit.HOURS), practice=interval(factor, Unit.RATIO))
    return derived(stretched, Unit.HOURS, hours, factor, source=source)


@formula("h")
def stretched_hours(benchmark_hours: Interval, *, practice: Interval) -> Interval:
    """Return hours as people get them: at benchmark speed x the factor of the plan's practice."""
    return benchmark_hours.times(practice)


def practice_line(practice: Practice, factor: Quantity, hours: Quantity) -> TimeLine:
    """Return the hours that the practice adds: hours x (factor - 1), as uncertain as the whole."""
    added = interval(stretched(hours, factor), Unit.HOURS).scaled(1 - 1 / interval(factor, Unit.RATIO).value)
    added = named("practice_hours", added, "h")
    source = f"{hours.value:.5g} h x ({factor.value:.5g} - 1); {factor.source}"
    return TimeLine(what=PRACTICE[practice], hours=derived(added, Unit.HOURS, factor, source=source))
