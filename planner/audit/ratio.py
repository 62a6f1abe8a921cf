"""Ratio of two runs' speeds: as stated, the share that each difference explains, and the range at equal settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from planner.audit.findings import Fact, doubtful, note
from planner.audit.rate_rules import ASSUMED_FORMAT, open_formats
from planner.audit.stated_run import StatedRun
from planner.model.answer.audit import AuditVerdict, Finding, RunAudit
from planner.model.catalog import Catalog
from planner.model.evidence.calibration import Calibration
from planner.model.network.workload import Precision
from planner.speed.diagnosis.run_setup import RunSetup, expectations, setup_of
from planner.speed.physics.accelerator_facts import peak_flops

HARDWARE, COUNT = "hardware", "count"
DIFFERENCES = {
    HARDWARE: ("accelerator", "node"),
    COUNT: ("nodes", "per_node"),
    "network": ("network", "adapters"),
    "sample length": ("seq_len",),
    "batch": ("micro_batch", "accumulation"),
    "precision": ("precision",),
    "recomputation": ("checkpointing",),
    "strategy": ("strategy",),
    "software": ("compiled", "framework"),
}
"""Differences by name, each with the settings of a run that change together."""
FACTOR_DOUBT = 0.5
"""Assumed uncertainty of a factor's logarithm, as a share of the logarithm.

It is small because two estimates of similar runs share most of their error, as in `check-run`.
"""
UNSTATED_FORMATS = {Precision.FP32: "fp32", Precision.TF32: "tf32"}
"""Formats that a run may have used without stating them."""
Variant = frozenset[str] | tuple[int, Precision]
"""The second run with some differences applied; or the second (0) or first run (1) in a format that it may have used.
"""


@dataclass(frozen=True)
class RatioShares:
    """Factors of `stated` (samples/s of one accelerator, first run over second) = product of `factors` x `unexplained`.

    `subject` is the difference of interest: hardware or count. `low` and `high` are the 90 % range of its ratio at
    equal settings.
    """

    stated: float
    factors: dict[str, float]
    unexplained: float
    subject: str | None
    low: float
    high: float

    def share(self, factor: float) -> float:
        """Return the part of ln(ratio) that a factor explains; over 1 if another factor compensates it."""
        return math.log(factor) / math.log(self.stated)


@dataclass(frozen=True)
class ComparedRun:
    """One of two runs: its settings, the formats it may have used, and whether it can be true."""

    setup: RunSetup
    open_formats: tuple[str, ...] = ()
    impossible: bool = False


def shares_of_ratio(
    first: ComparedRun, second: ComparedRun, *, stated: tuple[float, float, float], calibration: Calibration
) -> RatioShares | None:
    """Return the shares; None if the estimator does not know the effect of a setting.

    A difference's factor is the geometric mean of its effect over all orders in which the second run's settings can be
    changed to the first's (Shapley value of ln rate). So the factors' product is the ratio that the estimator expects.
    `stated` is the stated ratio: value, low, high.
    """
    begin, end = second.setup, first.setup
    keys_of = _differences(begin, end)
    names = [name for name, keys in keys_of.items() if _with(begin, end, keys) != begin]
    subsets = [subset for size in range(len(names) + 1) for subset in combinations(names, size)]
    setups: dict[Variant, RunSetup] = {
        frozenset(subset): _with(begin, end, [key for name in subset for key in keys_of[name]]) for subset in subsets
    }
    for position, run in enumerate((second, first)):
        setups |= {
            (position, number_format): run.setup.changed(precision=number_format)
            for number_format in UNSTATED_FORMATS
            if UNSTATED_FORMATS[number_format] in run.open_formats
        }
    answers = expectations(list(setups.values()), calibration)
    known = {variant: answer for variant, answer in zip(setups, answers, strict=True) if answer is not None}
    if len(known) < len(answers):
        return None
    logs = {
        frozenset(subset): math.log(known[frozenset(subset)].value / setups[frozenset(subset)].devices)
        for subset in subsets
    }
    factors = {name: math.exp(_shapley(name, names, logs)) for name in names}
    subject = next((name for name in (HARDWARE, COUNT) if name in factors), None)
    ends = (known[frozenset()], known[frozenset(names)])
    if subject and (first.impossible or second.impossible):
        spread = math.hypot(*(math.log(end.high / end.low) / 2 for end in ends))
        low, high = factors[subject] * math.exp(-spread), factors[subject] * math.exp(spread)
    else:
        low, high = _range(stated, {name: factors[name] for name in names if subject not in (None, name)})
        format_gains = [
            [1.0, *(end.value / known[position, wide].value for wide in UNSTATED_FORMATS if (position, wide) in known)]
            for position, end in enumerate(ends)
        ]
        low, high = low / max(format_gains[0]), high * max(format_gains[1])
    return RatioShares(stated[0], factors, stated[0] / math.prod(factors.values()), subject, low, high)


def _differences(begin: RunSetup, end: RunSetup) -> dict[str, tuple[str, ...]]:
    """Return DIFFERENCES. If only the number of accelerators differs, the machine counts as part of that difference."""
    if begin.accelerator != end.accelerator or begin.devices == end.devices:
        return DIFFERENCES
    return {**DIFFERENCES, HARDWARE: (), COUNT: (*DIFFERENCES[COUNT], "node")}


def _with(setup: RunSetup, source_setup: RunSetup, keys: Sequence[str]) -> RunSetup:
    """Return the setup with some of the other's settings."""
    return setup.changed(**{key: getattr(source_setup, key) for key in keys})


