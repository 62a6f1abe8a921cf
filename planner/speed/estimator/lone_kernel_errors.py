"""How far kernels of a probe are from the same kernels inside a training, and how those errors go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation


class Lone(NamedTuple):
    """Of a list of measurements: which are kernels of a probe. A layer is one that shares all errors of a training."""

    measured: Array
    """True: a probe measured it."""
    alone: Array
    """True: a kernel by itself; False of a layer, and of a training."""
    kinds: Array
    """Text."""
    probes: Array
    """Text."""
    transfer: Array
    """Standard deviation of ln(inside training / alone); 0 of trainings."""
    elsewhere: Array
    """On top, of another machine."""

    def at(self, chosen: Array) -> Lone:
        """Return some of them."""
        return Lone(*(values[chosen] for values in self))

    @property
    def own_variance(self) -> Array:
        """Return the variance that no training shares."""
        import numpy as np

        return np.asarray(self.transfer**2 + self.elsewhere**2)


def no_kernels(count: int) -> Lone:
    """Return that none of so many measurements is of a probe."""
    import numpy as np

    no, nothing, zero = np.zeros(count, dtype=bool), np.full(count, "", dtype=object), np.zeros(count)
    return Lone(no, no, nothing, nothing, zero, zero)


def lone_of(rows: Sequence[Observation]) -> Lone | None:
    """Return which observations are kernels of a probe; None where none is."""
    import numpy as np

    kernels = [row.kernel for row in rows]
    if not any(kernels):
        return None
    return Lone(
        np.array([one is not None for one in kernels]),
        np.array([one is not None and one.kind != LAYER for one in kernels]),
        np.array([one.kind if one else "" for one in kernels], dtype=object),
        np.array([one.probe if one else "" for one in kernels], dtype=object),
        np.array([one.transfer if one else 0.0 for one in kernels]),
        np.array([one.elsewhere if one else 0.0 for one in kernels]),
    )


LAYER = "layer"


def transfer_covariance(one: Lone, other: Lone) -> Array:
    """Return what errors of kernels have in common with each other alone.

    Those of one kind: how far such a kernel is off when it runs by itself, on whatever machine. Those of one probe on
    another machine of the kind: how that machine differs.
    """
    import numpy as np

    both = np.outer(one.measured, other.measured)
    kind = both & (one.kinds[:, None] == other.kinds[None, :])
    probe = both & (one.probes[:, None] == other.probes[None, :])
    return np.asarray(
        kind * np.outer(one.transfer, other.transfer) + (kind & probe) * np.outer(one.elsewhere, other.elsewhere)
    )
