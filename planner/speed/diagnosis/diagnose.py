"""Diagnosis of a run's speed: measured against expected, and the causes that explain the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Precision
from planner.quantity.formula import applied, exp, formula, largest, log, named, smallest, stated
from planner.speed.diagnosis.causes import RULES, CauseCode, CauseRule
from planner.speed.diagnosis.run_setup import Expectation, RunSetup, expectations
from planner.speed.physics.observation import Observation

MOST_SLOWED = math.log(4.0)
LEAST_SLOWED = math.log(1.1)
"""Largest and smallest ln slowdown of a fault that may cost any amount, for example waiting for data."""
WIDTH_OF_90 = 3.29
"""Standard deviations between the ends of a 90 % range."""
SMALLEST_GAIN = 1.05
"""Smallest gain of a cause that is reported."""
WORST_RANK = 2.5
SLOWEST_RANK = math.log(WORST_RANK)
WORST_SLOWED = math.log(10_000.0)
BEYOND_PRIOR = 0.05
"""Assumed probability of a fault that slows more than any of the causes, for example memory that spills to the host."""
PADDED_GAIN = 1.5
"""Assumed gain of packing samples of different lengths if the padding was not counted."""
SHARE_OF_STEP = "the estimator, share of a step"
GAIN_SPREAD = 0.5
"""Assumed half width of a range of gain - 1, relative to it. Two estimates of one machine share most of their error."""
MOST_CAUSES = 3
LEAST_PROBABILITY = 0.05
SIMILAR_SCORE = 0.9
"""Ratio of two causes' scores from which they count as equally likely, so that a free remedy comes first."""
RECOMPUTED_STEP = 4 / 3
"""Work of a step with full recomputation over that without: forward and backward are 1 + 2; recomputation adds 1."""


@formula("")
def gain_range(gain: float) -> tuple[float, float]:
    """Return the 90 % range of a remedy's gain."""
    return 1 + (gain - 1) * (1 - GAIN_SPREAD), 1 + (gain - 1) * (1 + GAIN_SPREAD)


@dataclass(frozen=True)
class FoundCause:
    """Cause in a run with its probability and the gain of the run without it."""

    rule: CauseRule
    probability: float
    gain: float
    proven: bool = False
    stated: bool = False

    @property
    def score(self) -> float:
        """Expected logarithmic gain."""
        return self.probability * math.log(self.gain)


@dataclass(frozen=True)
class Diagnosis:
    """Expected speed of a run, and its likeliest causes."""

    expected: Expectation | None
    causes: tuple[FoundCause, ...]
    slowdown: float | None = None
    """Expected / measured rate of a run below its range; None for any other run."""
    explained: float = 1.0
    """Gain without the causes that no setting states: the proven ones together and the best of the others."""
    needed: float = 1.0
    """Gain that brings the run into its range."""

    @property
    def unexplained(self) -> float | None:
        """Slowdown that remains without the causes; None if they explain it."""
        return self.slowdown / self.explained if self.slowdown and self.explained < self.needed else None


def diagnose(
    run: RunRecord, setup: RunSetup | None, calibration: Calibration | None, *, own: Sequence[Observation] = ()
) -> Diagnosis:
    """Return the expected speed of the run as stated, and the causes that may slow it.

    Proven causes follow from the run's own measurements (number formats of the products, waits, ranks, padding).
    Stated causes are settings that the expected speed already includes (a small batch, recomputation, a slow link).
    Unseen causes have the probability prior x density of the measured rate with the cause, over the sum of this for all
    causes and for no fault.
    """
    proven = _proven(run)
    if setup is None or calibration is None:
        return Diagnosis(None, _best([*proven, *_stated_without_physics(run)]))
    variants: list[tuple[CauseRule, str, RunSetup]] = []
    for rule in RULES:
        if (mended := rule.mended(setup)) is not None:
            variants.append((rule, "mended", mended))
        if (unseen := rule.unseen(setup, run)) is not None:
            variants.append((rule, "unseen", unseen))
    base, *others = expectations([setup, *(variant for _, _, variant in variants)], calibration, own=own)
    if base is None:
        return Diagnosis(None, _best([*proven, *_stated_without_physics(run)]))
    if run.throughput.value > base.high:
        return Diagnosis(base, ())
    rates = {(rule.code, kind): answer for (rule, kind, _), answer in zip(variants, others, strict=True) if answer}
    causes_found = _with_new(proven, _stated(rates, base))
    measured = _run_figure("measured", run.throughput.value)
    gap = log(measured / _expected(base, "as_stated")) + sum(log(cause.gain) for cause in proven)
    gap = named("gap", gap, "", "ln of measured / expected, less the proven causes")
    causes = _best(_with_new(causes_found, _unseen(run, rates, base, gap)))
    if run.throughput.value >= base.low:
        return Diagnosis(base, causes)
    return Diagnosis(
        base, causes, _expected(base, "as_stated") / measured, _explained(causes), base.low / run.throughput.value
    )