def _shapley(name: str, names: Sequence[str], logs: dict[frozenset[str], float]) -> float:
    others = [other for other in names if other != name]
    total = 0.0
    for size in range(len(others) + 1):
        weight = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(names))
        for subset in combinations(others, size):
            total += weight * (logs[frozenset((*subset, name))] - logs[frozenset(subset)])
    return total


def _range(stated: tuple[float, float, float], settings: dict[str, float]) -> tuple[float, float]:
    """Return the range of the ratio without the settings' effect: all uncertainties are added in quadrature."""
    value, low, high = stated
    alone = value / math.prod(settings.values())
    doubts = [FACTOR_DOUBT * math.log(factor) for factor in settings.values()]
    below, above = math.hypot(math.log(value / low), *doubts), math.hypot(math.log(high / value), *doubts)
    return alone * math.exp(-below), alone * math.exp(above)


CLOSE_TO_ONE = 1.1
"""Ratios up to this factor from 1 get no shares, because their logarithm is nearly 0."""
SOFTWARE_ALLOWANCE = 1.25
"""Assumed allowance on the ratio of peaks: newer accelerators often reach a larger share of their peak."""
ESTIMATOR = "the estimator, geometric mean over all orders of the differences"
Audited = tuple[StatedRun, RunAudit]


def ratio_findings(first_audit: Audited, second_audit: Audited, catalog: Catalog) -> list[Finding]:
    """Return findings on the first run's speed per accelerator over the second's: the ratio, and what explains it."""
    (first, _), (second, _) = first_audit, second_audit
    assert first.record is not None
    assert second.record is not None
    if not first.samples_per_s or not second.samples_per_s:
        return []
    a, b, device_ratio = first.record.throughput, second.record.throughput, second.devices / first.devices
    stated = (
        first.samples_per_s / second.samples_per_s * device_ratio,
        a.low / b.high * device_ratio,
        a.high / b.low * device_ratio,
    )
    setups = [setup_of(run.record, catalog) for run in (first, second) if run.record]
    shares = _shares(first_audit, second_audit, stated, setups, catalog)
    return [*_above_hardware(first, second, stated), _stated(first, second, stated, shares), _explained(setups, shares)]


