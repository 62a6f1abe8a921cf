"""Measurements in the physics' terms: facts, labels for pooling, kernels of probes, and refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from planner.network.image_blocks import Operator
from planner.scenario.frameworks import stack_of
from planner.speed.physics.image_config_arrays import Described

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Labels:
    """Properties that a measurement shares with others; evidence is pooled by them."""

    accelerator: str
    generation: str
    framework: str
    source: str
    workload: str
    chip: str = ""
    """Chip of the accelerator. Accelerators with one chip differ only in memory, links and power; see `chip_of`."""
    left_open: int = 0
    """Completeness of the source. 0: nothing is missing. 1: settings are missing, and common ones are assumed. 2:
    something that decides the speed is missing, so the measurement calibrates nothing."""

    @property
    def stack(self) -> str:
        """Software stack of the framework, which is known even if the framework is not named."""
        return stack_of(self.framework)


def of_each(labels: Sequence[Labels], value: Callable[[Labels], float]) -> NDArray[Any]:
    """Return the value of each label as an array; `value` is called once for each object."""
    import numpy as np

    value_by_id = {key: value(label) for key, label in {id(label): label for label in labels}.items()}
    return np.array([value_by_id[id(label)] for label in labels], dtype=float)


@dataclass(frozen=True)
class LoneKernel:
    """Kernels of one kind that a probe measured alone; they are evidence for one part of a step."""

    kind: str
    """Value of a `KernelKind`."""
    probe: str
    """Id of the probe."""
    shapes: tuple[tuple[Mapping[str, float], float, float], ...] = field(hash=False)
    """Facts for `Configs`, bytes of a collective, and measured seconds of each kernel."""
    transfer: float
    """Standard deviation of ln(time inside training / time alone), including errors of the physics."""
    elsewhere: float
    """Additional standard deviation if the kernel was measured on another machine of the kind; else 0."""


@dataclass(frozen=True)
class Observation:
    """Measurement in the physics' terms: facts for `Configs`, labels, and rate."""

    id: str
    config: dict[str, float] = field(hash=False)
    labels: Labels
    tokens_per_s_per_gpu: float
    unit_per_token: float
    """Factor from tokens/s per GPU to the unit in which the row is scored."""
    operators: tuple[Operator, ...] = ()
    """Operators of one image in an image network, whose tokens are images; empty for text."""
    in_fit: bool = field(default=True, kw_only=True)
    """False for a weak row, which is predicted and excluded from every fit."""
    kernel: LoneKernel | None = field(default=None, kw_only=True)
    """Kernels of a probe, if this is not a training; the rate is that of the first of them."""

    @property
    def described(self) -> Described:
        """Operators and facts, as `gather` takes them."""
        return Described(self.operators, self.config)

    @property
    def sample(self) -> Literal["tokens", "image"]:
        """Kind of the samples on which the network is trained."""
        return "image" if self.operators else "tokens"


NAMES_IN_DIGESTS = {
    "sequential_experts": "looped", "variable_length": "ragged", "materialized": "formed", "separate_gathers": "apart",
}  # fmt: skip
"""Names of a configuration's keys in digests, if they differ from the fields' names.

Digests draw the known runs of the ranges and identify the rows of a shipped calibration, so renaming a key must not
change them.
"""
NOT_IN_DIGESTS = frozenset({"stage_layers", "pcie_cards", "pcie_5", "deepspeed", "attended"})
"""Keys that are not in digests. Other facts of a measured row determine them, and no row has windows."""


def digest_items(config: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return a configuration's numbers in the order and under the names of digests.

    Numbers have nine digits, because further ones differ between processors.
    """
    return sorted(
        (NAMES_IN_DIGESTS.get(name, name), float(f"{value:.9g}"))
        for name, value in config.items()
        if name not in NOT_IN_DIGESTS
    )


@dataclass(frozen=True)
class Refusal:
    """Reason why a measurement cannot be predicted; `reason` is counted, and `detail` is for the reader."""

    id: str
    reason: str
    detail: str = ""
