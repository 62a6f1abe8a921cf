"""Is a run as fast as it should be? Measured against expected, and the causes that explain the difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

from planner.model.evidence.calibration import Calibration
from planner.model.evidence.run import RunRecord
from planner.model.network.workload import Precision
from planner.quantity.formula import exp, formula, largest, log, named, smallest, stated
from planner.speed.diagnosis.causes import RULES, CauseCode, CauseRule
from planner.speed.diagnosis.likelihood import MOST_SLOWED, density, density_of_any, deviation
from planner.speed.diagnosis.run_setup import Expectation, RunSetup, expectations
from planner.speed.physics.observation import Observation

SMALLEST_GAIN = 1.05
"""A cause that costs less is not named."""
WORST_RANK = 2.5
SLOWEST_RANK = math.log(WORST_RANK)
WORST_SLOWED = math.log(10_000.0)
BEYOND_PRIOR = 0.05
"""Of a fault that slows more than any of the causes, as memory that spills into the host's. Assumed."""
PADDED_GAIN = 1.5
"""Of samples of unlike lengths without packing, where nothing counts the padding. Assumed."""
SHARE_OF_STEP = "the estimator, share of a step"
GAIN_SPREAD = 0.5
"""Of what a fix gives beyond 1, both ways: two estimates of one machine share most of their error. Assumed."""
MOST_CAUSES = 3
LEAST_PROBABILITY = 0.05
NEAR = 0.9
"""A cause whose score is within this share of the one before is as likely: what is free comes first then."""
RECOMPUTED_STEP = 4 / 3
"""Forward and backward are 1 + 2 of the forward pass's work; full recomputation adds one."""


@formula("")
def gain_range(gain: float) -> tuple[float, float]:
    """Return the 90 % range of what a fix gives."""
    return 1 + (gain - 1) * (1 - GAIN_SPREAD), 1 + (gain - 1) * (1 + GAIN_SPREAD)


@dataclass(frozen=True)
class FoundCause:
    """A cause in a run: how sure it is, and what the run would gain without it."""

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
    """What is expected of a run, and its likeliest causes."""

    expected: Expectation | None
    causes: tuple[FoundCause, ...]
    slowdown: float | None = None
    """Expected / measured of a run below its range; None of any other."""
    explained: float = 1.0
    """Times as fast, at most, without the causes that no setting states: the proven ones and the best other one."""
    needed: float = 1.0
    """Times as fast from which the run is within its range."""

    @property
    def unexplained(self) -> float | None:
        """What remains of the slowdown without the causes; None where they explain it."""
        return self.slowdown / self.explained if self.slowdown and self.explained < self.needed else None


def diagnose(
    run: RunRecord, setup: RunSetup | None, calibration: Calibration | None, *, own: Sequence[Observation] = ()
) -> Diagnosis:
    """Return what is expected of the run as stated, and what may hold it back.

    Three kinds of causes: proven by what the run itself measured (types of the products, waits, ranks, padding);
    stated, so that what is expected holds them already (a small batch, recomputation, a slow link); and unseen, whose
    probability is prior x density of the measured rate with the cause / the same of all, no fault included.
    """
    shown = _shown(run)
    if setup is None or calibration is None:
        return Diagnosis(None, _best([*shown, *_stated_without_physics(run)]))
    variants: list[tuple[CauseRule, str, RunSetup]] = []
    for rule in RULES:
        if (mended := rule.mended(setup)) is not None:
            variants.append((rule, "mended", mended))
        if (unseen := rule.unseen(setup, run)) is not None:
            variants.append((rule, "unseen", unseen))
    base, *others = expectations([setup, *(variant for _, _, variant in variants)], calibration, own=own)
    if base is None:
        return Diagnosis(None, _best([*shown, *_stated_without_physics(run)]))
    if run.throughput.value > base.high:  # nothing holds it back
        return Diagnosis(base, ())
    rates = {(rule.code, kind): answer for (rule, kind, _), answer in zip(variants, others, strict=True) if answer}
    proven = {one.rule.code for one in shown}
    found = [*shown, *(one for one in _stated(rates, base) if one.rule.code not in proven)]
    measured = _of_run("measured", run.throughput.value)
    gap = log(measured / _expected(base, "as_stated")) + sum(log(one.gain) for one in shown)
    gap = named("gap", gap, "", "ln of measured / expected, less what is proven")
    taken = proven | {one.rule.code for one in found}
    found += [one for one in _unseen(run, rates, base, gap) if one.rule.code not in taken]
    causes = _best(found)
    if run.throughput.value >= base.low:
        return Diagnosis(base, causes)
    return Diagnosis(
        base, causes, _expected(base, "as_stated") / measured, _explained(causes), base.low / run.throughput.value
    )