def _above_hardware(first: StatedRun, second: StatedRun, stated: tuple[float, float, float]) -> list[Finding]:
    """Return a finding if peaks, memory bandwidths and software cannot explain the faster run's lead."""
    fast, slow, least = (first, second, stated[1]) if stated[0] >= 1 else (second, first, 1 / stated[2])
    if fast.accelerator is None or slow.accelerator is None or fast.accelerator.id == slow.accelerator.id:
        return []
    peaks = [
        peak_flops(run.accelerator, run.number_format or ASSUMED_FORMAT) for run in (fast, slow) if run.accelerator
    ]
    memory = [run.accelerator.hbm_gb_per_s for run in (fast, slow) if run.accelerator]
    if not (peaks[0] and peaks[1] and memory[0] and memory[1]) or fast.number_format != slow.number_format:
        return []
    explained_ratio = max(peaks[0] / peaks[1], memory[0] / memory[1])
    if least <= SOFTWARE_ALLOWANCE * explained_ratio:
        return []
    says = (
        f"{fast.id} is at least {least:.3g} times as fast as {slow.id} per accelerator, but its peak is only "
        f"{peaks[0] / peaks[1]:.3g} times as high and its memory bandwidth {memory[0] / memory[1]:.3g} times: "
        "something other than the hardware differs."
    )
    facts: tuple[Fact, ...] = (
        ("least", least, "times per accelerator", "the throughputs, low end"),
        ("peaks", peaks[0] / peaks[1], "times", f"{fast.accelerator.source}; {slow.accelerator.source}"),
        ("memory bandwidths", memory[0] / memory[1], "times", f"{fast.accelerator.source}; {slow.accelerator.source}"),
    )
    return [doubtful("speedup_above_hardware", says, *facts, fix=f"planner check-run {slow.id}")]


def _shares(
    first: Audited,
    second: Audited,
    stated: tuple[float, float, float],
    setups: list[RunSetup | None],
    catalog: Catalog,
) -> RatioShares | None:
    compared = [
        ComparedRun(setup, open_formats(run), audit.verdict is AuditVerdict.IMPOSSIBLE)
        for setup, (run, audit) in zip(setups, (first, second), strict=True)
        if setup is not None
    ]
    if len(compared) < 2 or catalog.calibration is None:
        return None
    return shares_of_ratio(*compared, stated=stated, calibration=catalog.calibration)


def _stated(
    first: StatedRun, second: StatedRun, stated: tuple[float, float, float], shares: RatioShares | None
) -> Finding:
    value, low, high = stated
    facts: list[Fact] = [
        ("ratio", value, "per accelerator", "the throughputs"),
        ("low", low, "per accelerator", "their ranges"),
        ("high", high, "per accelerator", "their ranges"),
    ]
    says = f"{first.id} is {value:.2f} times as fast as {second.id} per accelerator (range {low:.2f}-{high:.2f})"
    peaks = [peak_flops(run.accelerator, ASSUMED_FORMAT) for run in (first, second) if run.accelerator]
    if len(peaks) == 2 and peaks[0] and peaks[1] and first.accelerator != second.accelerator:
        facts.append(("peaks", peaks[0] / peaks[1], "ratio of dense 16-bit peaks", "data sheets"))
        says += f"; the ratio of their dense 16-bit peaks is {peaks[0] / peaks[1]:.2f}"
    if shares is not None:
        facts += [
            ("true_low", shares.low, "at equal settings", ESTIMATOR),
            ("true_high", shares.high, "at equal settings", ESTIMATOR),
        ]
        subject_words = f" of the {shares.subject}" if shares.subject else ""
        says += f". At equal settings the ratio{subject_words} is {shares.low:.2f}-{shares.high:.2f}"
    return note("ratio", f"{says}.", *facts)


def _explained(setups: list[RunSetup | None], shares: RatioShares | None) -> Finding:
    if shares is None:
        return note(
            "ratio_explained",
            "The estimator cannot compute what the differences explain, because it cannot model both runs.",
        )
    has_shares = not 1 / CLOSE_TO_ONE < shares.stated < CLOSE_TO_ONE
    parts = {**shares.factors, "unexplained": shares.unexplained}
    facts: list[Fact] = [(name, factor, "times", ESTIMATOR) for name, factor in parts.items()]
    if has_shares:
        facts += [
            (f"{name}_share", shares.share(factor), "of the logarithm of the ratio", ESTIMATOR)
            for name, factor in parts.items()
        ]
    words = [f"{name} x{factor:.2f}" + _share(shares, factor, has_shares=has_shares) for name, factor in parts.items()]
    assumed = dict.fromkeys(assumption for setup in setups if setup for assumption in setup.assumed)
    fix = f"Assumed: {'; '.join(assumed)}." if assumed else ""
    bracket_note = "; in brackets its share of the ratio's logarithm" if has_shares and len(parts) > 1 else ""
    says = f"The ratio of {shares.stated:.2f} is {', '.join(words)}{bracket_note}."
    return note("ratio_explained", says, *facts, fix=fix)


def _share(shares: RatioShares, factor: float, *, has_shares: bool) -> str:
    return f" ({shares.share(factor):.0%})" if has_shares else ""
