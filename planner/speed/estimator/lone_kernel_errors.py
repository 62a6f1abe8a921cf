"""Errors of a probe's kernels relative to the same kernels inside a training, and their covariance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from planner.speed.physics.config_arrays import Array
    from planner.speed.physics.observation import Observation


LAYER = "layer"


class ProbedKernels(NamedTuple):
    """Arrays along a list of measurements that tell which of them are kernels of a probe.

    A layer of a probe shares all errors of a training.
    """

    measured: Array
    """True if a probe measured it."""
    alone: Array
    """True for a single kernel, False for a layer or a training."""
    kinds: Array
    """Kind of the kernel, as text."""
    probes: Array
    """Identifier of the probe, as text."""
    transfer: Array
    """Standard deviation of ln(inside a training / alone); 0 for trainings."""
    elsewhere: Array
    """Additional standard deviation of a kernel that was measured on another machine."""

    def at(self, chosen: Array) -> ProbedKernels:
        """Return the entries at the places `chosen`."""
        return ProbedKernels(*(values[chosen] for values in self))

    @property
    def own_variance(self) -> Array:
        """Variance that trainings do not share."""
        import numpy as np

        return np.asarray(self.transfer**2 + self.elsewhere**2)


def no_kernels(count: int) -> ProbedKernels:
    """Return entries of `count` measurements without any kernel of a probe."""
    import numpy as np

    no, nothing, zero = np.zeros(count, dtype=bool), np.full(count, "", dtype=object), np.zeros(count)
    return ProbedKernels(no, no, nothing, nothing, zero, zero)


def probed_kernels(rows: Sequence[Observation]) -> ProbedKernels | None:
    """Return which observations are kernels of a probe, or None if there are none."""
    import numpy as np

    kernels = [row.kernel for row in rows]
    if not any(kernels):
        return None
    return ProbedKernels(
        np.array([kernel is not None for kernel in kernels]),
        np.array([kernel is not None and kernel.kind != LAYER for kernel in kernels]),
        np.array([kernel.kind if kernel else "" for kernel in kernels], dtype=object),
        np.array([kernel.probe if kernel else "" for kernel in kernels], dtype=object),
        np.array([kernel.transfer if kernel else 0.0 for kernel in kernels]),
        np.array([kernel.elsewhere if kernel else 0.0 for kernel in kernels]),
    )


def transfer_covariance(rows: ProbedKernels, columns: ProbedKernels) -> Array:
    """Return the covariance of errors that only kernels of probes have.

    Kernels of one kind share the difference between running alone and inside a training, on any machine. Kernels of
    one probe of another machine also share the difference of that machine.
    """
    import numpy as np

    both = np.outer(rows.measured, columns.measured)
    kind = both & (rows.kinds[:, None] == columns.kinds[None, :])
    probe = both & (rows.probes[:, None] == columns.probes[None, :])
    return np.asarray(
        kind * np.outer(rows.transfer, columns.transfer) + (kind & probe) * np.outer(rows.elsewhere, columns.elsewhere)
    )
