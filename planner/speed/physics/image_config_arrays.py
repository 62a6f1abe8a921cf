"""Many image trainings at once: one array per fact, and one table of operators per network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from planner.network.image_blocks import Operator
from planner.network.image_operators import weights_of

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
"""Kernels of one operator's forward pass; the backward pass launches twice as many."""
PRODUCTS = ("convolution", "depthwise", "linear")
ATTENTION = ("attention", "windows")


class Described(NamedTuple):
    """One image training before it is gathered with others: its network, and numbers under the names below."""

    operators: tuple[Operator, ...]
    facts: Mapping[str, float]


class Products(NamedTuple):
    """Convolutions and linear maps of all configurations in one row; `of` says whose. Repeated ones stand once."""

    of: Array
    macs: Array
    moved: Array
    """Numbers that one pass reads and writes, weights left out."""
    weights: Array
    turned: Array
    """Numbers that a convolution on tensor cores wants beside each other by colour."""
    linear: Array
    depthwise: Array
    winograd: Array
    passes: Array
    """2, forward and for the weights, and a third for the input's gradient, but for the image."""
    repeats: Array
    """How many such operators the network has."""


@dataclass(frozen=True)
class ImageConfigs:
    """A struct of arrays, all of one length; every entry is a float, flags are 0 or 1. FLOP/s, bytes/s, images."""

    # The network, per image; products have arrays of their own
    products: Products
    norms: Array
    """Numbers that batch norms move, forward and backward."""
    norms_forward: Array
    narrow: Array
    """Numbers that element-wise operators move in the products' type, forward and backward."""
    narrow_forward: Array
    wide: Array
    """Numbers that they move in fp32 under automatic mixed precision."""
    wide_forward: Array
    attention_macs: Array
    attention_matrix: Array
    """Numbers of the attention matrices of all heads and layers."""
    written: Array
    """1: attention inside windows with a bias for each pair, which frameworks write out."""
    kernels: Array
    """Launched forward."""
    parameters: Array
    # The batch and how it is trained
    micro_batch: Array
    micro_batches: Array
    recompute: Array
    channels_last: Array
    """1: colours beside each other in memory; 0: planes; between: not stated."""
    fused: Array
    """0: one kernel per operator, 1: compiled or fused by hand."""
    flash: Array
    gradient_bytes: Array
    zero: Array
    one_process: Array
    """1: one process launches for all devices (torch's DataParallel)."""
    # The accelerator
    peak: Array
    peak16: Array
    peak_vector: Array
    """Of ordinary cores in fp32, where depthwise convolutions are computed."""
    vector_rate: Array
    hbm: Array
    generation: Array
    number_bytes: Array
    # The machine
    gpus_per_node: Array
    nvlink_domain: Array
    intra: Array
    through_host: Array
    bus_sharers: Array
    pcie: Array
    pcie_cards: Array
    """Cards of one machine among which PCIe is shared; 0 where none are."""
    pcie_5: Array
    """1: of the fifth generation or later."""
    inter: Array
    loader: Array
    """Images/s that the host of one node feeds; 0: not a limit."""
    host_scale: Array
    """Host time per kernel, against the usual."""
    device_scale: Array
    """Time of everything that the accelerator itself computes or moves in its memory, against the physics."""
    dp: Array

    def __len__(self) -> int:
        return int(self.peak.shape[0])

    def at(self, chosen: Array, /) -> ImageConfigs:
        """Return the configurations at some places."""
        arrays = {field.name: getattr(self, field.name)[chosen] for field in fields(self) if field.name != "products"}
        import numpy as np

        first = np.searchsorted(self.products.of, chosen, side="left")
        count = np.searchsorted(self.products.of, chosen, side="right") - first
        places = np.concatenate([np.arange(start, start + size) for start, size in zip(first, count, strict=True)])
        products = Products(*(each[places] for each in self.products))
        return ImageConfigs(products=products._replace(of=np.repeat(np.arange(len(chosen)), count)), **arrays)

    def scaled(self, *, host: Array, device: Array) -> ImageConfigs:
        """Return a copy with other launch times and other times of the accelerator itself."""
        return replace(self, host_scale=host, device_scale=device)

    @property
    def units_per_step(self) -> Array:
        """What one optimizer step consumes: images."""
        return self.images_per_step

    @property
    def gpus(self) -> Array:
        """All accelerators of one training."""
        return self.dp

    @property
    def images_per_step(self) -> Array:
        """Images that one optimizer step consumes."""
        return self.dp * self.micro_batch * self.micro_batches


FROM_NETWORK = (
    "products", "norms", "norms_forward", "narrow", "narrow_forward", "wide", "wide_forward", "attention_macs",
    "attention_matrix", "written", "kernels", "parameters",
)  # fmt: skip


def gather(rows: Sequence[Described]) -> ImageConfigs:
    """Gather image trainings that were described one by one; a network that stands there often is listed once."""
    import numpy as np

    networks = list(dict.fromkeys(row.operators for row in rows))
    place = {operators: number for number, operators in enumerate(networks)}
    of = np.array([place[row.operators] for row in rows], dtype=int)
    told = {
        field.name: np.array([float(row.facts[field.name]) for row in rows])
        for field in fields(ImageConfigs)
        if field.name not in FROM_NETWORK
    }
    of_networks = [_sums(operators) for operators in networks]
    sums = {name: np.array([each[name] for each in of_networks])[of] for name in FROM_NETWORK[1:]}
    products = _products([row.operators for row in rows])
    return ImageConfigs(products=products, **sums, **told)


@lru_cache(maxsize=8)
def _sums(operators: tuple[Operator, ...]) -> dict[str, float]:
    def total(kind: str, *, wide: bool = False, backward: bool = True) -> float:
        chosen = [each for each in operators if each.kind == kind and each.wide == wide]
        return sum(each.forward + each.backward * backward for each in chosen)

    attention = [each for each in operators if each.kind in ATTENTION]
    return {
        "norms": total("norm"),
        "norms_forward": total("norm", backward=False),
        "narrow": total("pointwise"),
        "narrow_forward": total("pointwise", backward=False),
        "wide": total("pointwise", wide=True),
        "wide_forward": total("pointwise", wide=True, backward=False),
        "attention_macs": sum(each.macs for each in attention),
        "attention_matrix": sum(each.outputs for each in attention),
        "written": float(any(each.kind == "windows" for each in attention)),
        "kernels": sum(KERNELS[each.kind] for each in operators),
        "parameters": weights_of(operators),
    }


def _products(networks: Sequence[tuple[Operator, ...]]) -> Products:
    import numpy as np

    listed = {operators: _rows_of(operators) for operators in dict.fromkeys(networks)}
    rows = [(place, *row) for place, operators in enumerate(networks) for row in listed[operators]]
    columns = np.array(rows, dtype=float).reshape(len(rows), len(Products._fields)).T
    return Products(columns[0].astype(int), *columns[1:])


@lru_cache(maxsize=8)
def _rows_of(operators: tuple[Operator, ...]) -> list[tuple[float, ...]]:
    products = Counter(each for each in operators if each.kind in PRODUCTS)
    return [
        (
            each.macs, each.inputs + each.outputs, each.weights,
            (each.inputs + each.outputs) * (each.kind == "convolution"), float(each.kind == "linear"),
            float(each.kind == "depthwise"), float(each.winograd), 2.0 if each.first else 3.0, float(count),
        )
        for each, count in products.items()
    ]  # fmt: skip
