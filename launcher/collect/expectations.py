"""Expected values of a run, for comparison: FLOPs, peak, estimated memory, first losses.

The catalog and the estimates know them. Callers of the launcher pass them in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from planner.model.evidence.node_shapes import NodeResult
from planner.model.evidence.run_rates import model_flops_utilization
from planner.workloads.measure.device_load import MAX_CONTEXT_GIB


@dataclass(frozen=True)
class Expected:
    """Expected values of one run. None and empty mean "not known"; they are not compared."""

    flops_per_sample: Mapping[str, float] = field(default_factory=dict)
    """Training FLOPs without recomputation, by name of the convention. `full_attention` is the headline's."""
    peak_tflop_per_s: float | None = None
    """Dense peak of one accelerator in the declared precision, from its data sheet."""
    least_mfu: float | None = None
    """Lower bound of the MFU, relative to the nominal peak with full attention."""
    device_memory_gib: float | None = None
    """Estimated memory on one device, including the CUDA context."""
    first_losses: tuple[float, ...] = ()
    loss_tolerance: float = 0.0
    """Fraction by which a first loss may differ."""


GetExpected = Callable[[NodeResult, str], Expected]
"""Function from a result and the accelerator's catalog id to the expected values."""
NOT_KNOWN = Expected()
"""Expectations of a run of which nothing is known."""


def mfu_by_name(result: NodeResult, expected: Expected) -> dict[str, float]:
    """Return the MFU (planner/model/evidence/run_rates.py) by convention and peak; never a figure without its name.

    `..._of_nominal_peak` uses the data sheet's peak. `..._of_measured_peak` uses the slowest device's plain matrix
    products just before the run.
    """
    measured = (result.calibration or {}).get("matmul_tflop_per_s")
    peaks = {"nominal": expected.peak_tflop_per_s, "measured": measured}
    return {
        f"{convention}_of_{kind}_peak": model_flops_utilization(
            flops_per_sample=flops,
            samples_per_s=result.samples / result.window_s,
            accelerators=result.world_size,
            peak_tflop_per_s=peak,
        )
        for kind, peak in peaks.items()
        for convention, flops in expected.flops_per_sample.items()
        if peak
    }


def used_gib(result: NodeResult) -> float | None:
    """Return the peak GiB of the fullest device: its allocator's reserved memory plus the context.

    The context is measured at the end of the run, with NCCL, cuBLAS and kernels. Older results have only the memory in
    use before the run. Returns None if it is unknown, or if other processes held memory too.
    """
    reserved_gib, context_gib = (result.memory.get(name) for name in ("peak_reserved_gib", "context_gib"))
    before_gib = result.memory.get("in_use_before_gib") or 0.0
    if reserved_gib is None or before_gib > MAX_CONTEXT_GIB:
        return None
    return reserved_gib + (before_gib if context_gib is None else context_gib)


def memory_facts(result: NodeResult, expected: Expected) -> dict[str, float | None]:
    """Return the estimate, and used / estimate, to stand beside measured figures; empty if one is unknown."""
    used = used_gib(result)
    if used is None or not expected.device_memory_gib:
        return {}
    return {"estimate_gib": expected.device_memory_gib, "used_of_estimate": used / expected.device_memory_gib}
