"""A measurement in the physics' terms, the labels that it shares with others, and the refusal of one that has none."""

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
    """What a measurement shares with others: the levels on which evidence is pooled."""

    accelerator: str
    generation: str
    framework: str
    source: str
    workload: str
    chip: str = ""
    """Accelerators of one chip differ by memory, links and power alone (H100, H800, H200); see `chip_of`."""
    left_open: int = 0
    """What its source leaves open: 0 nothing, 1 settings for which usual ones are taken, 2 something that decides the
    speed, so that it calibrates nothing."""

    @property
    def stack(self) -> str:
        """What the framework is written in, which an unnamed one has in common with the named."""
        return stack_of(self.framework)


def of_each(labels: Sequence[Labels], value: Callable[[Labels], float]) -> NDArray[Any]:
    """Return a value of each of many labels; one that stands there often is asked once."""
    import numpy as np

    known: dict[int, float] = {}
    values = np.empty(len(labels))
    for place, label in enumerate(labels):
        key = id(label)
        if key not in known:
            known[key] = value(label)
        values[place] = known[key]
    return values


@dataclass(frozen=True)
class LoneKernel:
    """Kernels of one kind that a probe measured by themselves: what they say of one part of a step."""

    kind: str
    """As in `KernelKind`."""
    probe: str
    """Id of the probe."""
    shapes: tuple[tuple[Mapping[str, float], float, float], ...] = field(hash=False)
    """Of each: numbers for `Configs`, bytes of a collective, and measured seconds."""
    transfer: float
    """Standard deviation of ln(time inside training / time alone), what the physics leaves out included."""
    elsewhere: float
    """On top, where it was measured on another machine of the kind."""


@dataclass(frozen=True)
class Observation:
    """A measurement in the physics' terms: numbers for `Configs`, labels, and seconds of one step."""

    id: str
    config: dict[str, float] = field(hash=False)
    labels: Labels
    tokens_per_s_per_gpu: float
    unit_per_token: float
    """Multiplies tokens/s per GPU into the unit in which the row is scored."""
    operators: tuple[Operator, ...] = ()
    """Of one image; a network of images is taken operator by operator, and its tokens are images."""
    in_fit: bool = field(default=True, kw_only=True)
    """False of a weak row: it is predicted, and excluded from every fit."""
    kernel: LoneKernel | None = field(default=None, kw_only=True)
    """Kernels of a probe, in place of a training; its seconds are those of the first of them."""

    @property
    def described(self) -> Described:
        """What the physics of operators takes."""
        return Described(self.operators, self.config)

    @property
    def sample(self) -> Literal["tokens", "image"]:
        """What its network is trained on."""
        return "image" if self.operators else "tokens"


NAMES_IN_DIGESTS = {
    "sequential_experts": "looped", "variable_length": "ragged", "materialised": "formed", "separate_gathers": "apart",
}  # fmt: skip
"""Keys of a configuration under the names that digests spell. A digest draws the known runs of the ranges and
identifies the rows of a shipped calibration, so renaming a key must not change it."""


NOT_IN_DIGESTS = frozenset({"stage_layers", "pcie_cards", "pcie_5", "deepspeed", "attended"})
"""Keys that other facts of a measured row determine: layers / stages, the framework and its ZeRO stage; and windows, of
which no row knows."""


def digest_items(config: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return a configuration's numbers in the order and under the names of digests.

    To nine digits: the last ones differ from processor to processor.
    """
    return sorted(
        (NAMES_IN_DIGESTS.get(name, name), float(f"{value:.9g}"))
        for name, value in config.items()
        if name not in NOT_IN_DIGESTS
    )


@dataclass(frozen=True)
class Refusal:
    """Why a measurement cannot be predicted; `reason` is counted, `detail` is for the reader."""

    id: str
    reason: str
    detail: str = ""
