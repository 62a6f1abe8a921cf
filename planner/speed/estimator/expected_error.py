"""Expected error of a prediction, from the parts of its step and from labels without evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from planner.speed.physics.accelerator_facts import format_codes, format_named
from planner.speed.physics.observation import of_each

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration, Seen
    from planner.speed.estimator.doubt import Points
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Labels

FEW_ROWS = 3
"""Number of rows from which a label counts as known."""
SITE, ACCELERATOR, WORKLOAD, NEARBY, REPEATED = 0.10, 0.045, 0.05, 0.20, 0.09
"""Standard deviations, in logarithms, of the errors that measurements of one site share: all of them, those of one
accelerator, those of one workload, those with nearby settings, and those of one configuration."""
NOISE = 0.025
"""Standard deviation of one measurement alone. The spread between nodes of one kind is 0.6 to 2 %."""
COMMON_VARIANCE = SITE**2 + ACCELERATOR**2 + WORKLOAD**2 + NEARBY**2 + REPEATED**2 + NOISE**2
PART_ERROR = {
    "products": 0.10,
    "traffic": 0.35,
    "expansion": 0.50,
    "attention": 0.55,
    "elementwise": 0.45,
    "adapters": 0.50,
    "routing": 0.50,
    "tail": 0.90,
    "logits": 0.45,
    "host": 0.40,
    "engine": 0.60,
    "split": 0.60,
    "sharding": 0.60,
    "gradients": 0.50,
    "optimizer": 0.55,
    "overhead": 0.80,
    "waiting": 0.80,
}
"""Standard deviations, in logarithms, of a part of a step from site to site. Products are known better than links and
hosts. The values maximize the marginal likelihood of the errors of held-out sources, rounded. The five site deviations
above are those with which known runs help most on held-out sources; a factor of 1.5 in them hardly matters."""
UNKNOWN_ERROR = {"framework": 0.12, "accelerator": 0.08, "generation": 0.14}
"""Additional errors of labels without evidence."""
NUMBER_FORMAT, FORMAT_ERROR = "number format", 0.12
"""Additional error of a number format without evidence on a generation that has evidence."""
DOUBLING_ERROR = 0.04
"""Additional error per doubling of the accelerators beyond the largest training of the evidence."""
ADAPTER_ERROR, MATERIALIZED_ERROR, EXPERT_ERROR, NARROW_FORMAT_ERROR = 0.12, 0.15, 0.20, 0.08


def expected_error(
    configs: Configs, labels: Sequence[Labels], shares: Mapping[str, Array], known: KnownLabels
) -> Array:
    """Return the standard deviations of ln(measured / predicted).

    sd^2 = site^2 + accelerator^2 + workload^2 + nearby^2 + repeated^2 + noise^2 + sum (share of a part x its error)^2
           + variance of adapters, experts, formed weights and narrow formats + variance of unknown labels and scales
    """
    import numpy as np

    variance = variance_of_parts(shares, len(configs))
    variance = variance + (ADAPTER_ERROR * configs.adapters) ** 2 + (EXPERT_ERROR * (configs.experts > 1)) ** 2
    variance = variance + (MATERIALIZED_ERROR * configs.materializes_weights) ** 2
    variance = variance + (NARROW_FORMAT_ERROR * (configs.format_step > 0)) ** 2
    variance = variance + of_each(labels, lambda label: variance_of_unknown(label, known))
    lacks_format_alone = _lacks_format(configs, known) & ~known.lacks(labels, "generation")
    variance = variance + (FORMAT_ERROR * lacks_format_alone) ** 2
    return np.asarray(np.sqrt(variance + variance_of_scale(configs.gpus, known)))


def variance_of_parts(shares: Mapping[str, Array], count: int) -> Array:
    """Return the variance of `count` predictions from their parts and from what measurements of a site share."""
    import numpy as np

    variance = np.full(count, COMMON_VARIANCE)
    for name, error in PART_ERROR.items():
        variance = variance + (shares[name] * error) ** 2
    return variance


def variance_of_unknown(label: Labels, known: KnownLabels, levels: Collection[str] = UNKNOWN_ERROR) -> float:
    """Return the variance that labels without evidence add, over all levels or over `levels`."""
    return sum(UNKNOWN_ERROR[level] ** 2 for level in levels if not known.has(level, getattr(label, level)))


def variance_of_scale(gpus: Array, known: KnownLabels) -> Array:
    """Return the variance that accelerators beyond the largest training of the evidence add."""
    import numpy as np

    return np.asarray((DOUBLING_ERROR * np.maximum(0.0, np.log2(gpus / max(1, known.largest)))) ** 2)


class KnownLabels:
    """Labels with evidence, the largest training of the evidence, and its measured settings."""

    def __init__(self, seen: Mapping[str, Mapping[str, Seen]], largest: int, points: Points | None = None) -> None:
        self.seen, self.largest, self.points = seen, largest, points or {}

    @classmethod
    def of(cls, calibration: Calibration) -> KnownLabels:
        """Return the labels that a calibration has evidence of."""
        return cls(calibration.seen, calibration.largest, calibration.points)

    def has(self, level: str, name: str) -> bool:
        """Return whether a label has enough evidence to count as known."""
        return self.rows(level, name) >= FEW_ROWS

    def lacks(self, labels: Sequence[Labels], level: str) -> Array:
        """Return for each of `labels` whether its name on a level is unknown."""
        return of_each(labels, lambda label: float(not self.has(level, getattr(label, level)))) > 0

    def rows(self, level: str, name: str) -> int:
        """Return the number of measurements of a label."""
        evidence = self.seen.get(level, {}).get(name)
        return 0 if evidence is None else evidence.rows


def count_evidence(
    labels: Sequence[Labels], gpus: Array, formats: Sequence[str] = (), *, points: Points | None = None
) -> KnownLabels:
    """Count measurements and sources of each label and find its largest training; also for number formats if given."""
    from planner.model.evidence.calibration import Seen

    named = {level: [getattr(label, level) for label in labels] for level in UNKNOWN_ERROR}
    if formats:
        named[NUMBER_FORMAT] = list(formats)
    rows: dict[str, dict[str, list[int]]] = {level: {} for level in named}
    sources: dict[tuple[str, str], set[str]] = {}
    for level, names in named.items():
        for name, label, count in zip(names, labels, gpus, strict=True):
            rows[level].setdefault(name, []).append(int(count))
            sources.setdefault((level, name), set()).add(label.source)
    seen = {
        level: {
            name: Seen(rows=len(counts), sources=len(sources[level, name]), largest=max(counts))
            for name, counts in sorted(names.items())
        }
        for level, names in rows.items()
    }
    return KnownLabels(seen, max((int(count) for count in gpus), default=1), points)


KINDS = ("cards over PCIe", "adapters", "experts")
"""Kinds of machine, method and network whose predictions miss by more than others, with or without own runs."""
GROUPS = (
    "new generation",
    "new accelerator",
    "new scale",
    f"new {NUMBER_FORMAT}",
    *KINDS,
    "new framework",
    "same accelerator and framework",
)
"""Groups of predictions by what they lack. Each group has ranges of its own."""
OWN_RUNS = "own runs"
OWN_GROUPS = (*(f"{OWN_RUNS}, {name}" for name in KINDS), OWN_RUNS)
"""Groups of predictions that own runs correct."""


def groups_of(configs: Configs, labels: Sequence[Labels], known: KnownLabels) -> tuple[str, ...]:
    """Return the first group of `GROUPS` that fits each prediction."""
    conditions = [
        known.lacks(labels, "generation"),
        known.lacks(labels, "accelerator"),
        configs.gpus > known.largest,
        _lacks_format(configs, known),
        *_kinds(configs),
        known.lacks(labels, "framework"),
    ]
    return first_group(GROUPS, conditions)


def groups_with_own_runs(configs: Configs) -> tuple[str, ...]:
    """Return the first group of `OWN_GROUPS` that fits each prediction."""
    return first_group(OWN_GROUPS, _kinds(configs))


def first_group(names: Sequence[str], conditions: Sequence[Array]) -> tuple[str, ...]:
    """Return for each prediction the name of its first true condition, or the last name if none is true."""
    import numpy as np

    fits = [*conditions, np.ones_like(conditions[0])]
    return tuple(np.array(names, dtype=object)[np.argmax(fits, axis=0)].tolist())


def _kinds(configs: Configs) -> list[Array]:
    """Return for each of `KINDS` which configurations belong to it."""
    return [(configs.gpus > 1) & (configs.pcie > 0), configs.adapters > 0, configs.experts > 1]


def _lacks_format(configs: Configs, known: KnownLabels) -> Array:
    """Return which configurations have a number format without measurements on their generation.

    A calibration that did not count formats yet lacks none.
    """
    import numpy as np

    if NUMBER_FORMAT not in known.seen:
        return np.zeros(len(configs), dtype=bool)
    codes = format_codes(configs)
    lacking = [code for code in set(codes.tolist()) if not known.has(NUMBER_FORMAT, format_named(code))]
    return np.isin(codes, lacking) if lacking else np.zeros(len(configs), dtype=bool)