def _with_new(causes: list[FoundCause], others: list[FoundCause]) -> list[FoundCause]:
    """Return `causes`, then those of `others` whose code is not among them."""
    codes = {cause.rule.code for cause in causes}
    return [*causes, *(other for other in others if other.rule.code not in codes)]


def _explained(causes: Sequence[FoundCause]) -> float:
    """Return the gain of all proven causes x that of the best unseen one. Expectations include stated causes."""
    proven = math.prod((cause.gain for cause in causes if cause.proven), start=1.0)
    return proven * max((cause.gain for cause in causes if not cause.proven and not cause.stated), default=1.0)


def _best(causes: list[FoundCause]) -> tuple[FoundCause, ...]:
    """Return the likeliest causes that matter. Of equally likely ones, those with a free remedy come first."""
    best = [cause for cause in causes if cause.gain >= SMALLEST_GAIN and cause.probability >= LEAST_PROBABILITY]
    best.sort(key=lambda cause: -cause.score)
    for place in range(len(best) - 1):
        first, second = best[place], best[place + 1]
        gets_cheaper = second.rule.free and not first.rule.free and not first.proven
        if gets_cheaper and second.score >= SIMILAR_SCORE * first.score:
            best[place], best[place + 1] = second, first
    return tuple(best[:MOST_CAUSES])


def _prior(code: CauseCode) -> float:
    return stated(f"prior_of_{code}", _rule(code).prior, "", "planner/speed/diagnosis/causes.py")


def _rule(code: CauseCode) -> CauseRule:
    return next(rule for rule in RULES if rule.code is code)


def _proven(run: RunRecord) -> list[FoundCause]:
    """Return the causes that the run itself proves."""
    gains = []
    waited = _run_figure("data_wait_fraction", run.data_wait_fraction or 0.0)
    uneven = _run_figure("uneven_share", (run.log.uneven_share or 0.0) if run.log else 0.0)
    if (lost := largest(waited, uneven)) > 0:
        gains.append((CauseCode.DATA_WAIT, 1 / largest(0.05, 1 - lost)))
    if run.device_busy_seconds and run.global_batch is not None:
        step_seconds = _run_figure("global_batch", run.global_batch) / _run_figure("measured", run.throughput.value)
        gains.append((CauseCode.HOST, step_seconds * (1 - lost) / _run_figure("busy_seconds", run.device_busy_seconds)))
    if run.slowest_rank is not None:
        gains.append((CauseCode.SLOW_RANK, run.slowest_rank))
    if run.log is not None and run.log.filled_share is not None:
        gains.append((CauseCode.PADDING, 1 / _run_figure("filled_share", run.log.filled_share)))
    flops = run.matmul_flops_by_dtype
    wide = sum(value for name, value in flops.items() if name.startswith("float32"))
    if run.precision in (Precision.BF16, Precision.FP16) and wide > 0:
        gains.append((CauseCode.FP32, 1 + wide / sum(flops.values())))
    return [FoundCause(_rule(code), 1.0, gain, proven=True) for code, gain in gains if gain >= SMALLEST_GAIN]


def _run_figure(name: str, value: float) -> float:
    return stated(name, value, "", "the run itself")


def _stated_without_physics(run: RunRecord) -> list[FoundCause]:
    """Return the cost of the run's settings that follows from counting alone."""
    full = run.checkpointing is not None and run.checkpointing.value == "full"
    return [FoundCause(_rule(CauseCode.RECOMPUTATION), 1.0, RECOMPUTED_STEP, stated=True)] if full else []


