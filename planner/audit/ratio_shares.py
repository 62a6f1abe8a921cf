"""Shares of the ratio of two runs that each difference explains, by the planner's own estimator, and the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from planner.model.evidence.calibration import Calibration
from planner.model.network.workload import Precision
from planner.speed.diagnosis.run_setup import RunSetup, expectations

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
"""Differences, each with the settings of a run that it moves together."""
DOUBT = 0.5
"""Assumed uncertainty of the logarithm of an explained share, both ways.

Two estimates of similar runs share most of their error, as in `check-run`.
"""
WIDE = {Precision.FP32: "fp32", Precision.TF32: "tf32"}
"""Formats that a run may have used without stating them."""
Variant = frozenset[str] | tuple[int, Precision]
"""The second run with some differences applied; or the second (0) or first run (1) in a format that it may have used.
"""


@dataclass(frozen=True)
class RatioShares:
    """Factors of `stated` (samples/s of one accelerator, first run over second) = product of `factors` x `unexplained`.

    `subject` is what the runs are compared for. `low` and `high` bound its own ratio at equal settings, with about 90
    %.
    """

    stated: float
    factors: dict[str, float]
    unexplained: float
    subject: str | None
    low: float
    high: float

    def share(self, factor: float) -> float:
        """Return the part of ln(ratio) that a factor explains; over 1 if another one compensates."""
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
    """Return the shares; None if the estimator cannot tell the effect of a setting.

    A difference's factor is the geometric mean of its effect over all orders in which the second run's settings can be
    changed to the first's (Shapley value of ln rate). So the factors' product is the estimator's expectation of the
    ratio. `stated` is value, low, high.
    """
    begin, end = second.setup, first.setup
    keys_of = _differences(begin, end)
    names = [name for name, keys in keys_of.items() if _with(begin, end, keys) != begin]
    subsets = [subset for size in range(len(names) + 1) for subset in combinations(names, size)]
    asked: dict[Variant, RunSetup] = {
        frozenset(subset): _with(begin, end, [key for name in subset for key in keys_of[name]]) for subset in subsets
    }
    for place, run in enumerate((second, first)):
        asked |= {(place, wide): run.setup.changed(precision=wide) for wide in WIDE if WIDE[wide] in run.open_formats}
    answers = expectations(list(asked.values()), calibration)
    known = {variant: answer for variant, answer in zip(asked, answers, strict=True) if answer is not None}
    if len(known) < len(answers):
        return None
    logs = {
        frozenset(subset): math.log(known[frozenset(subset)].value / asked[frozenset(subset)].devices)
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
        unseen = [[1.0, *(end.value / known[place, wide].value for wide in WIDE if (place, wide) in known)]
                  for place, end in enumerate(ends)]  # fmt: skip
        low, high = low / max(unseen[0]), high * max(unseen[1])
    return RatioShares(stated[0], factors, stated[0] / math.prod(factors.values()), subject, low, high)


def _differences(begin: RunSetup, end: RunSetup) -> dict[str, tuple[str, ...]]:
    """Return DIFFERENCES. For runs on several counts of one accelerator, the machine changes with the count."""
    if begin.accelerator != end.accelerator or begin.devices == end.devices:
        return DIFFERENCES
    return {**DIFFERENCES, HARDWARE: (), COUNT: (*DIFFERENCES[COUNT], "node")}


def _with(setup: RunSetup, other: RunSetup, keys: Sequence[str]) -> RunSetup:
    """Return the setup with some of the other's settings."""
    return setup.changed(**{key: getattr(other, key) for key in keys})


def _shapley(name: str, names: Sequence[str], logs: dict[frozenset[str], float]) -> float:
    others = [other for other in names if other != name]
    total = 0.0
    for size in range(len(others) + 1):
        weight = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(names))
        for subset in combinations(others, size):
            total += weight * (logs[frozenset((*subset, name))] - logs[frozenset(subset)])
    return total


def _range(stated: tuple[float, float, float], settings: dict[str, float]) -> tuple[float, float]:
    """Return the ratio without the effect of the settings: own ranges and their uncertainties in quadrature."""
    value, low, high = stated
    alone = value / math.prod(settings.values())
    doubts = [DOUBT * math.log(factor) for factor in settings.values()]
    below, above = math.hypot(math.log(value / low), *doubts), math.hypot(math.log(high / value), *doubts)
    return alone * math.exp(-below), alone * math.exp(above)