def _explained(causes: Sequence[FoundCause]) -> float:
    """Return the gain of the proven causes together x that of the best unseen one; settings are expected already."""
    proven = reduce(mul, (one.gain for one in causes if one.proven), 1.0)
    return proven * max((one.gain for one in causes if not one.proven and not one.stated), default=1.0)


def _best(found: list[FoundCause]) -> tuple[FoundCause, ...]:
    """Return the likeliest causes that matter; of equals what is free first."""
    told = [one for one in found if one.gain >= SMALLEST_GAIN and one.probability >= LEAST_PROBABILITY]
    told.sort(key=lambda one: -one.score)
    for place in range(len(told) - 1):
        one, other = told[place], told[place + 1]
        if other.rule.free and not one.rule.free and not one.proven and other.score >= NEAR * one.score:
            told[place], told[place + 1] = other, one
    return tuple(told[:MOST_CAUSES])


def _prior(code: CauseCode) -> float:
    return stated(f"prior_of_{code}", _rule(code).prior, "", "planner/speed/diagnosis/causes.py")


def _rule(code: CauseCode) -> CauseRule:
    return next(rule for rule in RULES if rule.code is code)


def _shown(run: RunRecord) -> list[FoundCause]:
    """Return what the run itself proves."""
    found = []
    waited = _of_run("data_wait_fraction", run.data_wait_fraction or 0.0)
    uneven = _of_run("uneven_share", (run.log.uneven_share or 0.0) if run.log else 0.0)
    if (lost := largest(waited, uneven)) > 0:
        found.append((CauseCode.DATA_WAIT, 1 / largest(0.05, 1 - lost)))
    if run.device_busy_seconds and run.global_batch is not None:
        step_seconds = _of_run("global_batch", run.global_batch) / _of_run("measured", run.throughput.value)
        found.append((CauseCode.HOST, step_seconds * (1 - lost) / _of_run("busy_seconds", run.device_busy_seconds)))
    if run.slowest_rank is not None:
        found.append((CauseCode.SLOW_RANK, run.slowest_rank))
    if run.log is not None and run.log.filled_share is not None:
        found.append((CauseCode.PADDING, 1 / _of_run("filled_share", run.log.filled_share)))
    flops = run.matmul_flops_by_dtype
    wide = sum(value for name, value in flops.items() if name.startswith("float32"))
    if run.precision in (Precision.BF16, Precision.FP16) and wide > 0:
        share = wide / sum(flops.values())
        found.append((CauseCode.FP32, 1 + share))
    return [FoundCause(_rule(code), 1.0, gain, proven=True) for code, gain in found if gain >= SMALLEST_GAIN]


def _of_run(name: str, value: float) -> float:
    return stated(name, value, "", "the run itself")


def _stated_without_physics(run: RunRecord) -> list[FoundCause]:
    """Return what the run's settings cost by counting alone."""
    full = run.checkpointing is not None and run.checkpointing.value == "full"
    return [FoundCause(_rule(CauseCode.RECOMPUTATION), 1.0, RECOMPUTED_STEP, stated=True)] if full else []


def _stated(rates: dict[tuple[CauseCode, str], Expectation], base: Expectation) -> list[FoundCause]:
    """Return what the run's settings cost: expected without / expected with them."""
    expected = _expected(base, "as_stated")
    mended = {code: _expected(answer, f"without_{code}") for (code, kind), answer in rates.items() if kind == "mended"}
    gains = {code: value / expected for code, value in mended.items()}
    if CauseCode.LOGITS in gains:  # of fused kernels, the part that the logits gain, and the rest
        fused = rates[(CauseCode.LOGITS, "mended")]
        before = stated("logits_share_as_stated", base.shares.get("logits", 0.0), "", SHARE_OF_STEP)
        after = stated("logits_share_without_logits", fused.shares.get("logits", 0.0), "", SHARE_OF_STEP)
        saved = before - after * expected / mended[CauseCode.LOGITS]
        gains[CauseCode.LOGITS] = 1 / (1 - smallest(0.9, largest(0.0, saved)))
        gains[CauseCode.UNFUSED] = largest(1.0, gains[CauseCode.UNFUSED] / gains[CauseCode.LOGITS])
    return [FoundCause(_rule(code), 1.0, gain, stated=True) for code, gain in gains.items() if gain >= SMALLEST_GAIN]


def _expected(answer: Expectation, how: str) -> float:
    """Return the expected rate under a name that says of which setting."""
    return stated(f"expected_{how}", answer.value, "samples/s", "the estimator")


def _unseen(
    run: RunRecord, rates: dict[tuple[CauseCode, str], Expectation], base: Expectation, gap: float
) -> list[FoundCause]:
    """Return faults that nothing states, by how well they explain the gap."""
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