def _stated(rates: dict[tuple[CauseCode, str], Expectation], base: Expectation) -> list[FoundCause]:
    """Return the costs of the run's settings: expected rate without them / expected rate with them."""
    expected = _expected(base, "as_stated")
    mended = {code: _expected(answer, f"without_{code}") for (code, kind), answer in rates.items() if kind == "mended"}
    gains = {code: value / expected for code, value in mended.items()}
    if CauseCode.LOGITS in gains:  # divide the gain of fused kernels into that of the logits and the rest
        fused = rates[(CauseCode.LOGITS, "mended")]
        before = stated("logits_share_as_stated", base.shares.get("logits", 0.0), "", SHARE_OF_STEP)
        after = stated("logits_share_without_logits", fused.shares.get("logits", 0.0), "", SHARE_OF_STEP)
        saved = before - after * expected / mended[CauseCode.LOGITS]
        gains[CauseCode.LOGITS] = 1 / (1 - smallest(0.9, largest(0.0, saved)))
        gains[CauseCode.UNFUSED] = largest(1.0, gains[CauseCode.UNFUSED] / gains[CauseCode.LOGITS])
    return [FoundCause(_rule(code), 1.0, gain, stated=True) for code, gain in gains.items() if gain >= SMALLEST_GAIN]


def _expected(answer: Expectation, how: str) -> float:
    """Return the expected rate under a name that tells the setting."""
    return stated(f"expected_{how}", answer.value, "samples/s", "the estimator")


def _unseen(
    run: RunRecord, rates: dict[tuple[CauseCode, str], Expectation], base: Expectation, gap: float
) -> list[FoundCause]:
    """Return faults that no setting states, with probabilities by how well they explain the gap."""
    low, high = (stated(f"expected_{end}", getattr(base, end), "samples/s", "the estimator") for end in ("low", "high"))
    spread = deviation(low, high)
    weights: dict[CauseCode, tuple[float, float]] = {}
    for (code, kind), answer in rates.items():
        cost = log(_expected(base, "as_stated") / _expected(answer, f"with_{code}"))
        if kind == "unseen" and cost >= math.log(SMALLEST_GAIN):
            weights[code] = (_prior(code) * density(gap, -cost, spread), exp(cost))
    lacking = exp(smallest(MOST_SLOWED, largest(0.0, -gap)))
    weights[CauseCode.DATA_WAIT] = (_prior(CauseCode.DATA_WAIT) * density_of_any(gap, spread), lacking)
    if run.hardware.accelerators > 1:
        any_rank = density_of_any(gap, spread, most=SLOWEST_RANK)
        weights[CauseCode.SLOW_RANK] = (_prior(CauseCode.SLOW_RANK) * any_rank, smallest(lacking, WORST_RANK))
    sound = density(gap, 0.0, spread)
    beyond = BEYOND_PRIOR * density_of_any(gap, spread, least=MOST_SLOWED, most=WORST_SLOWED)
    is_slow = run.throughput.value < base.low
    if run.log is not None and run.log.padded and not is_slow:  # shorter samples than stated make a run look fast
        padding = density(gap, math.log(PADDED_GAIN), spread + 0.3) + sound
        weights[CauseCode.PADDING] = (0.5 * padding, PADDED_GAIN)
    total = sound + beyond + sum(weight for weight, _ in weights.values()) or 1.0
    return [
        FoundCause(_rule(code), smallest(1.0, weight / total), gain)
        for code, (weight, gain) in weights.items()
        if weight > 0 and gain >= SMALLEST_GAIN
    ]


@formula("")
def deviation(low: float, high: float) -> float:
    """Return the standard deviation of ln rate of a 90 % range."""
    return largest(0.02, log(high / low) / WIDTH_OF_90)


@formula("")
def density(gap: float, expected: float, spread: float) -> float:
    """Return the normal density of a logarithmic gap."""
    return exp(-0.5 * ((gap - expected) / spread) ** 2) / (spread * math.sqrt(2 * math.pi))


@formula("")
def density_of_any(gap: float, spread: float, *, least: float = LEAST_SLOWED, most: float = MOST_SLOWED) -> float:
    """Return the density of a gap under a fault that slows by `least` to `most`, with equally likely logarithms."""
    below = _cumulated((-least - gap) / spread) - _cumulated((-most - gap) / spread)
    return below / (most - least)


def _cumulated(value: float) -> float:
    return 0.5 * (1 + applied("erf", math.erf, value / math.sqrt(2)))
