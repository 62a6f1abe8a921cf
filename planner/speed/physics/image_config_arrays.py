"""Describes many image trainings as arrays: one array per fact, and one table of all convolutions and linear maps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from planner.network.image_blocks import Operator
from planner.network.image_operators import weights_of
from planner.speed.physics.config_arrays import TrainingArrays

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array

KERNELS = {
    "convolution": 1.0,
    "depthwise": 1.0,
    "linear": 1.0,
    "attention": 4.0,
    "windows": 6.0,
    "norm": 2.0,
    "pointwise": 1.0,
}
"""Kernels that one operator's forward pass launches. The backward pass launches twice this number."""
PRODUCTS = ("convolution", "depthwise", "linear")
ATTENTION = ("attention", "windows")


class Described(NamedTuple):
    """One training before it becomes entries of arrays.

    `facts` holds one number for each array of `ImageConfigs`, or of `Configs` for a text network, which has no
    operators.
    """

    operators: tuple[Operator, ...]
    facts: Mapping[str, float]


class Products(NamedTuple):
    """Convolutions and linear maps (products of matrices) of all trainings, as columns.

    Equal operators of a network share one row, with their number in `repeats`.
    """

    owner: Array
    """Index of the training to which the operator belongs."""
    macs: Array
    """Multiply-accumulates of one forward pass for one image."""
    moved: Array
    """Numbers that one pass reads and writes per image, without weights."""
    weights: Array
    turned: Array
    """Numbers per image that a convolution on tensor cores turns into channels-last order."""
    linear: Array
    depthwise: Array
    winograd: Array
    """1: a 3x3 convolution that Winograd's method computes with fewer multiplications."""
    passes: Array
    """Products of a training step per forward product: 3 (forward, gradients of weights and input), or 2 for the first
    operator, because the image needs no gradient.
    """
    repeats: Array
    """Number of such operators in the network."""


@dataclass(frozen=True)
class ImageConfigs(TrainingArrays):
    """Image trainings as arrays of equal length with one entry per training, and their table of products.

    Every entry is a float; flags are 0 or 1. Units: FLOP/s, bytes/s, images.
    """

    # The network, per image; products have separate arrays
    products: Products
    norms: Array
    """Numbers that batch norms move, forward and backward; `norms_forward`: forward only, as for the next two."""
    norms_forward: Array
    narrow: Array
    """Numbers that element-wise operators move in the products' format, forward and backward."""
    narrow_forward: Array
    wide: Array
    """Numbers that element-wise operators move in fp32 under automatic mixed precision, forward and backward."""
    wide_forward: Array
    attention_macs: Array
    attention_matrix: Array
    """Numbers in the attention matrices of all heads and layers."""
    written: Array
    """1: attention inside windows with a bias per pair of tokens. Frameworks write its matrix to memory."""
    kernels: Array
    """Kernels that the forward pass launches for one micro-batch."""
    # The batch and how it is trained
    channels_last: Array
    """1: channels-last order in memory; 0: planes; between: not stated."""
    one_process: Array
    """1: one process launches kernels for all devices (torch's DataParallel)."""
    peak_vector: Array
    """FLOP/s of ordinary cores in fp32, which compute depthwise convolutions."""
    # The machine
    loader: Array
    """Images/s that the host of one node loads; 0: no limit."""

    def at(self, chosen: Array, /) -> ImageConfigs:
        """Return the trainings at the chosen indices, with their products."""
        import numpy as np

        arrays = {field.name: getattr(self, field.name)[chosen] for field in fields(self) if field.name != "products"}
        first = np.searchsorted(self.products.owner, chosen, side="left")
        count = np.searchsorted(self.products.owner, chosen, side="right") - first
        places = np.concatenate([np.arange(start, start + size) for start, size in zip(first, count, strict=True)])
        products = Products(*(column[places] for column in self.products))
        return ImageConfigs(products=products._replace(owner=np.repeat(np.arange(len(chosen)), count)), **arrays)

    @property
    def gpus(self) -> Array:
        """Number of accelerators of each training."""
        return self.dp

    @property
    def units_per_step(self) -> Array:
        """Images that one optimizer step consumes."""
        return self.dp * self.micro_batch * self.micro_batches


NETWORK_ARRAYS = (
    "products", "norms", "norms_forward", "narrow", "narrow_forward", "wide", "wide_forward", "attention_macs",
    "attention_matrix", "written", "kernels", "parameters",
)  # fmt: skip
"""Fields of `ImageConfigs` that follow from the network's operators; the others are facts of the training."""


def gather(rows: Sequence[Described]) -> ImageConfigs:
    """Return the arrays of image trainings. The sums of each network are computed once."""
    import numpy as np

    facts = {
        field.name: np.array([float(row.facts[field.name]) for row in rows])
        for field in fields(ImageConfigs)
        if field.name not in NETWORK_ARRAYS
    }
    sums_by_network = {operators: _sums(operators) for operators in dict.fromkeys(row.operators for row in rows)}
    sums = {
        name: np.array([sums_by_network[row.operators][name] for row in rows], dtype=float)
        for name in NETWORK_ARRAYS[1:]
    }
    return ImageConfigs(products=_products([row.operators for row in rows]), **sums, **facts)


@lru_cache(maxsize=8)
def _sums(operators: tuple[Operator, ...]) -> dict[str, float]:
    def total(kind: str, *, wide: bool = False, backward: bool = True) -> float:
        chosen = [operator for operator in operators if operator.kind == kind and operator.wide == wide]
        return sum(operator.forward + operator.backward * backward for operator in chosen)

    attention = [operator for operator in operators if operator.kind in ATTENTION]
    return {
        "norms": total("norm"),
        "norms_forward": total("norm", backward=False),
        "narrow": total("pointwise"),
        "narrow_forward": total("pointwise", backward=False),
        "wide": total("pointwise", wide=True),
        "wide_forward": total("pointwise", wide=True, backward=False),
        "attention_macs": sum(operator.macs for operator in attention),
        "attention_matrix": sum(operator.outputs for operator in attention),
        "written": float(any(operator.kind == "windows" for operator in attention)),
        "kernels": sum(KERNELS[operator.kind] for operator in operators),
        "parameters": weights_of(operators),
    }


def _products(networks: Sequence[tuple[Operator, ...]]) -> Products:
    import numpy as np

    rows_by_network = {operators: _rows_of(operators) for operators in dict.fromkeys(networks)}
    rows = [(place, *row) for place, operators in enumerate(networks) for row in rows_by_network[operators]]
    columns = np.array(rows, dtype=float).reshape(len(rows), len(Products._fields)).T
    return Products(columns[0].astype(int), *columns[1:])


@lru_cache(maxsize=8)
def _rows_of(operators: tuple[Operator, ...]) -> list[tuple[float, ...]]:
    products = Counter(operator for operator in operators if operator.kind in PRODUCTS)
    return [
        (
            operator.macs, operator.inputs + operator.outputs, operator.weights,
            (operator.inputs + operator.outputs) * (operator.kind == "convolution"), float(operator.kind == "linear"),
            float(operator.kind == "depthwise"), float(operator.winograd), 2.0 if operator.first else 3.0, float(count),
        )
        for operator, count in products.items()
    ]  # fmt: skip
