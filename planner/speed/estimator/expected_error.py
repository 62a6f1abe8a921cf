"""How wrong a prediction may be: by the parts of its step, and by its distance from evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from planner.speed.physics.number_format import format_codes, format_named
from planner.speed.physics.observation import of_each

if TYPE_CHECKING:
    from planner.model.evidence.calibration import Calibration, Seen
    from planner.speed.estimator.doubt import Points
    from planner.speed.physics.config_arrays import Array, Configs
    from planner.speed.physics.observation import Labels

FEW_ROWS = 3
"""Fewer rows than this do not make a label known."""
SITE, ACCELERATOR, WORKLOAD, NEARBY, REPEATED = 0.10, 0.045, 0.05, 0.20, 0.09
"""Standard deviations, in logarithms, of what all measurements of a site have in common, those of one accelerator
there, those of one workload there, those with nearby settings there, and those of one configuration there."""
NOISE = 0.025
"""Of one measurement by itself: the spread between nodes of one kind is 0.6 to 2 %."""
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
"""How far a part of a step differs from site to site, in logarithms: products are known better than links and hosts.
The most probable ones (marginal likelihood) for errors of held-out sources, rounded; the five above are those with
which known runs help most on held-out sources, rounded: they hardly matter within a factor of 1.5."""
UNKNOWN_ERROR = {"framework": 0.12, "accelerator": 0.08, "generation": 0.14}
"""On top, where a label is not among the evidence."""
NUMBER_FORMAT, FORMAT_ERROR = "number format", 0.12
"""On top, where there is evidence of the accelerator's generation, and none of it in the number format."""
DOUBLING_ERROR = 0.04
"""On top, with every doubling of the accelerators beyond the evidence."""
ADAPTER_ERROR, MATERIALISED_ERROR, EXPERT_ERROR, NARROW_FORMAT_ERROR = 0.12, 0.15, 0.20, 0.08


def expected_error(
    configs: Configs, labels: Sequence[Labels], shares: Mapping[str, Array], known: KnownLabels
) -> Array:
    """Return the standard deviation of ln(measured / predicted), by what the configuration consists of.

    sd^2 = site^2 + accelerator^2 + workload^2 + nearby^2 + repeated^2 + noise^2 + sum (share of a part x its error)^2
           + what is unknown^2
    """
    import numpy as np

    variance = np.full(len(configs), COMMON_VARIANCE)
    for name, error in PART_ERROR.items():
        variance = variance + (shares[name] * error) ** 2
    variance = variance + (ADAPTER_ERROR * configs.adapters) ** 2 + (EXPERT_ERROR * (configs.experts > 1)) ** 2
    variance = variance + (MATERIALISED_ERROR * configs.materialises_weights) ** 2
    variance = variance + (NARROW_FORMAT_ERROR * (configs.format_step > 0)) ** 2
    variance = variance + of_each(
        labels,
        lambda label: sum(
            error**2 for level, error in UNKNOWN_ERROR.items() if not known.has(level, getattr(label, level))
        ),
    )
    measured = of_each(labels, lambda label: float(known.has("generation", label.generation)))
    variance = variance + (FORMAT_ERROR * measured * _lacks_format(configs, known)) ** 2
    beyond = np.maximum(0.0, np.log2(configs.gpus / max(1, known.largest)))
    variance = variance + (DOUBLING_ERROR * beyond) ** 2
    return np.asarray(np.sqrt(variance))


def unknown_accelerator(label: Labels, known: KnownLabels) -> float:
    """Return the variance of a kernel's error on an accelerator, or of a generation, that no evidence is of."""
    return sum(
        UNKNOWN_ERROR[level] ** 2
        for level in ("accelerator", "generation")
        if not known.has(level, getattr(label, level))
    )


class KnownLabels:
    """Which labels have evidence, and up to which scale."""

    def __init__(self, seen: Mapping[str, Mapping[str, Seen]], largest: int, points: Points | None = None) -> None:
        self.seen, self.largest, self.points = seen, largest, points or {}

    @classmethod
    def of(cls, calibration: Calibration) -> KnownLabels:
        """Return what a calibration knows."""
        return cls(calibration.seen, calibration.largest, calibration.points)

    def has(self, level: str, name: str) -> bool:
        """Return whether a label has enough evidence to count as known."""
        return self.rows(level, name) >= FEW_ROWS

    def rows(self, level: str, name: str) -> int:
        """Return how many measurements a label has."""
        evidence = self.seen.get(level, {}).get(name)
        return 0 if evidence is None else evidence.rows


def count_evidence(
    labels: Sequence[Labels], gpus: Array, formats: Sequence[str] = (), *, points: Points | None = None
) -> KnownLabels:
    """Count measurements, sources and scale of each label, and of each number format where they are given."""
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
"""Of machine, method and network, whose predictions miss by more than those of others, own runs or not."""
GROUPS = (
    "new generation",
    "new accelerator",
    "new scale",
    f"new {NUMBER_FORMAT}",
    *KINDS,
    "new framework",
    "same accelerator and framework",
)
"""Of predictions, by what they lack; each is calibrated by itself."""
OWN_RUNS = "own runs"
OWN_GROUPS = (*(f"{OWN_RUNS}, {name}" for name in KINDS), OWN_RUNS)
"""Of predictions that own runs correct."""


def groups_of(configs: Configs, labels: Sequence[Labels], known: KnownLabels) -> tuple[str, ...]:
    """Name the group of each prediction: the first that fits."""
    import numpy as np

    def lacks(level: str) -> Array:
        return of_each(labels, lambda label: float(not known.has(level, getattr(label, level)))) > 0

    holds = [
        lacks("generation"),
        lacks("accelerator"),
        configs.gpus > known.largest,
        _lacks_format(configs, known),
        *_kinds(configs),
        lacks("framework"),
        np.ones(len(configs), dtype=bool),
    ]
    return tuple(np.array(GROUPS, dtype=object)[np.argmax(holds, axis=0)].tolist())


def groups_with_own_runs(configs: Configs) -> tuple[str, ...]:
    """Name the group of each prediction that runs of its own machine correct."""
    import numpy as np

    holds = [*_kinds(configs), np.ones(len(configs), dtype=bool)]
    return tuple(np.array(OWN_GROUPS, dtype=object)[np.argmax(holds, axis=0)].tolist())


def _kinds(configs: Configs) -> list[Array]:
    """Return, for each of `KINDS`, which configurations are of it."""
    return [(configs.gpus > 1) & (configs.pcie > 0), configs.adapters > 0, configs.experts > 1]


def _lacks_format(configs: Configs, known: KnownLabels) -> Array:
    """Return for which configurations nothing of their generation was measured in their number format.

    By a calibration that did not count formats yet, of none.
    """
    import numpy as np

    if NUMBER_FORMAT not in known.seen:
        return np.zeros(len(configs), dtype=bool)
    codes = format_codes(configs)
    lacking = [code for code in set(codes.tolist()) if not known.has(NUMBER_FORMAT, format_named(code))]
    return np.isin(codes, lacking) if lacking else np.zeros(len(configs), dtype=bool)
